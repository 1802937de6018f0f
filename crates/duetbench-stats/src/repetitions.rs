//! Best number of repetitions at each level.

use super::StatsError;

/// Number of inner repetitions for each outer one that makes the mean most precise for the time it takes.
///
/// With variances `v_o` and `v_i` of the outer and the inner level and costs `c_o` and `c_i` of one more repetition of each, it is
/// `sqrt(v_i / v_o * c_o / c_i)`, rounded, and at least 1. Source: Kalibera and Jones, Rigorous Benchmarking in Reasonable Time,
/// ISMM 2013, section 6 (they round up; the nearest whole number is nearer to the optimum). How many outer repetitions there
/// should be then depends on the precision that is wanted.
///
/// # Errors
/// When a variance or the inner cost is not positive, or the outer cost negative.
///
/// ```
/// # use duetbench_stats::repetitions;
/// // The outer level varies half as much as the inner one, and costs eight times as much.
/// assert_eq!(repetitions((1.0, 2.0), (8.0, 1.0)), Ok(4));
/// assert_eq!(repetitions((1.0, 0.01), (1.0, 1.0)), Ok(1));
/// ```
pub fn repetitions((v_outer, v_inner): (f64, f64), (c_outer, c_inner): (f64, f64)) -> Result<u32, StatsError> {
    StatsError::check("outer variance", v_outer, 0.0, f64::INFINITY)?;
    StatsError::check("inner variance", v_inner, 0.0, f64::INFINITY)?;
    StatsError::check("inner cost", c_inner, 0.0, f64::INFINITY)?;
    StatsError::check("outer cost", c_outer, -f64::MIN_POSITIVE, f64::INFINITY)?;
    // Saturates, as float conversions do.
    Ok((v_inner / v_outer * c_outer / c_inner).sqrt().round().max(1.0) as u32)
}
