//! Annotations for GitHub Actions, which shows beside a change why it is stopped: workflow commands, one line each.

use duetbench_core::report::{BenchmarkReport, Outcome};
use duetbench_core::{BenchmarkId, Report, Verdict};

use super::format::{change_within, first_line, one_line};
use super::gate::called;
use super::names::Short;
use super::{gate, summary};

/// Most lines: GitHub shows ten errors of a step.
const LINES_MAX: usize = 10;

/// The commands; empty where nothing stops the change.
pub fn render(report: &Report) -> Vec<String> {
    let names = Short::of_report(report);
    let words = if report.gate.is_some() { gate::stopping(report, &names) } else { regressions(report, &names) };
    let mut lines: Vec<String> = words.into_iter().chain(failures(report, &names)).take(LINES_MAX).collect();
    if lines.is_empty() && report.outcome() == Outcome::Failed {
        lines.push(summary::headline(report));
    }
    lines.iter().map(|words| format!("::error title=duet::{}", escaped(words))).collect()
}

fn regressions(report: &Report, names: &Short) -> Vec<String> {
    let regressed = report.benchmarks.iter().filter(|one| one.verdict == Verdict::Regression);
    let one = |one: &BenchmarkReport| {
        let e = one.estimate?;
        let (name, interval) = (called(&one.id, names), summary::between(e.interval()));
        Some(format!(
            "time of {name} {} {interval}: {}",
            change_within(e.ratio, e.ratio_low, e.ratio_high),
            summary::verdict_words(one)
        ))
    };
    regressed.filter_map(one).collect()
}

/// Benchmarks that could not be measured, and units of theirs.
fn failures(report: &Report, names: &Short) -> impl Iterator<Item = String> {
    let name = |id: &BenchmarkId| called(id, names);
    let times = report.benchmarks.iter().map(move |one| (name(&one.id), &one.verdict));
    let units = report
        .compared_units()
        .map(move |one| (format!("`{}` of {}", one_line(&one.unit), name(&one.id)), &one.verdict));
    times.chain(units).filter_map(|(called, verdict)| match verdict {
        Verdict::Failed { reason, .. } => Some(format!("{called} failed: {}", first_line(reason))),
        _ => None,
    })
}

/// Escapes the characters that would end or begin a command, as GitHub wants it.
fn escaped(words: &str) -> String {
    words.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}
