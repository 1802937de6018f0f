//! Looks at the units of a benchmark, for those who show how an estimate came about.

use super::{Evidence, Ranged};
use crate::stats::StatsError;

/// Result of one look at a benchmark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Units there were.
    pub units: u32,
    /// Point estimate of the ratio, candidate to baseline.
    pub ratio: f64,
    /// Lower end of the interval, which allows for all looks.
    pub ratio_low: f64,
    /// Upper end of the interval.
    pub ratio_high: f64,
}

impl Look {
    /// The look that this evidence is from.
    ///
    /// # Errors
    /// When the error of this look is not strictly between 0 and 1.
    pub(super) fn of(evidence: &Evidence) -> Result<Look, StatsError> {
        let Ranged { ratio, interval, .. } = evidence.judged()?;
        Ok(Look { units: evidence.counts.units, ratio, ratio_low: interval.low, ratio_high: interval.high })
    }
}
