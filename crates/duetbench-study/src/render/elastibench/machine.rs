//! Answers for spreadsheets: a row for every benchmark, fractions.

use duetbench_cli::render::document::Table;

use super::json::{beside, compared, left_out, named, narrowed};
use super::{Elastibench, ElastibenchAnswer};

/// The rows.
pub(super) fn rows(study: &Elastibench) -> Table {
    match &study.answer {
        ElastibenchAnswer::Changes { beside: all, .. } => {
            let columns = "name results median=paper/median interval_low=paper/interval/0 \
                interval_high=paper/interval/1 change=paper/change \
                left_out ratio ratio_low=interval/0 ratio_high=interval/1 verdict";
            Table::of_objects(columns, all.iter().map(beside))
        }
        ElastibenchAnswer::Agreement { agreement, .. } => {
            let both = [finding("first_", "first/"), finding("second_", "second/")].join(" ");
            let columns = format!("name {both} agreement first_in_second second_in_first possible_change");
            Table::of_objects(&columns, agreement.compared.iter().map(compared))
        }
        ElastibenchAnswer::Repetitions { narrowing, .. } => Table::of_objects(
            "name results width width_wanted results_enough",
            narrowing.benchmarks.iter().map(narrowed),
        ),
        ElastibenchAnswer::Aa { findings } => {
            let all = findings.found.iter().map(named).chain(left_out(&findings.left_out));
            Table::of_objects(&format!("name {} left_out=reason", finding("", "")), all)
        }
    }
}

/// The columns of a finding's numbers.
fn finding(heading: &str, path: &str) -> String {
    let column = |(name, at): (&str, &str)| format!("{heading}{name}={path}{at}");
    let all = [
        ("results", "results"),
        ("median", "median"),
        ("interval_low", "interval/0"),
        ("interval_high", "interval/1"),
        ("change", "change"),
    ];
    all.map(column).join(" ")
}
