//! The CSV format: one row per benchmark, numbers at full precision, quoted as RFC 4180 says. Lines end in `\n`, as
//! benchstat's do. Spreadsheets take a cell that begins with `=`, `+`, `-` or `@` for a formula: unless it is a number, an apostrophe stands before it.

use duetbench_core::Report;
use duetbench_core::report::{BenchmarkReport, Counted};

use super::markup::csv::{line, number};
use super::{instructions, summary};

/// One column: its name and how its cell is written. An absent value is an empty cell.
type Column = (&'static str, fn(&BenchmarkReport, &Report) -> Option<String>);

const COLUMNS: [Column; 31] = [
    ("package", |b, _| Some(b.id.package.clone())),
    ("name", |b, _| Some(b.id.name.clone())),
    ("verdict", |b, _| Some(b.verdict.word().into())),
    ("mode", |b, _| b.mode.map(|m| m.word().into())),
    ("baseline_ns", |b, _| number(b.baseline_ns)),
    ("candidate_ns", |b, _| number(b.times_ns()[1])),
    ("ratio", |b, _| number(b.judged().map(|judged| judged.ratio))),
    ("ratio_low", |b, _| number(b.judged().map(|judged| judged.interval.low))),
    ("ratio_high", |b, _| number(b.judged().map(|judged| judged.interval.high))),
    ("clock", |b, _| b.estimate.map(|e| e.clock.word().into())),
    ("wall_ratio", |b, _| number(b.wall_beside().map(|wall| wall.ratio))),
    ("wall_ratio_low", |b, _| number(b.wall_beside().map(|wall| wall.interval.low))),
    ("wall_ratio_high", |b, _| number(b.wall_beside().map(|wall| wall.interval.high))),
    ("confidence", |b, _| number(b.estimate.map(|e| e.confidence))),
    ("p_value", |b, _| number(b.own_estimate().map(|e| e.p_value))),
    ("p_adjusted", |b, _| number(b.own_estimate().map(|e| e.p_adjusted))),
    ("minimal_detectable_change", |b, _| number(b.own_estimate().map(|e| e.minimal_detectable_change))),
    ("builds", |b, _| b.own_estimate().map(|e| e.counts.builds.to_string())),
    ("forks", |b, _| b.own_estimate().map(|e| e.counts.forks.to_string())),
    ("slices", |b, _| b.own_estimate().map(|e| e.counts.slices.to_string())),
    ("forks_sufficient", |b, _| b.verdict.forks_sufficient().map(|forks| forks.to_string())),
    ("baseline_allocs", |b, _| number(b.allocs.map(|c| c.baseline))),
    ("candidate_allocs", |b, _| number(b.allocs.map(|c| c.candidate))),
    ("allocs_changed", |b, _| changed(b.allocs)),
    ("baseline_bytes", |b, _| number(b.bytes.map(|c| c.baseline))),
    ("candidate_bytes", |b, _| number(b.bytes.map(|c| c.candidate))),
    ("bytes_changed", |b, _| changed(b.bytes)),
    ("baseline_instructions", |b, report| number(instructions::of(report, b).map(|counts| counts.baseline.all))),
    ("candidate_instructions", |b, report| number(instructions::of(report, b).map(|counts| counts.candidate.all))),
    ("confirmed_ratio", |b, _| number(summary::confirmed(b).map(|fresh| fresh.ratio))),
    ("remarks", |b, _| Some(summary::remarks(b).join("; "))),
];

/// The benchmarks of the report in name order, below one line of headings.
pub fn render(report: &Report) -> String {
    let headings = COLUMNS.iter().map(|(name, _)| (*name).to_owned());
    let mut out = line(headings);
    for benchmark in &report.benchmarks {
        out += &line(COLUMNS.iter().map(|(_, cell)| cell(benchmark, report).unwrap_or_default()));
    }
    out
}

fn changed(counted: Option<Counted>) -> Option<String> {
    counted.map(|c| c.changed.to_string())
}
