//! What stops a change, as GitHub Actions shows it beside the change: workflow commands, one line each.

use duetbench_core::{Report, Verdict};

use super::format::{change, one_line, short_name};
use super::gate;

/// Most lines: GitHub shows ten errors of a step.
const LINES_MAX: usize = 10;

/// The commands; empty where nothing stops the change.
#[must_use]
pub fn render(report: &Report) -> Vec<String> {
    let words = match &report.gate {
        Some(decided) => gate::stopping(decided),
        None => regressions(report),
    };
    words.into_iter().take(LINES_MAX).map(|words| format!("::error title=duet::{}", escaped(&words))).collect()
}

fn regressions(report: &Report) -> Vec<String> {
    let regressed = report.benchmarks.iter().filter(|one| one.verdict == Verdict::Regression);
    let words = |e: &duetbench_core::Estimate| {
        format!("{} [{}, {}]", change(e.ratio), change(e.ratio_low), change(e.ratio_high))
    };
    let one = |one: &duetbench_core::report::BenchmarkReport| {
        Some(format!("time of `{}` {}", one_line(&short_name(&one.id.name)), words(one.estimate.as_ref()?)))
    };
    regressed.filter_map(one).collect()
}

/// What ends or begins a command is written as GitHub wants it.
fn escaped(words: &str) -> String {
    words.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}
