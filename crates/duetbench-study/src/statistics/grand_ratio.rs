//! The grand geometric mean of ratios, as the duet procedure has it.

use duetbench_core::stats::{Interval, StatsError, finite, mean, mean_interval};

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
/// geometric mean of these over runs, and a percentile bootstrap of the last. Values lie in `runs` of equal length, one after the other. Kept for
/// comparison with published figures: with few runs the interval is far too narrow ([`mean_interval`]). The report's own is
/// that of [`trimmed_t`](duetbench_core::stats::trimmed_t).
///
/// # Errors
/// When the samples are not of one length that runs share evenly, a value is not positive, or the confidence is not strictly between 0 and 1.
///
/// ```
/// # use duetbench_study::statistics::grand_ratio;
/// let (baseline, candidate) = ([1.0, 2.0, 1.0, 2.0, 1.0, 2.0], [2.0, 4.0, 4.0, 8.0, 8.0, 16.0]);
/// let grand = grand_ratio(&baseline, &candidate, 3, 0.99).unwrap();
/// assert!((grand.ratio - 4.0).abs() < 1e-12);
/// assert!((grand.interval.low - 2.0).abs() < 1e-12 && (grand.interval.high - 8.0).abs() < 1e-12);
/// ```
pub fn grand_ratio(
    baseline: &[f64],
    candidate: &[f64],
    runs: usize,
    confidence: f64,
) -> Result<GrandRatio, StatsError> {
    if baseline.len() != candidate.len() || runs == 0 || !baseline.len().is_multiple_of(runs) {
        let value = candidate.len() as f64;
        return Err(StatsError::OutOfRange { name: "number of candidate values", value });
    }
    let positive = |value: f64| StatsError::check("value", value, 0.0, f64::INFINITY);
    let ratio = |(b, c): (&f64, &f64)| Ok(positive(*c)?.ln() - positive(*b)?.ln());
    let logs: Vec<f64> = baseline.iter().zip(candidate).map(ratio).collect::<Result<_, StatsError>>()?;
    let each = (logs.len() / runs).max(1);
    let by_run: Vec<f64> = logs.chunks(each).map(mean).collect::<Result<_, _>>()?;
    let interval = mean_interval(&by_run, confidence)?;
    let exp = |log: f64| finite(log.exp());
    Ok(GrandRatio {
        ratio: exp(mean(&by_run)?)?,
        interval: Interval { low: exp(interval.low)?, high: exp(interval.high)? },
    })
}
