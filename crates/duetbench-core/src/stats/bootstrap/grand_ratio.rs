//! The grand geometric mean of ratios, as the duet procedure has it.

use super::super::{StatsError, finite, mean};
use super::interval::Interval;
use super::mean::mean_interval;
use super::nested::Nested;

/// A ratio of two versions, with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrandRatio {
    /// Geometric mean over runs of the geometric means over what is inside.
    pub ratio: f64,
    /// Percentile interval from resampling runs.
    pub interval: Interval,
}

/// The grand geometric mean of the ratios `candidate / baseline` of paired values, with its percentile interval over runs.
///
/// Source: Bulej et al. (ICPE 2020), section 3, steps 2 to 5: the ratio of each pair, the geometric mean of each run, the
/// geometric mean of these over runs, and a percentile bootstrap of the last. The outermost level is that of runs. Kept for
/// comparison with published figures: with few runs the interval is far too narrow ([`mean_interval`]). The report's own is
/// that of [`trimmed_t`](crate::stats::trimmed_t).
///
/// # Errors
/// When the samples are not of one shape, a value is not positive, or the confidence is not strictly between 0 and 1.
///
/// ```
/// # use duetbench_core::stats::{Nested, grand_ratio};
/// let (baseline, candidate) = ([1.0, 2.0, 1.0, 2.0, 1.0, 2.0], [2.0, 4.0, 4.0, 8.0, 8.0, 16.0]);
/// let grand = grand_ratio(Nested::of(&[3, 2], &baseline).unwrap(), Nested::of(&[3, 2], &candidate).unwrap(), 0.99).unwrap();
/// assert!((grand.ratio - 4.0).abs() < 1e-12);
/// assert!((grand.interval.low - 2.0).abs() < 1e-12 && (grand.interval.high - 8.0).abs() < 1e-12);
/// ```
pub fn grand_ratio(baseline: Nested<'_>, candidate: Nested<'_>, confidence: f64) -> Result<GrandRatio, StatsError> {
    if baseline.shape() != candidate.shape() {
        let value = candidate.values().len() as f64;
        return Err(StatsError::OutOfRange { name: "number of candidate values", value });
    }
    let positive = |value: f64| StatsError::check("value", value, (0.0, f64::INFINITY));
    let ratio = |(b, c): (&f64, &f64)| Ok(positive(*c)?.ln() - positive(*b)?.ln());
    let logs: Vec<f64> =
        baseline.values().iter().zip(candidate.values()).map(ratio).collect::<Result<_, StatsError>>()?;
    let by_run: Vec<f64> =
        baseline.with(&logs).repetitions().map(|run| mean(run.values())).collect::<Result<_, _>>()?;
    let interval = mean_interval(&by_run, confidence)?;
    let exp = |log: f64| finite(log.exp());
    Ok(GrandRatio {
        ratio: exp(mean(&by_run)?)?,
        interval: Interval { low: exp(interval.low)?, high: exp(interval.high)? },
    })
}
