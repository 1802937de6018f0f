//! Ways from logarithms of times to an interval for the ratio.

use super::two_sides::{Pairs, TwoSamples};
use super::{Interval, StatsError, mean, studentised_interval, trimmed_t, welch_t, yuen_welch_t};

/// A logarithm of the ratio head to base, with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogRatio {
    /// The estimate itself.
    pub centre: f64,
    /// Its interval; an end may be infinite.
    pub interval: Interval,
}

/// A method that estimates the ratio from a sample of this kind, [`Pairs`] or [`TwoSamples`].
///
/// ```
/// use duetbench_stats::{Comparison, Estimator, Interval, LogRatio, Pairs, StatsError, median, median_interval};
///
/// struct Median;
///
/// impl Estimator<Pairs> for Median {
///     fn name(&self) -> &'static str {
///         "median, bootstrap percentiles"
///     }
///
///     fn estimate(&self, pairs: &Pairs, confidence: f64) -> Result<LogRatio, StatsError> {
///         let interval = median_interval(pairs.log_ratios(), confidence)?;
///         Ok(LogRatio { centre: median(pairs.log_ratios())?, interval })
///     }
/// }
///
/// let comparison = Comparison::paired(&[1.0, 1.0, 1.0], &[1.1, 1.3, 1.2])?;
/// assert!((comparison.estimate_by(&Median, 0.95)?.ratio() - 1.2).abs() < 1e-12);
/// # Ok::<(), StatsError>(())
/// ```
pub trait Estimator<S> {
    /// Words for a report.
    fn name(&self) -> &'static str;

    /// The logarithm of the ratio with its interval of this confidence, a fraction between 0 and 1.
    ///
    /// # Errors
    /// When the method has no answer for this sample or this confidence.
    fn estimate(&self, sample: &S, confidence: f64) -> Result<LogRatio, StatsError>;
}

/// Student's t on a trimmed mean: of pairs [`trimmed_t`], of two samples [`yuen_welch_t`].
///
/// Source: Tukey and McLaughlin, Sankhyā A 25 (1963); Yuen, Biometrika 61 (1974). Below ten values nothing is trimmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TrimmedMean;

impl Estimator<Pairs> for TrimmedMean {
    fn name(&self) -> &'static str {
        "trimmed mean, Student's t"
    }

    fn estimate(&self, pairs: &Pairs, confidence: f64) -> Result<LogRatio, StatsError> {
        let t = trimmed_t(pairs.log_ratios())?;
        let (low, high) = t.interval(1.0 - confidence)?;
        Ok(LogRatio { centre: t.mean, interval: Interval { low, high } })
    }
}

impl Estimator<TwoSamples> for TrimmedMean {
    fn name(&self) -> &'static str {
        "trimmed means, Yuen's t"
    }

    fn estimate(&self, samples: &TwoSamples, confidence: f64) -> Result<LogRatio, StatsError> {
        let t = yuen_welch_t(samples.log_base(), samples.log_head())?;
        let (low, high) = t.interval(1.0 - confidence)?;
        Ok(LogRatio { centre: t.difference, interval: Interval { low, high } })
    }
}

/// Mean and [`studentised_interval`] of pairs: assumes no symmetry, and needs more pairs for a bound at all.
///
/// Source: Efron, The jackknife, the bootstrap and other resampling plans (1982), section 10.10.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StudentisedBootstrap;

impl Estimator<Pairs> for StudentisedBootstrap {
    fn name(&self) -> &'static str {
        "mean, studentised bootstrap"
    }

    fn estimate(&self, pairs: &Pairs, confidence: f64) -> Result<LogRatio, StatsError> {
        let interval = studentised_interval(pairs.log_ratios(), confidence)?;
        Ok(LogRatio { centre: mean(pairs.log_ratios())?, interval })
    }
}

/// Means of two samples by [`welch_t`], where nothing may be trimmed.
///
/// Source: Welch, Biometrika 34 (1947).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Welch;

impl Estimator<TwoSamples> for Welch {
    fn name(&self) -> &'static str {
        "means, Welch's t"
    }

    fn estimate(&self, samples: &TwoSamples, confidence: f64) -> Result<LogRatio, StatsError> {
        let t = welch_t(samples.log_base(), samples.log_head())?;
        let (low, high) = t.interval(1.0 - confidence)?;
        Ok(LogRatio { centre: t.difference, interval: Interval { low, high } })
    }
}
