//! Two samples of times, from the numbers to a verdict.
//!
//! Everything is computed on logarithms, so that twice as slow and twice as fast are equally far from no change, and so that it
//! does not matter in which unit times are given (Fleming and Wallace, Communications of the ACM 29, 1986).

use super::estimator::{Estimator, TrimmedMean};
use super::two_sides::{Pairs, TwoSamples};
use super::{Interval, StatsError, finite};

/// Times of a base and a head, ready to be compared.
///
/// ```
/// use duetbench_stats::{Comparison, Threshold, Verdict};
///
/// // Six pairs of processes; SciPy's `ttest_rel` of the logarithms has the same interval.
/// let base = [10.1, 10.3, 9.9, 10.2, 10.0, 10.4];
/// let head = [10.6, 10.9, 10.4, 10.8, 10.5, 11.0];
/// let estimate = Comparison::paired(&base, &head)?.estimate(0.99)?;
/// assert!((estimate.ratio() - 1.054_121_544_5).abs() < 1e-9);
/// assert!((estimate.interval().low - 1.046_665_909_9).abs() < 1e-9);
/// assert!((estimate.interval().high - 1.061_630_287_2).abs() < 1e-9);
/// assert_eq!(estimate.judge(Threshold::percent(2.0)?), Verdict::Slower);
/// assert_eq!(estimate.judge(Threshold::percent(10.0)?), Verdict::NoChange);
/// # Ok::<(), duetbench_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison<S = Pairs> {
    sample: S,
}

impl Comparison<Pairs> {
    /// Compares times of which those at the same place were measured together, so that disturbances of both cancel.
    ///
    /// Source: Bulej et al., Duet benchmarking, ICPE (2020). Give one number for each process or machine, whatever was drawn
    /// independently: many times of one process make intervals that are far too narrow.
    ///
    /// # Errors
    /// With lengths that differ, with fewer than three pairs, and with a time that is not finite or not positive.
    pub fn paired(base: &[f64], head: &[f64]) -> Result<Comparison<Pairs>, StatsError> {
        Ok(Comparison { sample: Pairs::of(base, head)? })
    }
}

impl Comparison<TwoSamples> {
    /// Compares times of two samples that have nothing in common; they may differ in number.
    ///
    /// Source: Welch, Biometrika 34 (1947). Misleads where the two were measured one after the other and the machine changed
    /// meanwhile, which no formula can tell from a change of the code.
    ///
    /// # Errors
    /// With fewer than three values on a side, and with a time that is not finite or not positive.
    ///
    /// ```
    /// use duetbench_stats::{Comparison, Threshold, Verdict, Welch};
    ///
    /// // SciPy's `ttest_ind` of the logarithms, of unequal variances, has the same interval.
    /// let comparison = Comparison::unpaired(&[10.1, 10.3, 9.9, 10.2], &[10.6, 10.9, 10.4, 10.8, 10.5])?;
    /// let estimate = comparison.estimate_by(&Welch, 0.95)?;
    /// assert!((estimate.interval().low - 1.021_000_882_7).abs() < 1e-9);
    /// assert!((estimate.interval().high - 1.081_504_679_3).abs() < 1e-9);
    /// assert_eq!(estimate.judge(Threshold::percent(5.0)?), Verdict::Open);
    /// # Ok::<(), duetbench_stats::StatsError>(())
    /// ```
    pub fn unpaired(base: &[f64], head: &[f64]) -> Result<Comparison<TwoSamples>, StatsError> {
        Ok(Comparison { sample: TwoSamples::of(base, head)? })
    }
}

impl<S> Comparison<S> {
    /// The ratio with its interval of this confidence, a fraction between 0 and 1, by [`TrimmedMean`].
    ///
    /// # Errors
    /// When the confidence lies elsewhere, and when the ratio overflows.
    pub fn estimate(&self, confidence: f64) -> Result<Estimate, StatsError>
    where
        TrimmedMean: Estimator<S>,
    {
        self.estimate_by(&TrimmedMean, confidence)
    }

    /// The same by a method of choice.
    ///
    /// # Errors
    /// As [`Comparison::estimate`], and when the method has no answer.
    pub fn estimate_by(&self, estimator: &dyn Estimator<S>, confidence: f64) -> Result<Estimate, StatsError> {
        StatsError::check("confidence", confidence, 0.0, 1.0)?;
        let log_ratio = estimator.estimate(&self.sample, confidence)?;
        let Interval { low, high } = log_ratio.interval;
        Ok(Estimate {
            ratio: finite(log_ratio.centre.exp())?,
            interval: Interval { low: low.exp(), high: high.exp() },
            confidence,
            method: estimator.name(),
        })
    }
}

/// The ratio head to base with its interval; over 1 the head is slower.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    ratio: f64,
    interval: Interval,
    confidence: f64,
    method: &'static str,
}

impl Estimate {
    /// Head to base: a ratio of geometric means, trimmed where the method trims.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.ratio
    }

    /// Interval of the ratio; without a bound its ends are 0 and infinity.
    #[must_use]
    pub fn interval(&self) -> Interval {
        self.interval
    }

    /// Confidence of the interval, a fraction.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        self.confidence
    }

    /// Name of the [`Estimator`].
    #[must_use]
    pub fn method(&self) -> &'static str {
        self.method
    }

    /// The side of the threshold on which the whole interval `[L, U]` lies.
    ///
    /// With `delta` the threshold: slower when `L > 1 + delta`, faster when `U < 1 / (1 + delta)`, no change when
    /// `1 / (1 + delta) < L` and `U < 1 + delta`, else open. Each answer is wrong with probability at most half of
    /// `1 - confidence`, as far as the interval covers the ratio as often as it says: two one-sided tests (Schuirmann, Journal of
    /// Pharmacokinetics and Biopharmaceutics 15, 1987), so an interval of 90 % tests at 5 %. This is the boundary by which `duet` judges, in section 6 of its
    /// [statistics](https://github.com/duetbench/duetbench/blob/main/docs/statistics/06-verdicts.md); there a change must also be
    /// significant within its suite, and one that is real but below the threshold has a name of its own.
    ///
    /// Misleads when times are added until the answer pleases: for that there is [`Sequential`](super::Sequential).
    #[must_use]
    pub fn judge(&self, threshold: Threshold) -> Verdict {
        let most = 1.0 + threshold.fraction;
        let Interval { low, high } = self.interval;
        if low > most {
            Verdict::Slower
        } else if high < 1.0 / most {
            Verdict::Faster
        } else if 1.0 / most < low && high < most {
            Verdict::NoChange
        } else {
            Verdict::Open
        }
    }
}

/// The smallest change that matters: a policy, and no statistic.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Threshold {
    fraction: f64,
}

impl Threshold {
    /// So many percent slower, or as many times faster.
    ///
    /// # Errors
    /// When it is negative or not finite.
    pub fn percent(percent: f64) -> Result<Threshold, StatsError> {
        Threshold::fraction(percent / 100.0)
    }

    /// The same as a fraction: 0.02 are two percent.
    ///
    /// # Errors
    /// When it is negative or not finite.
    pub fn fraction(fraction: f64) -> Result<Threshold, StatsError> {
        if fraction >= 0.0 && fraction.is_finite() {
            Ok(Threshold { fraction })
        } else {
            Err(StatsError::OutOfRange { name: "threshold", value: fraction })
        }
    }
}

/// The answer to a comparison. *No change* and *don't know* are different answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The head is slower by more than the threshold.
    Slower,
    /// The head is faster by more than the threshold.
    Faster,
    /// There is no change as large as the threshold.
    NoChange,
    /// The interval lies on both sides of the threshold: more values may tell.
    Open,
}
