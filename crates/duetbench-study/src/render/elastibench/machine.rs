//! Answers for spreadsheets: a row for every benchmark, fractions.

use duetbench_cli::render::document::Table;
use duetbench_core::detect::Change;

use super::{Beside, Elastibench, ElastibenchAnswer};
use crate::papers::elastibench::{Agreement, Finding, Findings, LeftOut, Narrowing};

/// The rows.
pub(super) fn rows(study: &Elastibench) -> Table {
    match &study.answer {
        ElastibenchAnswer::Changes { beside, .. } => changes(beside),
        ElastibenchAnswer::Agreement { agreement, .. } => compared(agreement),
        ElastibenchAnswer::Repetitions { narrowing, .. } => narrowed(narrowing),
        ElastibenchAnswer::Aa { findings } => aa(findings),
    }
}

/// The headings of a finding's numbers.
const FINDING: [&str; 5] = ["results", "median", "interval_low", "interval_high", "change"];

fn finding(finding: &Finding) -> [String; 5] {
    let [median, low, high] = [finding.median, finding.interval.low, finding.interval.high].map(|v| v.to_string());
    [finding.results.to_string(), median, low, high, finding.change().map_or("", Change::word).to_owned()]
}

/// The row of a benchmark of which nothing is said, up to where the reason stands.
fn nothing(left_out: &LeftOut) -> [String; 5] {
    [left_out.results.to_string(), String::new(), String::new(), String::new(), String::new()]
}

fn changes(beside: &[Beside]) -> Table {
    let headings = [&["name"], &FINDING[..], &["left_out", "ratio", "ratio_low", "ratio_high", "verdict"]].concat();
    let mut table = Table::plain(&headings);
    for one in beside {
        let (paper, reason) = match &one.paper {
            Ok(found) => (finding(found), String::new()),
            Err(left_out) => (nothing(left_out), left_out.reason.clone()),
        };
        let mut row = vec![one.benchmark.clone()];
        row.extend(paper);
        row.push(reason);
        row.extend(
            one.estimate.map(|e| [e.ratio, e.ratio_low, e.ratio_high].map(|v| v.to_string())).unwrap_or_default(),
        );
        row.push(one.verdict.word().to_owned());
        table.push(row);
    }
    table
}

fn compared(agreement: &Agreement) -> Table {
    let of = |which: &str| FINDING.map(|heading| format!("{which}_{heading}"));
    let (first, second) = (of("first"), of("second"));
    let mut headings = vec!["name"];
    headings.extend(first.iter().chain(&second).map(String::as_str));
    headings.extend(["agreement", "first_in_second", "second_in_first", "possible_change"]);
    let mut table = Table::plain(&headings);
    for one in &agreement.compared {
        let mut row = vec![one.first.benchmark.clone()];
        row.extend(finding(&one.first).into_iter().chain(finding(&one.second)));
        row.push(one.relation().word().to_owned());
        row.extend([one.second.covers(&one.first), one.first.covers(&one.second)].map(|covers| covers.to_string()));
        row.push(one.possible_change().map_or_else(String::new, |size| size.to_string()));
        table.push(row);
    }
    table
}

fn narrowed(narrowing: &Narrowing) -> Table {
    let mut table = Table::plain(&["name", "results", "width", "width_wanted", "results_enough"]);
    for one in &narrowing.benchmarks {
        table.push(vec![
            one.benchmark.clone(),
            one.results.to_string(),
            one.width.to_string(),
            one.target.to_string(),
            one.enough.map_or_else(String::new, |enough| enough.to_string()),
        ]);
    }
    table
}

fn aa(findings: &Findings) -> Table {
    let mut table = Table::plain(&[&["name"], &FINDING[..], &["left_out"]].concat());
    let found = findings.found.iter().map(|found| (&found.benchmark, finding(found), ""));
    let left_out = findings.left_out.iter().map(|out| (&out.benchmark, nothing(out), out.reason.as_str()));
    for (benchmark, cells, reason) in found.chain(left_out) {
        let mut row = vec![benchmark.clone()];
        row.extend(cells);
        row.push(reason.to_owned());
        table.push(row);
    }
    table
}
