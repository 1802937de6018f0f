//! Reasons why a method cannot answer.

use thiserror::Error;

/// Why a method has no answer for these numbers.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum StatsError {
    /// The method needs more values.
    #[error("{have} values, but at least {needed} are needed")]
    TooFew {
        /// Those there are.
        have: usize,
        /// Those there must be.
        needed: usize,
    },
    /// A value is not a finite number, or the values are so large that the result is none.
    #[error("a value is not a finite number")]
    NotFinite,
    /// Pairs need as many values on either side.
    #[error("{base} values of the base, but {head} of the head")]
    UnequalLengths {
        /// Values of the base.
        base: usize,
        /// Values of the head.
        head: usize,
    },
    /// A parameter lies where the formula does not hold.
    #[error("`{name}` is {value}, where the formula does not hold")]
    OutOfRange {
        /// Name of the parameter.
        name: &'static str,
        /// The given value.
        value: f64,
    },
}

impl StatsError {
    /// Passes on a value strictly between the bounds, names the parameter otherwise (also for NaN).
    ///
    /// # Errors
    /// When it lies elsewhere.
    pub fn check(name: &'static str, value: f64, low: f64, high: f64) -> Result<f64, StatsError> {
        if value > low && value < high { Ok(value) } else { Err(StatsError::OutOfRange { name, value }) }
    }
}
