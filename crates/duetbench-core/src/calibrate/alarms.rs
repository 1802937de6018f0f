//! How often equal code is called changed, and planted changes are found.

use serde::{Deserialize, Serialize};

/// How often something happened, with its exact interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// Times it happened.
    pub times: u32,
    /// Times it could have happened.
    pub of: u32,
    /// Lower end of the 99 % interval, a fraction.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// What became of the parts of a calibration, each judged like a comparison of its own.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Alarms {
    /// Units of each part.
    pub units: u32,
    /// Parts of equal code that were called changed.
    pub called_changed: Rate,
    /// Parts in which a change as large as their minimal detectable change was found, planted into the numbers.
    pub planted_found: Rate,
    /// Parts in which half as large a change was found.
    pub half_found: Rate,
}
