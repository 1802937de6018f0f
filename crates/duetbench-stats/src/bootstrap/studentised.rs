//! Studentised (bootstrap-t) interval of the mean.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::enumeration::{MOST, Resample, interval_of_atoms, resamples};
use super::interval::{Interval, tail_of};
use super::mean::{Moments, normal_quantile};
use super::self_normalised::Saddlepoint;
use crate::StatsError;

/// Resamples drawn where nothing better is known.
const DRAWS: usize = 10_000;
/// Skewness of the mean up to which the saddlepoint approximation is trusted.
const MOST_SKEW: f64 = 0.5;

/// The studentised bootstrap interval of the mean; a resample without spread counts as infinitely far off.
///
/// With `m`, `s` of the sample and `m*`, `s*` of a resample, `t* = sqrt(n) (m* - m) / s*`, and the interval is
/// `[m - t_high s / sqrt(n), m - t_low s / sqrt(n)]` with the quantiles of `t*` that leave out the tails (Efron, The jackknife, the
/// bootstrap and other resampling plans, 1982, section 10.10). It is the same whether `s` and `s*` have the divisor `n` or
/// `n - 1`.
///
/// Up to eight values all different resamples are enumerated. More go through a saddlepoint approximation, and where that is
/// not to be trusted (skewness of the mean beyond 0.5, one value taking most of the sample, no convergence) through 10,000
/// resamples from a fixed seed. Of three values there is no bound at 99 %, of four one at most.
///
/// # Errors
/// With fewer than two values, with a value that is not finite, on overflow, or with a confidence that is not strictly between
/// 0 and 1.
///
/// ```
/// # use duetbench_stats::studentised_interval;
/// let interval = studentised_interval(&[1.0, 2.0, 4.0], 0.99).unwrap();
/// assert_eq!((interval.low, interval.high), (f64::NEG_INFINITY, f64::INFINITY));
/// ```
pub fn studentised_interval(values: &[f64], confidence: f64) -> Result<Interval, StatsError> {
    studentised_interval_with(values, confidence, 0.0)
}

/// [`studentised_interval`] with a standard deviation, in the unit of the values, for resamples whose values are all the same. With 0 their t
/// is infinite, of the sign of the numerator: such a resample says that the mean lies nowhere near. If more of them than the tail holds lie
/// on one side, the interval has no bound there.
///
/// # Errors
/// As [`studentised_interval`].
pub fn studentised_interval_with(values: &[f64], confidence: f64, no_spread: f64) -> Result<Interval, StatsError> {
    let tail = tail_of(confidence)?;
    if values.len() < 2 {
        return Err(StatsError::TooFew { have: values.len(), needed: 2 });
    }
    let moments = Moments::of(values)?;
    if moments.sd == 0.0 {
        return Ok(Interval::of_one(moments.mean));
    }
    let sample = Standardised::of(values, &moments, no_spread);
    let t = if values.len() <= MOST {
        interval_of_atoms(&mut sample.enumerated(), tail)
    } else {
        match sample.by_saddlepoint(&moments, tail)? {
            Some(t) => t,
            None => interval_of_atoms(&mut sample.drawn(), tail),
        }
    };
    let end = |t: f64| moments.mean - t * moments.sd;
    if t.low.is_nan() || t.high.is_nan() {
        return Err(StatsError::NotFinite);
    }
    Ok(Interval { low: end(t.high), high: end(t.low) })
}

/// A sample with mean 0 and standard deviation 1. Its t statistics are kept without their factor `sqrt(n)`.
struct Standardised {
    values: Vec<f64>,
    /// Standard deviation, in the same measure, of a resample without any.
    no_spread: f64,
}

impl Standardised {
    fn of(values: &[f64], moments: &Moments, no_spread: f64) -> Standardised {
        let mut values: Vec<f64> = values.iter().map(|v| (v - moments.mean) / moments.sd).collect();
        // The draws depend neither on the order of values nor on the direction in which they are counted.
        values.sort_by(|a, b| if moments.skew < 0.0 { b.total_cmp(a) } else { a.total_cmp(b) });
        Standardised { values, no_spread: no_spread / moments.sd }
    }

    /// The t of every different resample, with its share.
    fn enumerated(&self) -> Vec<(f64, f64)> {
        resamples(self.values.len()).iter().map(|resample| (self.t_of(resample), resample.share)).collect()
    }

    fn t_of(&self, resample: &Resample) -> f64 {
        let drawn = || self.values.iter().zip(resample.counts).filter(|(_, count)| *count > 0);
        let n = self.values.len() as f64;
        let mean = drawn().map(|(v, count)| v * f64::from(count)).sum::<f64>() / n;
        let square = drawn().map(|(v, count)| (v - mean).powi(2) * f64::from(count)).sum::<f64>() / n;
        let first = drawn().next().map(|(v, _)| *v);
        self.t(mean, if drawn().all(|(v, _)| Some(*v) == first) { 0.0 } else { square })
    }

    /// From mean and variance of a resample.
    fn t(&self, mean: f64, variance: f64) -> f64 {
        let deviation = if variance == 0.0 { self.no_spread } else { variance.sqrt() };
        // Rounding keeps the sample's own mean from being exactly 0.
        if mean.abs() < 1e-12 { 0.0 } else { mean / deviation }
    }

    /// The t of resamples that are drawn from a fixed seed, each with the same share.
    fn drawn(&self) -> Vec<(f64, f64)> {
        let n = self.values.len();
        let mut random = ChaCha8Rng::seed_from_u64(n as u64);
        let mut draw = || {
            let first = self.values[random.random_range(0..n)];
            // Sums of differences from the first draw: without spread they are 0 to the last digit.
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 1..n {
                let difference = self.values[random.random_range(0..n)] - first;
                sum += difference;
                squares += difference * difference;
            }
            let mean = sum / n as f64;
            (self.t(first + mean, (squares / n as f64 - mean * mean).max(0.0)), 1.0 / DRAWS as f64)
        };
        (0..DRAWS).map(|_| draw()).collect()
    }

    /// The quantiles of t by the saddlepoint approximation, where it holds.
    fn by_saddlepoint(&self, moments: &Moments, tail: f64) -> Result<Option<Interval>, StatsError> {
        let n = self.values.len() as f64;
        if moments.skew.abs() > MOST_SKEW * n.sqrt() || self.share_without_spread() > tail / 100.0 {
            return Ok(None);
        }
        let (saddlepoint, z) = (Saddlepoint::of(&self.values), normal_quantile(tail)?);
        let ends = (saddlepoint.quantile(z), saddlepoint.quantile(-z));
        Ok(match ends {
            (Some(low), Some(high)) if low < high => Some(Interval { low, high }),
            _ => None,
        })
    }

    /// The share of resamples that draw the most frequent value only.
    fn share_without_spread(&self) -> f64 {
        let most = self.values.chunk_by(|a, b| a == b).map(<[f64]>::len).max().unwrap_or(0);
        let n = self.values.len();
        (most as f64 / n as f64).powf(n as f64)
    }
}
