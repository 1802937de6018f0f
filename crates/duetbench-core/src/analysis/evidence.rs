//! What analysis hands on: the numbers of every fork pair, and all that is reported about one benchmark.

use serde::{Deserialize, Serialize};

use crate::plan::Mode;
use crate::sample::BenchmarkId;
use crate::verdict::Verdict;

use super::{Confirmation, Estimate, Layout, Warning};

/// One side's numbers in one fork pair.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ForkSide {
    /// Invocations in the slices that count.
    pub invocations: u64,
    /// Mean time per invocation over these slices, nanoseconds.
    pub ns_per_op: f64,
    /// Mean CPU time per invocation, nanoseconds, where known for every slice.
    pub cpu_ns_per_op: Option<f64>,
    /// Bytes allocated per invocation, where recorded.
    pub bytes_per_op: Option<f64>,
    /// Allocations per invocation, where recorded.
    pub allocs_per_op: Option<f64>,
}

/// One fork pair: the unit of inference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ForkPair {
    /// Build it belongs to.
    pub build: u32,
    /// Round it belongs to: 0, or one of those that confirm.
    pub round: u32,
    /// Suite run it belongs to.
    pub suite_run: u32,
    /// Fork within the suite run.
    pub fork: u32,
    /// The baseline's numbers.
    pub baseline: ForkSide,
    /// The candidate's numbers.
    pub candidate: ForkSide,
    /// Logarithm of the ratio candidate to baseline of the typical slice: the median over slices.
    pub log_ratio: f64,
    /// Logarithm of the ratio of all slices summed, slow ones and collections included.
    pub log_ratio_complete: f64,
    /// Spread of the slices' log ratios around `log_ratio`: what the standard deviation of normal ones would be (the median
    /// absolute deviation times 1.4826).
    pub slice_spread: f64,
    /// Collections that were counted on both sides.
    pub collections: u32,
    /// Slice pairs it was made from.
    pub slices: u32,
}

/// An exact comparison of a counted quantity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// The baseline's median over forks, per invocation.
    pub baseline: f64,
    /// The candidate's.
    pub candidate: f64,
    /// Whether the two differ by more than the counts themselves vary.
    pub changed: bool,
}

/// What is reported about one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchmarkReport {
    /// Which benchmark.
    pub id: BenchmarkId,
    /// The answer.
    pub verdict: Verdict,
    /// How it was measured, when it was.
    pub mode: Option<Mode>,
    /// The evidence, when there is enough for an interval.
    pub estimate: Option<Estimate>,
    /// Smallest change that was worth a verdict, where a rule gives it one of its own, a fraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// Time per invocation of the baseline, median over forks, nanoseconds.
    pub baseline_ns: Option<f64>,
    /// The same of the candidate.
    pub candidate_ns: Option<f64>,
    /// Allocations per invocation.
    pub allocs: Option<Counted>,
    /// Bytes per invocation.
    pub bytes: Option<Counted>,
    /// How much of the spread is layout; absent with a single build, or too few forks of each.
    pub layout: Option<Layout>,
    /// What later rounds of fresh trials said, where there were any.
    pub confirmation: Option<Confirmation>,
    /// Every fork pair, in order.
    pub forks: Vec<ForkPair>,
    /// What a reader should know about the numbers.
    pub warnings: Vec<Warning>,
}

impl BenchmarkReport {
    /// Whether the two versions were really compared: by measuring both, or by proving them equal.
    #[must_use]
    pub fn was_compared(&self) -> bool {
        self.verdict.is_comparison() && (!self.forks.is_empty() || self.verdict == Verdict::IdenticalCode)
    }
}
