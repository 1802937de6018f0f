//! What is seen after how much time.

use serde::{Deserialize, Serialize};

/// What a measuring time lets one see.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sight {
    /// Build pairs that it pays for.
    pub builds: u32,
    /// Fork pairs of each.
    pub forks_per_build: u32,
    /// Smallest true change that is reported with the decision's power, a fraction.
    pub minimal_detectable_change: f64,
    /// What an interval reaches to either side of an estimate on equal code, a fraction.
    pub floor: f64,
}

/// Why a benchmark cannot see anything useful.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blind {
    /// Too few of its fork pairs came to their end.
    TooFewForks,
    /// Layout differs so much that the largest budget has too few builds.
    Layout,
    /// Its processes differ so much from each other.
    Forks,
    /// Its slices are disturbed so much.
    Interference,
    /// A fork pair takes so long that the largest budget has too few of them.
    TooLong,
}
