//! The times of a benchmark in earlier runs, for the page.

use duetbench_core::history::{self, PastRun};
use duetbench_core::{BenchmarkId, Report};
use serde_json::{Value, json};

use crate::render::format::{TimeScale, many, one_line, six_digits};

/// The runs of which benchmarks have times, the oldest first.
pub(super) fn runs(report: &Report) -> Vec<Value> {
    let run = |past: &PastRun| {
        json!({
            "name": one_line(&past.run),
            "started": one_line(&past.started),
            "version": one_line(&past.version),
        })
    };
    report.history.iter().map(run).collect()
}

/// Times of one benchmark in the runs of the page, in a sentence and as points: the place of a run, and the time in nanoseconds. This run
/// comes last. Absent where the benchmark was measured in too few runs, or not in this one.
pub(super) fn of(id: &BenchmarkId, report: &Report) -> Option<Value> {
    let points = history::of(id, &report.history)?;
    let last = points.last().filter(|(run, _)| run + 1 == report.history.len())?.1;
    let words = sentence(&points, last);
    let points = points.into_iter().map(|(run, ns)| (run, six_digits(ns)));
    Some(json!({ "words": words, "points": points.collect::<Vec<_>>() }))
}

/// The range of its times, and the place of this run in it. Other runs were not measured beside it, so that nothing is concluded.
fn sentence(points: &[(usize, f64)], last: f64) -> String {
    let bound = |pick: fn(f64, f64) -> f64, from: f64| points.iter().map(|(_, ns)| *ns).fold(from, pick);
    let (least, most) = (bound(f64::min, f64::INFINITY), bound(f64::max, 0.0));
    let scale = TimeScale::of(&[least, most]);
    let place = if last >= most {
        "the longest"
    } else if last <= least {
        "the shortest"
    } else {
        "between them"
    };
    format!(
        "Last {}: {}s to {}s per operation, this one {}s, {place}. Each saw the machine at another time: no verdict rests on it.",
        many(points.len(), "run", "runs"),
        scale.write(least),
        scale.write(most),
        scale.write(last),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_where_this_run_stands() {
        let check = |times: &[f64], want: &str| {
            let points: Vec<(usize, f64)> = times.iter().copied().enumerate().collect();
            let said = sentence(&points, *times.last().expect("a time"));
            assert!(said.starts_with(want), "{said}");
        };
        check(
            &[1016.0, 1020.0, 1271.0],
            "Last 3 runs: 1.016µs to 1.271µs per operation, this one 1.271µs, the longest.",
        );
        check(
            &[1016.0, 1020.0, 900.0],
            "Last 3 runs: 900.0ns to 1020.0ns per operation, this one 900.0ns, the shortest.",
        );
        check(
            &[1016.0, 1271.0, 1020.0],
            "Last 3 runs: 1.016µs to 1.271µs per operation, this one 1.020µs, between them.",
        );
    }
}
