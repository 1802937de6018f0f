//! The answer for spreadsheets: a row per benchmark.

use duetbench_core::detect::{Change, Detected};
use duetbench_core::recording::Better;

use super::Answered;
use crate::render::document::Table;

const HEADINGS: [&str; 21] = [
    "name",
    "unit",
    "better",
    "base",
    "head",
    "paper_base_low",
    "paper_base_high",
    "paper_head_low",
    "paper_head_high",
    "paper_change_rate",
    "paper_change",
    "base_units",
    "head_units",
    "ratio",
    "ratio_low",
    "ratio_high",
    "p_value",
    "p_adjusted",
    "minimal_detectable_change",
    "verdict",
    "planned_differs",
];

/// The rows.
pub(super) fn of(answered: &Answered) -> Table {
    let mut table = Table::plain(&HEADINGS);
    for detected in &answered.detection.benchmarks {
        let mut row = vec![
            detected.benchmark.clone(),
            detected.unit.clone(),
            better(detected.better).to_owned(),
            detected.results[0].to_string(),
            detected.results[1].to_string(),
        ];
        row.extend(paper(detected));
        row.extend(house(detected));
        row.push(planned(answered, &detected.benchmark).unwrap_or_default().to_owned());
        table.push(row);
    }
    table
}

pub(super) fn better(better: Better) -> &'static str {
    match better {
        Better::Lower => "lower",
        Better::Higher => "higher",
    }
}

/// The error that the plan's repetitions make about a benchmark.
pub(super) fn planned(answered: &Answered, benchmark: &str) -> Option<&'static str> {
    let fidelity = answered.detection.fidelity.as_ref()?;
    let among = |names: &[String]| names.iter().any(|name| name == benchmark);
    match (among(&fidelity.false_changes), among(&fidelity.missed)) {
        (true, true) => Some("other"),
        (true, false) => Some("false"),
        (false, true) => Some("missed"),
        (false, false) => None,
    }
}

fn paper(detected: &Detected) -> [String; 6] {
    let Some(p) = &detected.paper else { return Default::default() };
    let numbers = [p.base.low, p.base.high, p.head.low, p.head.high, p.rate()].map(|v| v.to_string());
    let [a, b, c, d, rate] = numbers;
    [a, b, c, d, rate, p.change.map_or("", Change::word).to_owned()]
}

fn house(detected: &Detected) -> [String; 9] {
    let Some(h) = &detected.house else { return Default::default() };
    let [base, head] = h.units.map(|n| n.to_string());
    let tested = h.test.map(|t| [t.ratio, t.low, t.high, t.p_value, t.p_adjusted, t.detectable].map(|v| v.to_string()));
    let [ratio, low, high, p, adjusted, detectable] = tested.unwrap_or_default();
    [base, head, ratio, low, high, p, adjusted, detectable, h.answer.word().to_owned()]
}
