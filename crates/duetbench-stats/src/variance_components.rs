//! Splits a spread into the parts of two levels.

use super::StatsError;

/// Variances of the two levels of a nested experiment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Components {
    /// Variance of the groups' true means around the overall mean.
    pub between: f64,
    /// Variance of single values around their group's mean.
    pub within: f64,
}

impl Components {
    /// Share of a single value's variance that its group explains; 0 without any variance.
    #[must_use]
    pub fn share_between(&self) -> f64 {
        let total = self.between + self.within;
        if total > 0.0 { self.between / total } else { 0.0 }
    }
}

/// Splits the variance of grouped values into that between and that within the groups, which may differ in size.
///
/// With `k` groups of `n_i` values, `N` in all, `within = MS_w`, `between = (MS_b - MS_w) / n_0` and at least 0,
/// `n_0 = (N - sum n_i^2 / N) / (k - 1)`. Source: the analysis-of-variance estimators of Searle, Casella and McCulloch, Variance
/// Components (1992), section 3.6; for benchmarks Kalibera and Jones, ISMM 2013, section 6.
///
/// # Errors
/// With fewer than two groups, without a group of two values, or with a value that is not finite.
///
/// ```
/// # use duetbench_stats::variance_components;
/// // Group means 2, 5, 8; MS_b = 18, MS_w = 2.
/// let c = variance_components(&[vec![1.0, 3.0], vec![4.0, 6.0], vec![7.0, 9.0]]).unwrap();
/// assert_eq!((c.within, c.between), (2.0, 8.0));
/// assert_eq!(c.share_between(), 0.8);
/// ```
pub fn variance_components(groups: &[Vec<f64>]) -> Result<Components, StatsError> {
    let groups: Vec<&[f64]> = groups.iter().map(Vec::as_slice).filter(|g| !g.is_empty()).collect();
    let n: f64 = groups.iter().map(|g| g.len() as f64).sum();
    let k = groups.len() as f64;
    if groups.len() < 2 || n - k < 1.0 {
        return Err(StatsError::TooFew { have: groups.len(), needed: 2 });
    }
    if !groups.iter().all(|g| g.iter().all(|v| v.is_finite())) {
        return Err(StatsError::NotFinite);
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let overall = groups.iter().map(|g| g.iter().sum::<f64>()).sum::<f64>() / n;
    let squares_between: f64 = groups.iter().map(|g| g.len() as f64 * (mean(g) - overall).powi(2)).sum();
    let squares_within: f64 = groups.iter().map(|g| g.iter().map(|v| (v - mean(g)).powi(2)).sum::<f64>()).sum();
    let (between, within) = (squares_between / (k - 1.0), squares_within / (n - k));
    let size = (n - groups.iter().map(|g| (g.len() as f64).powi(2)).sum::<f64>() / n) / (k - 1.0);
    Ok(Components { between: ((between - within) / size).max(0.0), within })
}
