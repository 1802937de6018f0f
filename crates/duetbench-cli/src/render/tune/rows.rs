//! The results for spreadsheets: a row for every recording, metric and benchmark.

use crate::render::document::Table;
use crate::tuning::{TunedBenchmark, TunedMetric, TunedSource, Tuning};

/// One column: its name and how its cell is written.
type Column = (&'static str, fn(&TunedSource, &TunedMetric, &TunedBenchmark) -> String);

const COLUMNS: [Column; 17] = [
    ("recording", |source, _, _| source.name.clone()),
    ("metric", |_, result, _| result.metric.word().into()),
    ("benchmark", |_, _, tuned| tuned.choice.benchmark.clone()),
    ("levels", |source, _, _| source.levels.iter().map(|level| level.word()).collect::<Vec<_>>().join("x")),
    ("full", |_, _, tuned| joined(&tuned.choice.full)),
    ("chosen", |_, _, tuned| joined(&tuned.choice.chosen)),
    ("full_s", |_, _, tuned| tuned.choice.full_s.to_string()),
    ("chosen_s", |_, _, tuned| tuned.choice.chosen_s.to_string()),
    ("saving", |_, _, tuned| number(tuned.saving)),
    ("stability", |_, _, tuned| number(Some(tuned.choice.stability))),
    ("stable", |_, _, tuned| tuned.choice.stable.to_string()),
    ("result_full", |_, _, tuned| number(Some(tuned.choice.result_full))),
    ("result_chosen", |_, _, tuned| number(Some(tuned.choice.result_chosen))),
    ("change", |_, _, tuned| number(Some(tuned.choice.change()))),
    ("enough", |_, _, tuned| {
        tuned.enough.map_or_else(String::new, |enough| format!("{} {}", enough.repetitions, enough.level.word()))
    }),
    ("warmup", |_, _, tuned| tuned.warm_up.map_or_else(String::new, |found| found.iterations().to_string())),
    ("harness_warmup_s", |_, _, tuned| number(tuned.warm_up.map(|found| found.harness.time_s()))),
];

/// The rows.
pub(super) fn of(tuning: &Tuning) -> Table {
    let mut table = Table::plain(&COLUMNS.map(|(name, _)| name));
    for source in &tuning.sources {
        for result in &source.results {
            for tuned in &result.choices {
                table.push(COLUMNS.iter().map(|(_, cell)| cell(source, result, tuned)));
            }
        }
    }
    table
}

fn joined(repetitions: &[usize]) -> String {
    repetitions.iter().map(usize::to_string).collect::<Vec<_>>().join("x")
}

/// A number; what is not known or not finite is an empty cell.
fn number(value: Option<f64>) -> String {
    value.filter(|v| v.is_finite()).map_or_else(String::new, |v| v.to_string())
}
