//! Remarks on processes that went on changing while they were judged, gathered over a run.

use duetbench_core::Report;
use duetbench_core::analysis::Warning;
use duetbench_core::noise::Severity;

use crate::render::format::{change, listed, one_line, short_name};

/// Most benchmarks that the remark names before it only counts the rest.
const NAMES_MAX: usize = 3;

/// Makes one remark on the run of what would be said of several benchmarks. Where noise is severe nothing is said of any: times that other
/// work moves do not tell whether a process was warm.
pub fn gather(report: &mut Report) {
    let is_severe = report.noise.findings.iter().any(|finding| finding.severity == Severity::Severe);
    let moved: Vec<(String, f64, u32)> = report
        .benchmarks
        .iter()
        .filter_map(|one| {
            let (ratio, warm_up) =
                one.warnings.iter().filter_map(changing).max_by(|a, b| size(a.0).total_cmp(&size(b.0)))?;
            Some((one_line(&short_name(&one.id.name)), ratio, warm_up))
        })
        .collect();
    if moved.len() < 2 && !is_severe {
        return;
    }
    report.silence(|warning| changing(warning).is_some());
    if !is_severe {
        report.warnings.push(words(moved, report.benchmarks.len()));
    }
}

/// By how much processes went on changing, and after how many iterations.
fn changing(warning: &Warning) -> Option<(f64, u32)> {
    match warning {
        Warning::StillChanging { ratio, warm_up, .. } => Some((*ratio, *warm_up)),
        _ => None,
    }
}

fn size(ratio: f64) -> f64 {
    ratio.ln().abs()
}

fn words(mut moved: Vec<(String, f64, u32)>, of: usize) -> String {
    moved.sort_by(|a, b| size(b.1).total_cmp(&size(a.1)));
    let count = moved.len();
    let warm_up = moved.iter().map(|(.., warm_up)| *warm_up).max().unwrap_or_default();
    let names: Vec<String> =
        moved.iter().take(NAMES_MAX).map(|(name, ratio, _)| format!("`{name}` {}", change(*ratio))).collect();
    format!(
        "{count} of {of} benchmarks went on changing while they were judged ({}): try `--warmup {}`",
        listed(&names, count),
        2 * warm_up.max(1)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_benchmarks_are_named_in_one_line_the_most_changed_first() {
        let moved = |names: &[(&str, f64)]| names.iter().map(|(name, ratio)| ((*name).to_owned(), *ratio, 8)).collect();
        assert_eq!(
            words(moved(&[("a", 1.05), ("b", 0.8)]), 7),
            "2 of 7 benchmarks went on changing while they were judged (`b` -20%, `a` +5.0%): try `--warmup 16`"
        );
        let four = words(moved(&[("a", 1.05), ("b", 0.8), ("c", 1.1), ("d", 1.01)]), 7);
        assert!(four.contains("`c` +10%, `a` +5.0% and 1 more)"), "{four}");
    }
}
