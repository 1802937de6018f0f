//! Best number of repetitions at each level.

use super::StatsError;

/// A level of repetition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Repetition {
    /// Variance between its repetitions.
    pub variance: f64,
    /// Cost of one more of them, in any unit that both levels share.
    pub cost: f64,
}

/// Number of inner repetitions for each outer one that makes the mean most precise for the time it takes.
///
/// With variances `v_o` and `v_i` of the outer and the inner level and costs `c_o` and `c_i` it is
/// `sqrt(v_i / v_o * c_o / c_i)`, rounded, and at least 1. Source: Kalibera and Jones, Rigorous Benchmarking in Reasonable Time,
/// ISMM 2013, section 6 (they round up; the nearest whole number is nearer to the optimum). How many outer repetitions there
/// should be then depends on the precision that is wanted.
///
/// # Errors
/// When a variance or the inner cost is not positive, or the outer cost negative.
///
/// ```
/// # use duetbench_stats::{Repetition, repetitions};
/// // The outer level varies half as much as the inner one, and costs eight times as much.
/// let (outer, inner) = (Repetition { variance: 1.0, cost: 8.0 }, Repetition { variance: 2.0, cost: 1.0 });
/// assert_eq!(repetitions(outer, inner), Ok(4));
/// let [outer, inner] = [1.0, 0.01].map(|variance| Repetition { variance, cost: 1.0 });
/// assert_eq!(repetitions(outer, inner), Ok(1));
/// ```
pub fn repetitions(outer: Repetition, inner: Repetition) -> Result<u32, StatsError> {
    StatsError::check("outer variance", outer.variance, 0.0, f64::INFINITY)?;
    StatsError::check("inner variance", inner.variance, 0.0, f64::INFINITY)?;
    StatsError::check("inner cost", inner.cost, 0.0, f64::INFINITY)?;
    StatsError::check("outer cost", outer.cost, -f64::MIN_POSITIVE, f64::INFINITY)?;
    // Saturates, as float conversions do.
    Ok((inner.variance / outer.variance * outer.cost / inner.cost).sqrt().round().max(1.0) as u32)
}
