//! A calibration for spreadsheets: a row per benchmark.

use duetbench_core::calibrate::{Calibrated, Sight};

use super::words::{blind_word, time};
use crate::calibration::CalibrationReport;
use crate::render::document::Table;

const HEADINGS: [&str; 10] =
    ["package", "name", "mode", "layout", "fork", "slice", "slices", "build_s", "fork_s", "slice_s"];

/// Columns for each budget.
const OF_BUDGET: [&str; 4] = ["minimal_detectable_change", "floor", "builds", "forks_per_build"];

/// The rows.
pub(super) fn of(report: &CalibrationReport) -> Table {
    let calibration = &report.made.calibration;
    let mut headings: Vec<String> = HEADINGS.map(String::from).to_vec();
    for budget_s in &calibration.budgets_s {
        // A heading is one word.
        let time = time(*budget_s).replace(' ', "");
        headings.extend(OF_BUDGET.map(|what| format!("{what}_{time}")));
    }
    headings.push("blind".into());
    let mut table = Table::plain(&headings.iter().map(String::as_str).collect::<Vec<_>>());
    calibration.benchmarks.iter().for_each(|benchmark| table.push(row(benchmark)));
    table
}

fn row(benchmark: &Calibrated) -> Vec<String> {
    let sources = benchmark.sources.as_ref();
    let number = |value: Option<f64>| value.map_or_else(String::new, |v| v.to_string());
    let costs = &benchmark.costs;
    let mut row = vec![
        benchmark.id.package.clone(),
        benchmark.id.name.clone(),
        benchmark.mode.word().to_owned(),
        number(sources.and_then(|s| s.layout)),
        number(sources.map(|s| s.fork)),
        number(sources.map(|s| s.slice)),
        sources.map_or_else(String::new, |s| s.slices.to_string()),
        costs.build_s.to_string(),
        costs.fork_s.to_string(),
        costs.slice_s.to_string(),
    ];
    row.extend(benchmark.sights.iter().flat_map(sight));
    row.push(benchmark.blind.map_or("", blind_word).to_owned());
    row
}

fn sight(sight: &Option<Sight>) -> [String; 4] {
    sight.map_or_else(Default::default, |s| {
        let numbers = [s.minimal_detectable_change, s.floor].map(|v| v.to_string());
        let [change, floor] = numbers;
        [change, floor, s.builds.to_string(), s.forks_per_build.to_string()]
    })
}
