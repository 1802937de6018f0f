//! Counts held beside a verdict: more work, or the same work slower.

use super::{InstructionCounts, TOLERANCE};
use crate::analysis::BenchmarkReport;
use crate::report::Report;
use crate::verdict::Verdict;

/// Direction of a change from the baseline to the candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// It got less.
    Less,
    /// It stayed as it was.
    Same,
    /// It got more.
    More,
}

words!(Direction: Less "less", Same "same", More "more");

/// Whether a change of time may come from where the linker put the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayoutPart {
    /// No: what both versions have lay at the same addresses.
    Matched,
    /// No: it was averaged over layouts.
    Averaged,
    /// It may: one build of each version was measured.
    Open,
}

words!(LayoutPart: Matched "matched", Averaged "averaged", Open "open");

impl LayoutPart {
    /// The part that layout may have in the change of a benchmark of this report.
    pub fn of(benchmark: &BenchmarkReport, report: &Report) -> LayoutPart {
        let planned = report.planned(&benchmark.id);
        let relinked = planned.is_some_and(|planned| planned.configuration.design.by_build);
        let matched = report.layouts.as_ref().is_some_and(|used| used.matched.contains(&benchmark.id.package));
        match (relinked, matched) {
            (true, true) => LayoutPart::Matched,
            (true, false) => LayoutPart::Averaged,
            (false, _) => LayoutPart::Open,
        }
    }
}

/// A verdict and a count beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explanation {
    /// Direction of the time; absent where that is an open question.
    pub time: Option<Direction>,
    /// Direction of the instructions.
    pub work: Direction,
    /// Part that layout may have.
    pub layout: LayoutPart,
}

impl InstructionCounts {
    /// The change of the count, a fraction of the baseline's.
    pub fn change(&self) -> f64 {
        self.candidate.all / self.baseline.all - 1.0
    }

    /// The change below which two counts are the same, a fraction: what processes of the sides differ by, and no less than [`TOLERANCE`].
    pub fn tolerance(&self) -> f64 {
        TOLERANCE.max(self.baseline.spread + self.candidate.spread)
    }

    /// Direction of the count.
    pub fn direction(&self) -> Direction {
        let change = self.change();
        if change.abs() <= self.tolerance() {
            Direction::Same
        } else if change > 0.0 {
            Direction::More
        } else {
            Direction::Less
        }
    }

    /// The counts beside the verdict of their benchmark in a report.
    pub fn beside(&self, benchmark: &BenchmarkReport, report: &Report) -> Explanation {
        let time = match benchmark.verdict.of_times() {
            Verdict::Regression | Verdict::Slower(_) => Some(Direction::More),
            Verdict::Improvement | Verdict::Faster(_) => Some(Direction::Less),
            Verdict::NoChange | Verdict::IdenticalCode | Verdict::NotAffected => Some(Direction::Same),
            _ => None,
        };
        Explanation { time, work: self.direction(), layout: LayoutPart::of(benchmark, report) }
    }
}
