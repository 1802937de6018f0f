//! Number of values that a test would need.

use statrs::distribution::{ContinuousCDF, Normal};

use super::detectable::power_at;
use super::yuen::degrees_of_freedom;
use super::{Level, StatsError, critical_t};

/// Smallest number of values at which an effect of size `distance` is found with the stated power, up to `largest`.
///
/// `spread` is the standard error of one value: a standard deviation, or for a trimmed mean its standard error times the
/// square root of the number of values it came from. It is the least `n` with
/// `k(n) * spread / sqrt(n) <= distance`, where `k` is the factor of [`detectable_factor`](super::detectable_factor) for the
/// degrees of freedom of [`trimmed_t`](super::trimmed_t). `None` when more than `largest` are needed.
///
/// Source: Cohen, Statistical Power Analysis for the Behavioral Sciences, 2nd ed. (1988), chapter 2. Takes the spread for
/// known, although it was itself estimated: from few values the answer is rough.
///
/// # Errors
/// When `distance` is not a positive number, `spread` not a number from 0, or the level outside its range.
///
/// ```
/// # use duetbench_stats::{Level, smallest_sample};
/// // k(7) = 4.514 standard errors of 0.02 / sqrt(8) are 3.19 %; with 7 values 3.57 %.
/// let level = Level { alpha: 0.01, power: 0.8 };
/// assert_eq!(smallest_sample(0.02, 0.032, level, 1000), Ok(Some(8)));
/// assert_eq!(smallest_sample(0.02, 0.0001, level, 1000), Ok(None));
/// ```
pub fn smallest_sample(spread: f64, distance: f64, level: Level, largest: u32) -> Result<Option<u32>, StatsError> {
    StatsError::check("distance", distance, 0.0, f64::INFINITY)?;
    StatsError::check("spread", spread, -f64::MIN_POSITIVE, f64::INFINITY)?;
    StatsError::check("alpha", level.alpha, 0.0, 1.0)?;
    StatsError::check("power", level.power, 0.0, 1.0)?;
    // With infinitely many degrees of freedom the factor is the sum of two normal quantiles; it is never smaller, so the
    // search starts there and has only a few steps to go. (Degrees of freedom drop where another value is trimmed, so the
    // condition is not quite monotone and a bisection could miss the smallest.)
    let normal = Normal::standard();
    let factor_least = normal.inverse_cdf(level.power) - normal.inverse_cdf(level.alpha / 2.0);
    let least = (factor_least.max(0.0) * spread / distance).powi(2).floor().max(2.0);
    if least > f64::from(largest) {
        return Ok(None);
    }
    for n in least as u32..=largest {
        let df = f64::from(degrees_of_freedom(n));
        let factor = distance * f64::from(n).sqrt() / spread;
        // Without spread any number does.
        if factor.is_infinite() || power_at(factor, critical_t(level.alpha, df)?, df)? >= level.power {
            return Ok(Some(n));
        }
    }
    Ok(None)
}
