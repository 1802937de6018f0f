//! Splits a spread into the parts of many nested levels.

use super::{StatsError, finite};

/// Variances of the levels of a balanced nested experiment, outermost first: that of the outermost units' true means around the
/// overall mean, of the next ones' around those, and so on to single values around the innermost mean.
///
/// `shape` holds the repetitions of each level, `values` the values in row-major order. With `ȳ_l` the means over everything inside
/// a unit of level `l` and `df_l = n_1 … n_(l−1) (n_l − 1)`:
/// `MS_l = n_(l+1) … n_L Σ (ȳ_l − ȳ_(l−1))² / df_l`, `σ_L² = MS_L`, else `σ_l² = (MS_l − MS_(l+1)) / (n_(l+1) … n_L)`, at least 0.
/// The mean of all values then has the variance `Σ σ_l² / (n_1 … n_l)`. Source: the analysis-of-variance estimators of Searle,
/// Casella and McCulloch, Variance Components (1992), section 3.5; for benchmarks Kalibera and Jones, ISMM 2013, section 6.
/// For two levels of unequal groups see [`variance_components`](super::variance_components).
///
/// # Errors
/// When the shape does not have as many places as there are values, a level has fewer than two repetitions, a value is not finite,
/// or on overflow.
///
/// ```
/// # use duetbench_core::stats::nested_variance_components;
/// // Group means 2, 5, 8; MS_1 = 18, MS_2 = 2.
/// let c = nested_variance_components(&[3, 2], &[1.0, 3.0, 4.0, 6.0, 7.0, 9.0]).unwrap();
/// assert_eq!(c, [8.0, 2.0]);
/// ```
pub fn nested_variance_components(shape: &[usize], values: &[f64]) -> Result<Vec<f64>, StatsError> {
    let places = shape.iter().try_fold(1_usize, |places, n| places.checked_mul(*n));
    if shape.is_empty() || places != Some(values.len()) {
        return Err(StatsError::TooFew { have: values.len(), needed: places.unwrap_or(usize::MAX) });
    }
    if let Some(&have) = shape.iter().find(|n| **n < 2) {
        return Err(StatsError::TooFew { have, needed: 2 });
    }
    if !values.iter().all(|v| v.is_finite()) {
        return Err(StatsError::NotFinite);
    }
    // Innermost first: the mean square of a level, and what the mean square of the level inside it was.
    let (mut means, mut inside, mut inner_square) = (values.to_vec(), 1.0, 0.0);
    let mut components = Vec::with_capacity(shape.len());
    for &n in shape.iter().rev() {
        let groups: Vec<f64> = means.chunks(n).map(|g| g.iter().sum::<f64>() / n as f64).collect();
        let squares: f64 =
            means.chunks(n).zip(&groups).map(|(g, mean)| g.iter().map(|v| (v - mean).powi(2)).sum::<f64>()).sum();
        let square = finite(inside * squares / (groups.len() * (n - 1)) as f64)?;
        components.push(((square - inner_square) / inside).max(0.0));
        (means, inside, inner_square) = (groups, inside * n as f64, square);
    }
    components.reverse();
    Ok(components)
}
