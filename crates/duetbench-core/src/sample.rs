//! Samples: what one iteration gave, and where in the experiment it stands.

use serde::{Deserialize, Serialize};

use crate::foreign::one_line;
use crate::spellings::short;

/// One named routine with one set of parameters, unique within a project.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BenchmarkId {
    /// The package (Go: import path) that holds the benchmark.
    pub package: String,
    /// The name as its harness prints it, sub-benchmarks included.
    pub name: String,
}

impl BenchmarkId {
    /// The declared benchmark that this one is a case of; itself where it is none.
    pub fn family(&self) -> BenchmarkId {
        let name = self.name.split('/').next().unwrap_or_default();
        BenchmarkId { package: self.package.clone(), name: name.to_owned() }
    }

    /// Those of some benchmarks that a name means: the one of exactly this package and name, else those of exactly this name, else those
    /// that are called so.
    pub fn meant<'a>(called: &str, all: &[&'a BenchmarkId]) -> Vec<&'a BenchmarkId> {
        let fits: [fn(&BenchmarkId, &str) -> bool; 3] =
            [|id, called| id.to_string() == called, |id, called| id.name == called, BenchmarkId::is_called];
        let meant = fits.iter().map(|fits| all.iter().copied().filter(|id| fits(id, called)).collect());
        meant.into_iter().find(|meant: &Vec<_>| !meant.is_empty()).unwrap_or_default()
    }

    /// Whether it is called so: by its name, as it is or as reports print it, alone or behind its package or whole parts of that's end.
    fn is_called(&self, called: &str) -> bool {
        let (called, own) = (one_line(called), one_line(&self.name));
        let is_package = |before: &str| {
            before
                .strip_suffix('.')
                .and_then(|end| self.package.strip_suffix(end))
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        [&own[..], short(&own)]
            .iter()
            .any(|own| called.strip_suffix(own).is_some_and(|before| before.is_empty() || is_package(before)))
    }
}

impl std::fmt::Display for BenchmarkId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.package, self.name)
    }
}

/// A name with its parameters, as JMH prints them: `name:size=10,word=a`.
pub fn with_parameters<'a>(name: &str, parameters: impl IntoIterator<Item = (&'a String, &'a String)>) -> String {
    let parameters: Vec<String> = parameters.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    let colon = if parameters.is_empty() { "" } else { ":" };
    format!("{name}{colon}{}", parameters.join(","))
}

/// Whether so many invocations in so short a time are none: less than 0.001 ns each. A turn of an empty loop takes a cycle, which
/// 100 processors at once turn into 0.002 ns.
pub fn does_nothing(wall_ns: u64, invocations: u64) -> bool {
    invocations / 1000 > wall_ns
}

/// The part a version plays in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The version compared against.
    Baseline,
    /// The version under test.
    Candidate,
}

words!(Role: Baseline "baseline", Candidate "candidate");

impl Role {
    /// Both roles, baseline first.
    pub const BOTH: [Role; 2] = [Role::Baseline, Role::Candidate];

    /// The opposite role.
    pub fn other(self) -> Role {
        match self {
            Role::Baseline => Role::Candidate,
            Role::Candidate => Role::Baseline,
        }
    }

    /// Its place in arrays of both: that of the baseline is 0.
    pub fn index(self) -> usize {
        self as usize
    }

    /// The word used for people, as in tables: `base` or `head`.
    pub fn side(self) -> &'static str {
        match self {
            Role::Baseline => "base",
            Role::Candidate => "head",
        }
    }
}

/// Where a sample stands in the experiment, outermost level first. Two samples that differ only in `role` are a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Coordinates {
    /// Role of the version.
    pub role: Role,
    /// Machine, counted from 0.
    pub instance: u32,
    /// Linked artifact of the version, counted from 0.
    pub build: u32,
    /// Round of measuring: 0, or one of those that confirm a regression.
    pub round: u32,
    /// Pass over the whole suite, counted from 0.
    pub suite_run: u32,
    /// Fresh process within the suite run, counted from 0.
    pub fork: u32,
    /// Slice within the fork, warm-up included, counted from 0.
    pub iteration: u32,
}

/// Memory that was allocated over a block of slices, attached to the block's last slice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Memory {
    /// Number of allocations in the block; absent where the runtime counts bytes alone.
    pub allocations: Option<u64>,
    /// Bytes allocated in the block.
    pub bytes: u64,
    /// Collections that ended in the block, a forced one at its head excluded.
    pub collections: u32,
    /// Invocations the block consists of.
    pub invocations: u64,
    /// The cost of a collection; on a trial's last block, where the hook can tell.
    pub cycle: Option<Cycle>,
}

/// The cost of one collection of a process, and how often there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cycle {
    /// CPU time of a forced collection before the first slice, nanoseconds.
    pub cost_ns: u64,
    /// Bytes that could be allocated until the next one.
    pub period_bytes: u64,
    /// CPU time of marking beside the benchmark (not in its way) in one collection, mean over those that ended in the slices
    /// that count, nanoseconds; absent where none did.
    pub background_ns: Option<u64>,
}

/// One slice of one process: the flat row that is stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Where it stands.
    pub at: Coordinates,
    /// Block of slices between two pauses it belongs to; the unit over which memory is counted.
    pub block: u32,
    /// Calls of the routine in this slice, at least 1.
    pub invocations: u64,
    /// Wall time of the slice by the harness's own timer, nanoseconds.
    pub wall_ns: u64,
    /// CPU time of the process during the slice, nanoseconds; absent when it was not read, or the timer was paused inside.
    pub cpu_ns: Option<u64>,
    /// Monotonic clock when the slice began, nanoseconds.
    pub start_ns: u64,
    /// Allocations of the block that ends with this slice.
    pub memory: Option<Memory>,
    /// Collections that had ended by the end of this slice since the trial began; absent where the hook does not count them.
    pub cycles: Option<u32>,
    /// Taken to warm up and never judged.
    pub warm_up: bool,
}

impl Sample {
    /// Wall time per invocation, nanoseconds.
    pub fn ns_per_op(&self) -> f64 {
        self.wall_ns as f64 / self.invocations as f64
    }
}
