//! The study as a document.

use duetbench_cli::render::document::{Cells, Document, Table, Title};
use duetbench_cli::render::format::{many, one_line, share, short_name};

use super::super::section::{Section, Told};
use super::words::{as_printed, clear, detectable, known, overall, source, test, typical, warnings};
use super::{Cloud, json};
use crate::papers::cloud::{Comparison, INSTANCES_COMPARED, Sampling, Studied, StudiedBenchmark, Test};

/// The study as a document.
pub fn document(cloud: &Cloud) -> Document {
    let told = Told {
        title: Title { command: "duet-study cloud", version: cloud.duet_version.clone(), subject: subject(cloud) },
        sections: sections(cloud),
        warnings: warnings(cloud),
        note: None,
    };
    Document { json: Some(json::json(cloud)), ..told.document() }
}

fn subject(cloud: &Cloud) -> String {
    let environments = many(cloud.environments.len(), "environment", "environments");
    let benchmarks = many(cloud.benchmarks().len(), "benchmark", "benchmarks");
    let settings = &cloud.settings;
    format!(
        "how bad it really is, {environments}, {benchmarks}, {} of every experiment, seed {}",
        many(settings.draws as usize, "draw", "draws"),
        settings.seed
    )
}

fn sections(cloud: &Cloud) -> Vec<Section> {
    let mut sections = vec![values(cloud), spreads(cloud), sources(cloud), alarms(cloud)];
    sections.extend(Sampling::ALL.map(|sampling| regressions(cloud, sampling)));
    sections.extend(cloud.comparison.as_ref().map(comparison));
    sections.retain(|section| !section.tables.iter().all(Table::is_empty));
    sections
}

fn values(cloud: &Cloud) -> Section {
    let numbers = ["benchmarks", "instances", "trials", "values", "cleaned"].map(|name| (name, Cells::Number));
    let mut table = Table::new(&[&[("environment", Cells::Name)], &numbers[..]].concat());
    for studied in &cloud.environments {
        let (collected, cleaned) = studied.counts();
        let most = |of: fn(&StudiedBenchmark) -> usize| studied.benchmarks.iter().map(of).max().unwrap_or(0);
        let (instances, trials) = (most(|b| b.instances), most(|b| b.trials));
        let numbers = [studied.benchmarks.len(), instances, trials, collected, cleaned].map(|n| n.to_string());
        table.push([vec![studied.environment.clone()], numbers.to_vec()].concat());
    }
    let below = "values of ten times their benchmark's median and more are removed; instances and trials are the most that a benchmark has";
    Section { title: "Values (Table 3)".into(), tables: vec![table], lines: vec![below.to_owned()] }
}

/// A table with a column for every environment, after some of its own.
fn by_environment(cloud: &Cloud, first: &[(&str, Cells)]) -> Table {
    let names = cloud.environments.iter().map(|studied| one_line(&studied.environment)).collect::<Vec<_>>();
    let mut headings = first.to_vec();
    headings.extend(names.iter().map(|name| (name.as_str(), Cells::Number)));
    Table::new(&headings)
}

fn spreads(cloud: &Cloud) -> Section {
    let mut table = by_environment(cloud, &[("benchmark", Cells::Name)]);
    for benchmark in cloud.benchmarks() {
        let rsd = |studied: &Studied| studied.of(benchmark).map_or_else(String::new, |found| known(found.spread.rsd));
        table.push([vec![short_name(benchmark)], cloud.environments.iter().map(rsd).collect()].concat());
    }
    let below = "standard deviation of all values by their mean, whatever it comes from";
    Section {
        title: "Relative standard deviation (Table 4)".into(),
        tables: vec![table],
        lines: vec![below.to_owned()],
    }
}

fn sources(cloud: &Cloud) -> Section {
    let mut table = Table::new(&[
        ("benchmark", Cells::Name),
        ("environment", Cells::Name),
        ("total", Cells::Number),
        ("per instance", Cells::Number),
        ("per trial", Cells::Number),
        ("by source", Cells::Words),
    ]);
    for benchmark in cloud.benchmarks() {
        for studied in &cloud.environments {
            let Some(found) = studied.of(benchmark) else { continue };
            let spread = &found.spread;
            let of_each = spread.sources.iter().flatten().map(|one| {
                let part = spread.share(one).map_or_else(String::new, |part| format!(" ({})", share(part)));
                format!("{} {}{part}", source(one.level), share(one.standard_deviation()))
            });
            let by_source: Vec<String> = of_each.collect();
            table.push(vec![
                short_name(benchmark),
                studied.environment.clone(),
                known(spread.rsd),
                typical(spread.per_instance),
                typical(spread.per_trial),
                if spread.sources.is_some() { by_source.join(", ") } else { "?".to_owned() },
            ]);
        }
    }
    let below = [
        "total, per instance and per trial are the paper's relative standard deviations, of the latter two mean and standard deviation; each \
         holds what is inside it",
        "by source: what instances, trials and values differ by alone, and its share of the variance, from a nested analysis of variance of the \
         logarithms",
    ];
    Section {
        title: "Where it comes from (Fig. 5)".into(),
        tables: vec![table],
        lines: below.map(str::to_owned).to_vec(),
    }
}

fn alarms(cloud: &Cloud) -> Section {
    let mut table = by_environment(cloud, &[("test", Cells::Words), ("instances", Cells::Number)]);
    for of in Test::ALL {
        for instances in INSTANCES_COMPARED {
            let rate = |studied: &Studied| studied.alarms(of, instances).and_then(|alarms| alarms.rate());
            let rates: Vec<Option<f64>> = cloud.environments.iter().map(rate).collect();
            if rates.iter().any(Option::is_some) {
                let cells = rates.into_iter().map(|rate| rate.map_or_else(String::new, share)).collect();
                table.push([vec![test(of).to_owned(), instances.to_string()], cells].concat());
            }
        }
    }
    let below = format!(
        "share of draws with p < 0.05 where nothing changed, {} of each instance against as many others; a test that holds what it \
         promises has 5% or less",
        many(cloud.settings.trials, "trial", "trials")
    );
    Section { title: "False alarms between equal code (Table 5)".into(), tables: vec![table], lines: vec![below] }
}

fn regressions(cloud: &Cloud, sampling: Sampling) -> Section {
    let title = match sampling {
        Sampling::Instances => "Smallest detectable regression, other instances in each group (Table 6)",
        Sampling::Trials => "Smallest detectable regression, trials of the same instances (Table 7)",
    };
    let mut table = by_environment(cloud, &[("benchmark", Cells::Name), ("instances", Cells::Number)]);
    for benchmark in cloud.benchmarks() {
        for &instances in sampling.instances() {
            let found = |studied: &Studied| {
                let found = studied.of(benchmark).and_then(|found| found.detectable(sampling, instances));
                found.map_or_else(String::new, detectable)
            };
            let cells: Vec<String> = cloud.environments.iter().map(found).collect();
            if cells.iter().any(|cell| !cell.is_empty()) {
                table.push([vec![short_name(benchmark), instances.to_string()], cells].concat());
            }
        }
    }
    let mut below = vec![
        "Algorithm 1, corrected to end with the smallest regression / 3.92 standard errors of the median difference / a t test by the \
         sources' variances"
            .to_owned(),
    ];
    below.extend(as_printed(cloud, sampling));
    Section { title: title.into(), tables: vec![table], lines: below }
}

fn comparison(comparison: &Comparison) -> Section {
    let mut scores =
        Table::new(&[("environment", Cells::Name), ("typical RSD", Cells::Number), ("steadiest for", Cells::Number)]);
    for score in &comparison.scores {
        scores.push(vec![score.environment.clone(), share(score.rsd), score.steadiest_of.to_string()]);
    }
    let mut table = Table::new(&[
        ("benchmark", Cells::Name),
        ("steadiest", Cells::Name),
        ("RSD", Cells::Number),
        ("next", Cells::Name),
        ("RSD", Cells::Number),
        ("beyond chance", Cells::Words),
    ]);
    for one in &comparison.benchmarks {
        table.push(vec![
            short_name(&one.benchmark),
            one.environment.clone(),
            share(one.rsd),
            one.next.clone(),
            share(one.next_rsd),
            clear(one.clear).to_owned(),
        ]);
    }
    Section { title: "The steadier environment".into(), tables: vec![table, scores], lines: overall(comparison) }
}
