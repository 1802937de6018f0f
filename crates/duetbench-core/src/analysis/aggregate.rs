//! The fork's one number.

use crate::spec::ForkAggregate;
use crate::stats::{self, StatsError};

impl ForkAggregate {
    /// Combines the logarithms of a fork.
    ///
    /// The mean is what a user pays for: of the three it alone also moves when a few slices get much slower. It is the default
    /// also because a mean of logs is the logarithm of the geometric mean that Bulej et al. (ICPE 2020) use. The other two
    /// shrug off disturbed slices, and real changes that show in few slices along with them.
    ///
    /// # Errors
    /// Without values, or with one that is not finite.
    pub fn combine(self, logs: &[f64]) -> Result<f64, StatsError> {
        match self {
            ForkAggregate::Mean => stats::mean(logs),
            ForkAggregate::TrimmedMean20 => stats::trimmed_mean(logs, logs.len() / 5),
            ForkAggregate::Median => stats::median(logs),
        }
    }
}
