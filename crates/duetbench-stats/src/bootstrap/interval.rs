//! An interval, and the tails that a confidence leaves.

use crate::StatsError;

/// A confidence interval. An end may be infinite where a method says that it has no bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// The interval that holds one value only.
    pub(super) fn of_one(value: f64) -> Interval {
        Interval { low: value, high: value }
    }

    /// Distance between the ends.
    #[must_use]
    pub fn width(&self) -> f64 {
        if self.low == self.high { 0.0 } else { self.high - self.low }
    }
}

/// The share that an interval of this confidence leaves out at each end.
pub(super) fn tail_of(confidence: f64) -> Result<f64, StatsError> {
    Ok((1.0 - StatsError::check("confidence", confidence, 0.0, 1.0)?) / 2.0)
}

/// The least value of a range from which on a condition holds, found by halving until what is left is negligible; it must hold at the
/// upper end.
pub(super) fn least_of(
    mut low: f64,
    mut high: f64,
    holds: impl Fn(f64) -> bool,
    negligible: impl Fn(f64, f64) -> bool,
) -> f64 {
    while !negligible(low, high) {
        let middle = low.midpoint(high);
        if !(low < middle && middle < high) {
            break;
        }
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// Whether a share of resamples reaches the tail. A sum of probabilities that should be the tail itself may be a little less
/// for rounding.
pub(super) fn reaches(share: f64, tail: f64) -> bool {
    share >= tail * (1.0 - 1e-9)
}
