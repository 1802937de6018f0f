//! The tables for programs: CSV, numbers at full precision, fractions.

use duetbench_cli::render::document::Table;

use super::Cloud;
use super::words::source_word;
use crate::papers::cloud::{Comparison, StudiedBenchmark, Typical};

/// All tables that have rows, each with the name of its file.
#[must_use]
pub fn tables(cloud: &Cloud) -> Vec<(&'static str, String)> {
    let mut all = vec![
        ("values.csv", values(cloud)),
        ("spread.csv", spread(cloud)),
        ("sources.csv", sources(cloud)),
        ("false-alarms.csv", alarms(cloud)),
        ("detectable.csv", detectable(cloud)),
        ("detectable-rates.csv", rates(cloud)),
    ];
    if let Some(comparison) = &cloud.comparison {
        all.extend([("steadiest.csv", steadiest(comparison)), ("environments.csv", environments(comparison))]);
    }
    all.into_iter().filter(|(_, table)| !table.is_empty()).map(|(name, table)| (name, table.csv())).collect()
}

/// A table of everything that benchmarks have, with environment and benchmark in front of every row.
fn rows<'a, R: IntoIterator<Item = Vec<String>>>(
    cloud: &'a Cloud,
    headings: &[&str],
    of: impl Fn(&'a StudiedBenchmark) -> R,
) -> Table {
    let mut table = Table::plain(&[&["environment", "benchmark"], headings].concat());
    for studied in &cloud.environments {
        for benchmark in &studied.benchmarks {
            for cells in of(benchmark) {
                table.push([vec![studied.environment.clone(), benchmark.benchmark.clone()], cells].concat());
            }
        }
    }
    table
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn values(cloud: &Cloud) -> Table {
    let headings = ["instances", "trials", "collected", "removed", "cleaned"];
    rows(cloud, &headings, |b| {
        [[b.instances, b.trials, b.collected, b.removed, b.collected - b.removed].map(|n| n.to_string()).to_vec()]
    })
}

fn spread(cloud: &Cloud) -> Table {
    let headings =
        ["rsd", "log_rsd_error", "instance_mean", "instance_sd", "instances", "trial_mean", "trial_sd", "trials"];
    rows(cloud, &headings, |b| {
        let typical = |typical: Option<Typical>| {
            let count = typical.map_or(0, |typical| typical.count).to_string();
            [number(typical.map(|t| t.mean)), number(typical.and_then(|t| t.standard_deviation)), count]
        };
        let spread = &b.spread;
        let mut row = vec![number(spread.rsd), number(spread.log_rsd_error)];
        row.extend(typical(spread.per_instance).into_iter().chain(typical(spread.per_trial)));
        [row]
    })
}

fn sources(cloud: &Cloud) -> Table {
    rows(cloud, &["source", "repetitions", "log_variance", "log_sd", "share"], |b| {
        let sources = b.spread.sources.iter().flatten();
        sources.map(|source| {
            vec![
                source_word(source.level).to_owned(),
                source.repetitions.to_string(),
                source.variance.to_string(),
                source.standard_deviation().to_string(),
                number(b.spread.share(source)),
            ]
        })
    })
}

fn alarms(cloud: &Cloud) -> Table {
    rows(cloud, &["test", "instances", "alarms", "draws", "rate"], |b| {
        b.alarms.iter().map(|alarms| {
            let counts = [alarms.instances.to_string(), alarms.alarms.to_string(), alarms.of.to_string()];
            [vec![alarms.test.word().to_owned()], counts.to_vec(), vec![number(alarms.rate())]].concat()
        })
    })
}

fn detectable(cloud: &Cloud) -> Table {
    let headings = ["sampling", "instances", "printed", "corrected", "standard_error", "closed_form", "by_sources"];
    rows(cloud, &headings, |b| {
        b.detectable.iter().map(|found| {
            let numbers = [found.printed(), found.corrected(), Some(found.standard_error), Some(found.closed_form())];
            let mut row = vec![found.sampling.word().to_owned(), found.instances.to_string()];
            row.extend(numbers.map(number));
            row.push(number(found.by_sources));
            row
        })
    })
}

fn rates(cloud: &Cloud) -> Table {
    let headings = ["sampling", "instances", "regression", "false_positives", "true_positives"];
    rows(cloud, &headings, |b| {
        b.detectable.iter().flat_map(|found| {
            found.rates.iter().map(|rates| {
                let numbers = [rates.regression, rates.false_positives, rates.true_positives].map(|v| v.to_string());
                [vec![found.sampling.word().to_owned(), found.instances.to_string()], numbers.to_vec()].concat()
            })
        })
    })
}

fn steadiest(comparison: &Comparison) -> Table {
    let mut table = Table::plain(&["benchmark", "environment", "rsd", "next", "next_rsd", "clear"]);
    for one in &comparison.benchmarks {
        table.push(vec![
            one.benchmark.clone(),
            one.environment.clone(),
            one.rsd.to_string(),
            one.next.clone(),
            one.next_rsd.to_string(),
            one.clear.map_or_else(String::new, |clear| clear.to_string()),
        ]);
    }
    table
}

fn environments(comparison: &Comparison) -> Table {
    let mut table = Table::plain(&[
        "environment",
        "benchmarks",
        "rsd",
        "steadiest_of",
        "ratio",
        "steadiest_steadier_for",
        "p_value",
    ]);
    for score in &comparison.scores {
        let against = comparison.against.iter().find(|other| other.environment == score.environment);
        table.push(vec![
            score.environment.clone(),
            comparison.common.to_string(),
            score.rsd.to_string(),
            score.steadiest_of.to_string(),
            number(against.map(|against| against.ratio)),
            against.map_or_else(String::new, |against| against.steadier_for.to_string()),
            number(against.and_then(|against| against.p_value)),
        ]);
    }
    table
}
