//! Percentile intervals of hierarchical bootstraps.

use super::super::{StatsError, finite};
use super::interval::{Interval, tail_of};
use super::mean::law_of_mean;
use super::nested::Nested;
use super::nested_median::median_law;

/// The percentile interval of the mean of a hierarchical bootstrap over any number of levels, without resampling.
///
/// See [`Nested`] for what is drawn. The distribution is convolved as in [`mean_interval`](super::mean_interval), with which it agrees for one level.
/// Assumes that the repetitions of each level are independent of each other and the design balanced. Misleads with few
/// repetitions of the outermost level, whatever there is inside: three runs resample to a spread that is too small by `sqrt(2 / 3)`,
/// with no tails.
///
/// # Errors
/// On overflow, or with a confidence that is not strictly between 0 and 1.
///
/// ```
/// # use duetbench_core::stats::{Nested, nested_mean_interval};
/// let runs = [10.0, 10.2, 11.0, 11.2, 13.0, 13.2];
/// let interval = nested_mean_interval(Nested::of(&[3, 2], &runs).unwrap(), 0.9).unwrap();
/// assert!((interval.low - 10.4).abs() < 1e-9 && (interval.high - (12.0 + 7.0 / 15.0)).abs() < 1e-9, "{interval:?}");
/// ```
pub fn nested_mean_interval(sample: Nested<'_>, confidence: f64) -> Result<Interval, StatsError> {
    let interval = law_of_mean(sample)?.interval(tail_of(confidence)?);
    Ok(Interval { low: finite(interval.low)?, high: finite(interval.high)? })
}

/// The percentile interval of the median of all values of a hierarchical bootstrap, exact, over any number of levels.
///
/// See [`Nested`] for what is drawn; agrees with [`median_interval`](super::median_interval) for one level. Assumes and misleads like
/// [`nested_mean_interval`]. With an even number of values in several levels it takes a while: the joint distribution of all pairs is worked out.
///
/// # Errors
/// With a confidence that is not strictly between 0 and 1.
///
/// ```
/// # use duetbench_core::stats::{Nested, nested_median_interval};
/// let forks = [10.0, 10.1, 10.2, 11.0, 11.1, 11.2, 13.0, 13.1, 13.2];
/// let interval = nested_median_interval(Nested::of(&[3, 3], &forks).unwrap(), 0.95).unwrap();
/// assert_eq!((interval.low, interval.high), (10.1, 13.1));
/// ```
pub fn nested_median_interval(sample: Nested<'_>, confidence: f64) -> Result<Interval, StatsError> {
    let tail = tail_of(confidence)?;
    Ok(median_law(sample).interval(tail))
}
