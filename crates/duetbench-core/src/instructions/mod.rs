//! Instructions that benchmarks execute: exact where time is noisy, and blind to all that makes equal instructions slow.
//!
//! They come from processes of their own under callgrind, after everything is judged: what they show explains a verdict, and makes none but where a
//! rule names them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::analysis::BenchmarkReport;
use crate::hotspot::Origin;
use crate::sample::BenchmarkId;
use crate::spec::Policy;

mod difference;
mod explanation;

pub use difference::{LISTED_MAX, SideCounts};
pub use explanation::{Direction, Explanation, LayoutPart};

/// Changed or open benchmarks of a run that are counted, the largest changes first.
pub const BENCHMARKS_MAX: usize = 20;
/// Processes with fewer invocations of each side, and as many with more.
pub const PROCESSES: u32 = 3;
/// Least difference between two counts that is one, a fraction.
pub const TOLERANCE: f64 = 0.001;

/// Instructions that one process executed, by the function's full name, without those of what it called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessCount {
    /// By function.
    pub functions: BTreeMap<String, u64>,
}

/// The unit of counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Per {
    /// One invocation of the benchmark, without the start of its process.
    Invocation,
    /// A whole process.
    Process,
}

/// Instructions of one side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Executed {
    /// All of them, by the unit.
    pub all: f64,
    /// Those of a garbage collector among them.
    pub collector: f64,
    /// Largest difference between two processes, a fraction of `all`.
    pub spread: f64,
}

/// Instructions of one function on both sides, without those of what it calls, by the unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FunctionCount {
    /// Its full name.
    pub function: String,
    /// Whose it is.
    pub origin: Origin,
    /// In the baseline.
    pub baseline: f64,
    /// In the candidate.
    pub candidate: f64,
}

/// Functions that a benchmark executed, by whether their machine code is the same in both versions. That of its data is not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutedCode {
    /// Functions of the programs that any counted process executed.
    pub functions: usize,
    /// Those among them that differ, or that one version has alone.
    pub differing: usize,
    /// The first of these by name, the program's own before the runtime's, at most [`LISTED_MAX`].
    pub listed: Vec<String>,
}

/// Instructions of a benchmark in both versions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InstructionCounts {
    /// The unit.
    pub per: Per,
    /// Invocations of a process with fewer of them, and of one with more; whole processes make none.
    pub invocations: [u64; 2],
    /// Processes of each side by each number of invocations.
    pub processes: u32,
    /// The baseline's.
    pub baseline: Executed,
    /// The candidate's.
    pub candidate: Executed,
    /// Functions whose count changed, the largest change first, at most [`LISTED_MAX`].
    pub functions: Vec<FunctionCount>,
    /// The code that was executed; absent where both versions were not laid out alike, so that equal code has other bytes.
    pub code: Option<ExecutedCode>,
}

/// Result of counting one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchmarkInstructions {
    /// The benchmark.
    pub id: BenchmarkId,
    /// The counts, or why there are none.
    pub outcome: CountOutcome,
}

/// Counts, or why there are none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountOutcome {
    /// Both sides were counted.
    Counted(InstructionCounts),
    /// It did not work out.
    Failed {
        /// Why.
        reason: String,
    },
}

impl BenchmarkInstructions {
    /// The counts, where there are any.
    pub fn counts(&self) -> Option<&InstructionCounts> {
        match &self.outcome {
            CountOutcome::Counted(counts) => Some(counts),
            CountOutcome::Failed { .. } => None,
        }
    }

    /// Why there are none, where there are none.
    pub fn failure(&self) -> Option<&str> {
        match &self.outcome {
            CountOutcome::Failed { reason } => Some(reason),
            CountOutcome::Counted(_) => None,
        }
    }
}

/// Benchmarks whose instructions are counted, besides those that a rule about them names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Countable {
    /// No others.
    Ruled,
    /// Those that changed or are open questions, at most [`BENCHMARKS_MAX`].
    Changed,
    /// All that were measured.
    All,
}

impl Countable {
    /// Those of these benchmarks to count: those that rules name, then the others, the largest change first.
    pub fn of<'a>(self, benchmarks: &'a [BenchmarkReport], policy: &Policy) -> Vec<&'a BenchmarkReport> {
        let works = benchmarks.iter().filter(|b| b.verdict.is_comparison() && !b.verdict.is_proven());
        let (ruled, mut others): (Vec<_>, Vec<_>) = works.partition(|b| policy.counts_instructions(&b.id));
        others.retain(|b| !b.forks.is_empty());
        let wanted = |b: &&'a BenchmarkReport| {
            let verdict = b.verdict.of_times();
            match self {
                Countable::Ruled => false,
                Countable::Changed => verdict.is_change() || verdict.is_open(),
                Countable::All => true,
            }
        };
        others.retain(wanted);
        let change = |b: &BenchmarkReport| b.change().map_or(0.0, |change| change.ln_1p().abs());
        others.sort_by(|a, b| change(b).total_cmp(&change(a)));
        if self == Countable::Changed {
            others.truncate(BENCHMARKS_MAX);
        }
        ruled.into_iter().chain(others).collect()
    }
}
