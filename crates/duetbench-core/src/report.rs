//! The report: everything a renderer shows, already computed.

use serde::{Deserialize, Serialize};

use crate::analysis::{Estimate, Warning};
use crate::environment::Environment;
use crate::plan::{Mode, Plan};
use crate::sample::{BenchmarkId, Role};
use crate::spec::Spec;
use crate::verdict::Verdict;

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
    /// Time per invocation of the baseline, median over forks, nanoseconds.
    pub baseline_ns: Option<f64>,
    /// The same of the candidate.
    pub candidate_ns: Option<f64>,
    /// Allocations per invocation.
    pub allocs: Option<Counted>,
    /// Bytes per invocation.
    pub bytes: Option<Counted>,
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

/// What one version was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VersionInfo {
    /// What the user typed, or what stood in for it.
    pub requested: String,
    /// What it turned out to be: a commit, a directory, a module version.
    pub resolved: String,
    /// Digest over its test binaries, hexadecimal.
    pub artifact_digest: String,
}

/// The whole answer of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Name of the run in its store.
    pub run: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// Whether it was measured to its end.
    pub complete: bool,
    /// The request.
    pub spec: Spec,
    /// The plan.
    pub plan: Plan,
    /// What the baseline was.
    pub baseline: VersionInfo,
    /// What the candidate was.
    pub candidate: VersionInfo,
    /// The machine.
    pub environment: Environment,
    /// Wall time spent measuring, seconds.
    pub measured_s: f64,
    /// One entry per benchmark, in name order.
    pub benchmarks: Vec<BenchmarkReport>,
    /// What concerns the run as a whole.
    pub warnings: Vec<String>,
}

/// What a run comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// No regression found.
    Clean,
    /// Something failed, or nothing was compared.
    Failed,
    /// At least one regression.
    Regression,
    /// No regression, but not everything was decided.
    Inconclusive,
}

impl Report {
    /// How many benchmarks got this verdict (by [`Verdict::word`]).
    #[must_use]
    pub fn count(&self, word: &str) -> usize {
        self.benchmarks.iter().filter(|b| b.verdict.word() == word).count()
    }

    /// What the run comes to: a regression outweighs a failure, a failure an open question.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        let compared = self.benchmarks.iter().any(BenchmarkReport::was_compared);
        if self.count("regression") > 0 {
            Outcome::Regression
        } else if self.count("failed") > 0 || !compared {
            Outcome::Failed
        } else if self.count("inconclusive") > 0 {
            Outcome::Inconclusive
        } else {
            Outcome::Clean
        }
    }

    /// The information about one side.
    #[must_use]
    pub fn version(&self, role: Role) -> &VersionInfo {
        match role {
            Role::Baseline => &self.baseline,
            Role::Candidate => &self.candidate,
        }
    }
}
