//! Where a regression comes from: CPU profiles of both sides, held against each other.
//!
//! A CPU profile says how often a process was found in which function while samples were taken at regular intervals of processor time. Profiles
//! come from processes of their own, after everything is judged: what they show explains a verdict and never makes one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::sample::BenchmarkId;

mod difference;
mod stacks;

pub use difference::LISTED_MAX;
pub(crate) use difference::origin;
pub use stacks::{BenchmarkStacks, CallTree, DEPTH_MAX, FRAMES_MAX, Frame, Trend};

/// Regressions of a run that are profiled, the largest ones.
pub const BENCHMARKS_MAX: usize = 10;
/// Processes of each side that are profiled.
pub const PROCESSES: u32 = 5;
/// Processor time that such a process aims at, nanoseconds.
pub const PROCESS_NS: u64 = 1_000_000_000;

/// Samples in which a process was found in a function.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hits {
    /// In the function itself.
    pub flat: u64,
    /// In it or in what it called; a stack that holds it several times counts once.
    pub cumulative: u64,
}

/// CPU profile of one process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessProfile {
    /// Invocations of the benchmark that the process made.
    pub invocations: u64,
    /// Processor time that a sample stands for, nanoseconds.
    pub period_ns: u64,
    /// All samples.
    pub samples: u64,
    /// By the function's full name.
    pub functions: BTreeMap<String, Hits>,
}

/// Processor time per operation on both sides, means over processes, nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// In the baseline.
    pub baseline_ns: f64,
    /// In the candidate.
    pub candidate_ns: f64,
    /// The candidate's time less the baseline's; negative where it got less.
    pub gain_ns: f64,
    /// Whether it is more than processes of one side differ by, and than sampling explains.
    pub beyond_noise: bool,
}

/// The owner of a function's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The project's, a library's.
    Program,
    /// The language's runtime, but for its collector.
    Runtime,
    /// The garbage collector.
    Collector,
}

/// A function that takes more time than it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FunctionGain {
    /// Its full name.
    pub function: String,
    /// Whose it is.
    pub origin: Origin,
    /// Its time.
    pub gain: Gain,
    /// Its gain by that of all functions, a fraction; absent where that is within noise.
    pub share: Option<f64>,
}

/// Differences between the profiles of two sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileDifference {
    /// Processes of the baseline and of the candidate.
    pub processes: [u32; 2],
    /// Their samples.
    pub samples: [u64; 2],
    /// Invocations that each process made.
    pub invocations: u64,
    /// All functions together.
    pub total: Gain,
    /// Those of the runtime, its collector included.
    pub runtime: Gain,
    /// Functions whose own instructions gained beyond noise, the largest gain first, at most [`LISTED_MAX`].
    pub flat: Vec<FunctionGain>,
    /// Functions that gained beyond noise with what they call, without those of the harness; likewise.
    pub cumulative: Vec<FunctionGain>,
}

/// Result of profiling one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchmarkProfile {
    /// The benchmark.
    pub id: BenchmarkId,
    /// The profiles, or why there are none.
    pub outcome: ProfileOutcome,
}

/// Profiles, or why there are none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileOutcome {
    /// Both sides were profiled.
    Explained {
        /// Functions whose time grew.
        difference: ProfileDifference,
        /// Where the profiles of baseline and candidate are.
        files: [String; 2],
    },
    /// It did not work out.
    Failed {
        /// Why.
        reason: String,
    },
}

impl BenchmarkProfile {
    /// The difference between both sides, where there is one.
    pub fn difference(&self) -> Option<&ProfileDifference> {
        match &self.outcome {
            ProfileOutcome::Explained { difference, .. } => Some(difference),
            ProfileOutcome::Failed { .. } => None,
        }
    }

    /// Why there is no profile, where there is none.
    pub fn failure(&self) -> Option<&str> {
        match &self.outcome {
            ProfileOutcome::Failed { reason } => Some(reason),
            ProfileOutcome::Explained { .. } => None,
        }
    }
}
