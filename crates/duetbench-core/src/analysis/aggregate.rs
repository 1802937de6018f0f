//! The fork's two numbers.
//!
//! A fork lasts some hundred slices, and on a machine with neighbours some of them are disturbed: their times are doubled, or
//! hundredfold. The **typical** slice, the median of the log ratios of slices taken together, does not notice. But it also
//! does not notice what a benchmark really pays for in few slices, such as a collector that works more often. The **complete**
//! number sums all slices and notices everything, neighbours included. Which of the two is judged is decided in `basis`.

use crate::sample::Sample;
use crate::spec::defaults;
use crate::stats::{self, StatsError};

/// Time per invocation of every slice, nanoseconds.
pub(super) fn times(samples: &[Sample]) -> impl Iterator<Item = f64> + '_ {
    samples.iter().map(Sample::ns_per_op)
}

/// What the typical slice says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Typical {
    /// Logarithm of the ratio.
    pub(super) log_ratio: f64,
    /// Spread of the slices around it.
    pub(super) spread: f64,
}

/// What makes the median absolute deviation of normal values their standard deviation.
const MAD_TO_SD: f64 = 1.4826;

/// Logarithm of the ratio of the typical slice: the median over slices of the difference of logarithms.
///
/// `baseline` and `candidate` hold the same slices in the same order.
///
/// # Errors
/// Without slices, or with one that took no time.
pub(super) fn typical_paired(baseline: &[Sample], candidate: &[Sample]) -> Result<Typical, StatsError> {
    let logs: Vec<f64> = times(baseline).zip(times(candidate)).map(|(b, c)| (c / b).ln()).collect();
    let log_ratio = stats::median(&logs)?;
    Ok(Typical { log_ratio, spread: deviation(&logs, log_ratio)? })
}

/// The same for sides that were not measured together: the ratio of their medians. The spread is that of a difference of two
/// slices.
///
/// # Errors
/// As for [`typical_paired`].
pub(super) fn typical_alone(baseline: &[Sample], candidate: &[Sample]) -> Result<Typical, StatsError> {
    let of = |side: &[Sample]| {
        let log_median = stats::median(&times(side).collect::<Vec<_>>())?.ln();
        Ok((log_median, deviation(&times(side).map(f64::ln).collect::<Vec<_>>(), log_median)?))
    };
    let ((b, b_spread), (c, c_spread)) = (of(baseline)?, of(candidate)?);
    Ok(Typical { log_ratio: c - b, spread: b_spread.hypot(c_spread) })
}

fn deviation(values: &[f64], centre: f64) -> Result<f64, StatsError> {
    let deviations: Vec<f64> = values.iter().map(|v| (v - centre).abs()).collect();
    Ok(MAD_TO_SD * stats::median(&deviations)?)
}

/// Logarithm of the ratio of all slices summed, per invocation.
///
/// A slice counts at most as [`defaults::CLIP`] times its side's median (one-sided winsorising, Tukey 1962), so that one
/// interruption of some milliseconds does not outweigh a whole fork.
///
/// # Errors
/// As for [`typical_paired`].
pub(super) fn complete(baseline: &[Sample], candidate: &[Sample]) -> Result<f64, StatsError> {
    Ok((clipped_mean(candidate)? / clipped_mean(baseline)?).ln())
}

fn clipped_mean(side: &[Sample]) -> Result<f64, StatsError> {
    let limit = defaults::CLIP * stats::median(&times(side).collect::<Vec<_>>())?;
    let invocations: f64 = side.iter().map(|s| s.invocations as f64).sum();
    let total: f64 = side.iter().zip(times(side)).map(|(s, ns)| s.invocations as f64 * ns.min(limit)).sum();
    Ok(total / invocations)
}
