//! The smallest effect that a t test would find.

use super::root::increasing_root;
use super::{StatsError, critical_t, noncentral_t_survival};

/// Error and power of a test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Two-sided error of the first kind.
    pub alpha: f64,
    /// Probability of finding what is there.
    pub power: f64,
}

/// Number of standard errors that a true effect must measure to be found with the stated power by a two-sided t test.
///
/// It is the noncentrality `k` with `P(|T(df, k)| > critical t) = power`; the minimal detectable effect is `k` times the
/// standard error. Source: Cohen, Statistical Power Analysis for the Behavioral Sciences, 2nd ed. (1988), chapter 2.
/// Assumes normal values; for a trimmed t it is an approximation with the trimmed degrees of freedom.
///
/// # Errors
/// When `alpha` or `power` is not strictly between 0 and 1 or `df` is outside 1 to a million.
///
/// ```
/// # use duetbench_stats::{Level, detectable_factor};
/// let k = detectable_factor(9.0, Level { alpha: 0.01, power: 0.8 }).unwrap();
/// assert!((k - 4.212).abs() < 5e-4);
/// ```
pub fn detectable_factor(df: f64, level: Level) -> Result<f64, StatsError> {
    StatsError::check("power", level.power, 0.0, 1.0)?;
    let critical = critical_t(level.alpha, df)?;
    if level.power <= level.alpha {
        // A test of no effect at all already speaks that often.
        return Ok(0.0);
    }
    // Only errors of the arguments are possible, and those were checked; NaN ends the search where it stands.
    let missing = |factor: f64| power_at(factor, critical, df).unwrap_or(f64::NAN) - level.power;
    let mut high = critical + 1.0;
    while missing(high) < 0.0 {
        high *= 2.0;
    }
    Ok(increasing_root(missing, 0.0, high))
}

/// Probability that a t statistic lies farther from 0 than `critical` when the effect measures `factor` standard errors.
pub(super) fn power_at(factor: f64, critical: f64, df: f64) -> Result<f64, StatsError> {
    Ok(noncentral_t_survival(critical, df, factor)? + noncentral_t_survival(critical, df, -factor)?)
}
