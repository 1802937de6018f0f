//! What fork pairs of equal code vary, by source.

use serde::{Deserialize, Serialize};

/// What repetitions of one benchmark cost, seconds of wall time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// A new build pair, for each benchmark that shares it; 0 where nothing is linked.
    pub build_s: f64,
    /// Starting, warming up and ending a fork pair.
    pub fork_s: f64,
    /// A slice pair.
    pub slice_s: f64,
}

/// Standard deviations of the log ratio by source, each net of those inside it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sources {
    /// Between build pairs: where the linker put the code. Absent where every fork pair has the same builds.
    pub layout: Option<f64>,
    /// Between fork pairs of a build pair, beyond what the slices in them explain: memory, luck and time.
    pub fork: f64,
    /// Between slice pairs of a fork pair: interference.
    pub slice: f64,
    /// Slice pairs of a fork pair, median.
    pub slices: u32,
    /// Degrees of freedom of the outermost source.
    pub degrees_of_freedom: f64,
}

/// How much of a fork pair's variance comes from each source, fractions that add up to 1, or are all 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Shares {
    /// That of [`Sources::layout`].
    pub layout: f64,
    /// That of [`Sources::fork`].
    pub fork: f64,
    /// That of the slices: interference.
    pub slice: f64,
}

impl Sources {
    /// The share of every source in the variance of a fork pair as long as those that were measured.
    #[must_use]
    pub fn shares(&self) -> Shares {
        Shares { layout: 0.0, fork: 0.0, slice: 0.0 }
    }
}
