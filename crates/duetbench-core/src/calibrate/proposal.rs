//! The cheapest design that sees a wanted change.

use serde::{Deserialize, Serialize};

use super::{Costs, Sources};
use crate::stats::Level;

/// What is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// Smallest change that is to be seen, a fraction.
    pub change: f64,
    /// How sure, and how often.
    pub level: Level,
    /// Measuring time that may be used for the benchmark, seconds; absent: as much as it takes.
    pub within_s: Option<f64>,
    /// Instances that measure at the same time; 1 on a machine.
    pub instances: u32,
}

/// How a benchmark would be measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// Build pairs.
    pub builds: u32,
    /// Fork pairs of each.
    pub forks_per_build: u32,
    /// Slice pairs of each.
    pub slices: u32,
    /// Time that it takes with as many instances as are wanted, seconds.
    pub takes_s: f64,
    /// Smallest change that it sees, a fraction.
    pub minimal_detectable_change: f64,
}

/// Why a wanted change cannot be seen, and what would help.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Obstacle {
    /// The best that can be done in the time; absent where the time does not pay for an interval.
    pub best: Option<Proposal>,
    /// What it would take; absent where no number of repetitions that is within reason would do.
    pub needed: Option<Proposal>,
}

/// The cheapest design that sees a change.
///
/// # Errors
/// With the best that can be done where there is none.
pub fn propose(_sources: &Sources, _costs: &Costs, _target: &Target) -> Result<Proposal, Obstacle> {
    Err(Obstacle { best: None, needed: None })
}
