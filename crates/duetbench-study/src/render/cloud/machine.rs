//! The tables for programs: CSV, numbers at full precision, fractions.

use duetbench_cli::render::document::Table;
use serde_json::{Value, json};

use super::{Cloud, json};
use crate::papers::cloud::{Comparison, Detectable, Score, StudiedBenchmark};

/// All tables that have rows, each with the name of its file.
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
fn rows(cloud: &Cloud, columns: &str, of: impl Fn(&StudiedBenchmark) -> Vec<Value>) -> Table {
    let mut all = Vec::new();
    for studied in &cloud.environments {
        for benchmark in &studied.benchmarks {
            for mut object in of(benchmark) {
                object["environment"] = studied.environment.as_str().into();
                object["benchmark"] = benchmark.benchmark.as_str().into();
                all.push(object);
            }
        }
    }
    Table::of_objects(&format!("environment benchmark {columns}"), all)
}

fn values(cloud: &Cloud) -> Table {
    rows(cloud, "instances trials collected removed cleaned", |b| {
        let mut object = json::benchmark(b);
        object["cleaned"] = (b.collected - b.removed).into();
        vec![object]
    })
}

fn spread(cloud: &Cloud) -> Table {
    let columns = "rsd log_rsd_error instance_mean=per_instance/mean instance_sd=per_instance/standard_deviation \
        instances=per_instance/count trial_mean=per_trial/mean trial_sd=per_trial/standard_deviation trials=per_trial/count";
    rows(cloud, columns, |b| {
        let mut object = json::benchmark(b);
        for of in ["per_instance", "per_trial"].into_iter().filter(|of| object[*of].is_null()).collect::<Vec<_>>() {
            object[of] = json!({ "count": 0 });
        }
        vec![object]
    })
}

fn sources(cloud: &Cloud) -> Table {
    rows(cloud, "source repetitions log_variance log_sd share", |b| json::sources(&b.spread).unwrap_or_default())
}

fn alarms(cloud: &Cloud) -> Table {
    rows(cloud, "test instances alarms draws rate", |b| b.alarms.iter().map(json::alarms).collect())
}

fn detectable(cloud: &Cloud) -> Table {
    let columns = "sampling instances printed corrected standard_error closed_form by_sources";
    rows(cloud, columns, |b| b.detectable.iter().map(json::detectable).collect())
}

fn rates(cloud: &Cloud) -> Table {
    let rates = |found: &Detectable| {
        let (sampling, instances) = (found.sampling.word(), found.instances);
        let rates = move |rates| json!({ "sampling": sampling, "instances": instances, "rates": rates });
        found.rates.iter().map(rates).collect::<Vec<_>>()
    };
    let columns = "sampling instances regression=rates/regression false_positives=rates/false_positives \
        true_positives=rates/true_positives";
    rows(cloud, columns, |b| b.detectable.iter().flat_map(rates).collect())
}

fn steadiest(comparison: &Comparison) -> Table {
    let columns = "benchmark=name environment rsd next next_rsd clear";
    Table::of_objects(columns, comparison.benchmarks.iter().map(json::steadiest))
}

fn environments(comparison: &Comparison) -> Table {
    let score = |score: &Score| {
        let against = comparison.against.iter().find(|other| other.environment == score.environment);
        json!({
            "common": comparison.common,
            "score": json::score(score),
            "against": against.map(json::against),
        })
    };
    let columns = "environment=score/name benchmarks=common rsd=score/rsd steadiest_of=score/steadiest_of \
        ratio=against/ratio steadiest_steadier_for=against/steadier_for p_value=against/p_value";
    Table::of_objects(columns, comparison.scores.iter().map(score))
}
