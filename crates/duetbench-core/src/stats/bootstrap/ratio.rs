//! Percentile intervals of the ratio of two independent samples.

use super::super::{StatsError, finite};
use super::interval::{Interval, least_of, reaches, tail_of};
use super::law::Law;
use super::mean::law_of_mean;
use super::nested::Nested;
use super::nested_median::median_law;

/// The percentile interval of the mean of `candidate` over the mean of `baseline`, each resampled for itself, with any number
/// of levels.
///
/// With the bootstrap distributions of both means, `P(M_B / M_A <= r) = sum over a of P(M_A = a) F_B(r a)`, of which the quantiles
/// are found by halving. Nothing is drawn.
///
/// # Errors
/// When a mean may be 0 or negative, on overflow, or with a confidence that is not strictly between 0 and 1.
///
/// ```
/// # use duetbench_core::stats::{Nested, mean_ratio_interval};
/// let (baseline, candidate) = ([10.0, 11.0, 12.0], [20.0, 22.0, 24.0]);
/// let of = |values| Nested::of(&[3], values).unwrap();
/// let interval = mean_ratio_interval(of(&baseline), of(&candidate), 0.999).unwrap();
/// assert!((interval.low - 20.0 / 12.0).abs() < 1e-9 && (interval.high - 2.4).abs() < 1e-9);
/// ```
pub fn mean_ratio_interval(
    baseline: Nested<'_>,
    candidate: Nested<'_>,
    confidence: f64,
) -> Result<Interval, StatsError> {
    let tail = tail_of(confidence)?;
    ratio_interval(&law_of_mean(baseline)?, &law_of_mean(candidate)?, tail)
}

/// [`mean_ratio_interval`] of medians; exact.
///
/// # Errors
/// When a median may be 0 or negative, or with a confidence that is not strictly between 0 and 1.
///
/// ```
/// # use duetbench_core::stats::{Nested, median_ratio_interval};
/// let (baseline, candidate) = ([10.0, 11.0, 12.0], [20.0, 22.0, 24.0]);
/// let of = |values| Nested::of(&[3], values).unwrap();
/// let interval = median_ratio_interval(of(&baseline), of(&candidate), 0.9).unwrap();
/// assert!((interval.low - 20.0 / 12.0).abs() < 1e-9 && (interval.high - 2.4).abs() < 1e-9);
/// ```
pub fn median_ratio_interval(
    baseline: Nested<'_>,
    candidate: Nested<'_>,
    confidence: f64,
) -> Result<Interval, StatsError> {
    let tail = tail_of(confidence)?;
    ratio_interval(&median_law(baseline), &median_law(candidate), tail)
}

fn ratio_interval(baseline: &Law, candidate: &Law, tail: f64) -> Result<Interval, StatsError> {
    for (name, law) in [("least baseline", baseline), ("least candidate", candidate)] {
        StatsError::check(name, law.least(), (0.0, f64::INFINITY))?;
    }
    // The upper end of a ratio is the lower one of its reciprocal.
    let low = lower_end(baseline, candidate, tail);
    let high = lower_end(candidate, baseline, tail).recip();
    Ok(Interval { low: finite(low)?, high: finite(high)? })
}

/// Where the distribution of the ratio reaches its tail.
fn lower_end(below: &Law, above: &Law, tail: f64) -> f64 {
    let masses: Vec<(f64, f64)> = below.atoms().collect();
    let share = |ratio: f64| above.weighted_share(masses.iter().map(|(value, mass)| (value * ratio, *mass)));
    let (low, high) = (above.least() / below.greatest(), above.greatest() / below.least());
    if reaches(share(low * (1.0 + 1e-14)), tail) {
        return low;
    }
    least_of((low, high), |value| reaches(share(value), tail), |low, high| high - low <= 1e-14 * high)
}
