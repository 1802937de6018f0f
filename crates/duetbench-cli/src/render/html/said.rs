//! The result of one benchmark, in a sentence.

use duetbench_core::Verdict;
use duetbench_core::analysis::Ranged;
use duetbench_core::report::BenchmarkReport;

use crate::render::format::{TOO_FEW, TimeScale, share};
use crate::render::summary;

/// The sentence; absent where nothing was estimated that says something of the code.
pub(super) fn sentence(one: &BenchmarkReport, threshold: f64) -> Option<String> {
    let (estimate, judged) = one.estimate.zip(one.judged())?;
    let range = summary::between(summary::shown_interval(one)?);
    let sure = format!("{} sure", share(estimate.confidence));
    let threshold = format!("the threshold of {}", share(threshold));
    let said = match one.verdict {
        Verdict::Regression | Verdict::Improvement | Verdict::Slower(_) | Verdict::Faster(_) => {
            format!("{}, {sure} that it is within {range}.", took(one, judged)?)
        }
        Verdict::NoChange => format!("Any change is smaller than {threshold}: {sure} that it is within {range}."),
        Verdict::Inconclusive { .. } if range == TOO_FEW => {
            "Nobody can say yet: too few processes were measured.".into()
        }
        Verdict::Inconclusive { .. } => {
            format!(
                "Nobody can say yet whether it changed by more than {threshold}: {sure} that the change is within {range}."
            )
        }
        _ => return None,
    };
    Some(said)
}

/// Both times and the change: `1.271µs instead of 1.016µs per operation: +25%`.
fn took(one: &BenchmarkReport, judged: Ranged) -> Option<String> {
    let [Some(base), Some(head)] = one.times_ns() else { return None };
    let scale = TimeScale::of(&[base, head]);
    let clock = if summary::is_by_cpu(one) { " by CPU time" } else { "" };
    let word = if judged.ratio > 1.0 { "slower" } else { "faster" };
    Some(format!(
        "{}s instead of {}s per operation, {} ({word}{clock})",
        scale.write(head),
        scale.write(base),
        summary::change_beside(judged)
    ))
}
