//! Median.

use super::{StatsError, sorted};

/// The middle value, or the midpoint of the middle two.
///
/// # Errors
/// Without values, or with a value that is not finite.
///
/// ```
/// # use duetbench_stats::median;
/// assert_eq!(median(&[8.0, 1.0, 2.0]), Ok(2.0));
/// assert_eq!(median(&[8.0, 1.0, 4.0, 2.0]), Ok(3.0));
/// ```
pub fn median(values: &[f64]) -> Result<f64, StatsError> {
    let ascending = sorted(values, 1)?;
    let (lower, upper) = (ascending[(ascending.len() - 1) / 2], ascending[ascending.len() / 2]);
    Ok(lower.midpoint(upper))
}
