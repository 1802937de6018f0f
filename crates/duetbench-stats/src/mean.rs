//! Arithmetic mean, plain and trimmed.

use super::{StatsError, finite, sorted};

/// Arithmetic mean.
///
/// # Errors
/// Without values, with a value that is not finite, or on overflow.
///
/// ```
/// # use duetbench_stats::mean;
/// assert_eq!(mean(&[1.0, 2.0, 6.0]), Ok(3.0));
/// ```
pub fn mean(values: &[f64]) -> Result<f64, StatsError> {
    trimmed_mean(values, 0)
}

/// Mean of what is left when the `per_side` smallest and the `per_side` largest values are taken away.
///
/// Source: Tukey and McLaughlin, Sankhyā A 25 (1963). Estimates the mean of a symmetric distribution; of a skewed one it
/// estimates something between mean and median.
///
/// # Errors
/// When nothing is left, with a value that is not finite, or on overflow.
///
/// ```
/// # use duetbench_stats::trimmed_mean;
/// assert_eq!(trimmed_mean(&[900.0, 1.0, 2.0, 3.0, -50.0], 1), Ok(2.0));
/// ```
pub fn trimmed_mean(values: &[f64], per_side: usize) -> Result<f64, StatsError> {
    let needed = per_side.saturating_mul(2).saturating_add(1);
    let ascending = sorted(values, needed)?;
    let kept = &ascending[per_side..ascending.len() - per_side];
    finite(kept.iter().sum::<f64>() / kept.len() as f64)
}
