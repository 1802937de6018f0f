//! A calibration for spreadsheets: a row per benchmark.

use super::json::benchmark;
use super::words::time;
use crate::calibration::CalibrationReport;
use crate::render::document::Table;

const COLUMNS: &str = "package name mode layout=sources/layout fork=sources/fork slice=sources/slice \
    slices=sources/slices build_s=costs/build_s fork_s=costs/fork_s slice_s=costs/slice_s";

/// Columns for each budget.
const OF_BUDGET: [&str; 4] = ["minimal_detectable_change", "floor", "builds", "forks_per_build"];

/// The rows.
pub(super) fn of(report: &CalibrationReport) -> Table {
    let calibration = &report.made.calibration;
    let of_budget = |(at, budget_s): (usize, &f64)| {
        // A heading is one word.
        let time = time(*budget_s).replace(' ', "");
        OF_BUDGET.map(|column| format!(" {column}_{time}=sights/{at}/{column}")).concat()
    };
    let of_budgets: String = calibration.budgets_s.iter().enumerate().map(of_budget).collect();
    Table::of_objects(&format!("{COLUMNS}{of_budgets} blind"), calibration.benchmarks.iter().map(benchmark))
}
