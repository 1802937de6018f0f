//! Logarithms of the times of a base and a head: all that an estimator sees.

use super::{StatsError, finite};

/// Fewer values have no spread worth a name.
const VALUES_MIN: usize = 3;

/// Log ratios of pairs, each of which was measured under the same conditions on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairs {
    log_ratios: Vec<f64>,
}

/// Logarithms of times that were measured independently of each other.
#[derive(Debug, Clone, PartialEq)]
pub struct TwoSamples {
    log_base: Vec<f64>,
    log_head: Vec<f64>,
}

impl Pairs {
    /// Those of times of which the ones at the same place were measured together; fails as `Comparison::paired` says.
    pub(super) fn of(base: &[f64], head: &[f64]) -> Result<Pairs, StatsError> {
        if base.len() != head.len() {
            return Err(StatsError::UnequalLengths { base: base.len(), head: head.len() });
        }
        let (base, head) = (logarithms(base)?, logarithms(head)?);
        Ok(Pairs { log_ratios: base.iter().zip(head).map(|(base, head)| head - base).collect() })
    }

    /// Logarithm of head to base, one for each pair.
    #[must_use]
    pub fn log_ratios(&self) -> &[f64] {
        &self.log_ratios
    }
}

impl TwoSamples {
    /// Those of times, of which a side may have more; fails as `Comparison::unpaired` says.
    pub(super) fn of(base: &[f64], head: &[f64]) -> Result<TwoSamples, StatsError> {
        Ok(TwoSamples { log_base: logarithms(base)?, log_head: logarithms(head)? })
    }

    /// Logarithms of the base's times.
    #[must_use]
    pub fn log_base(&self) -> &[f64] {
        &self.log_base
    }

    /// Logarithms of the head's times.
    #[must_use]
    pub fn log_head(&self) -> &[f64] {
        &self.log_head
    }
}

/// Logarithms of times, if these are enough and all positive.
fn logarithms(times: &[f64]) -> Result<Vec<f64>, StatsError> {
    if times.len() < VALUES_MIN {
        return Err(StatsError::TooFew { have: times.len(), needed: VALUES_MIN });
    }
    let logarithm = |time: &f64| Ok(StatsError::check("time", finite(*time)?, 0.0, f64::INFINITY)?.ln());
    times.iter().map(logarithm).collect()
}
