//! Dunn's test: which of several groups differ.

use duetbench_core::stats::StatsError;
use statrs::distribution::{ContinuousCDF, Normal};

use super::ranks_of_groups;

/// Two of the groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DunnPair {
    /// Index of the one group.
    pub first: usize,
    /// Index of the other, a larger one.
    pub second: usize,
    /// Difference between their mean ranks, first less second, in standard errors.
    pub z: f64,
    /// Two-sided p-value, not adjusted for there being several pairs.
    pub p_value: f64,
}

/// Compares all pairs of groups by the ranks that their values have among those of all groups.
///
/// With the notation of [`kruskal_wallis`](super::kruskal_wallis):
/// `z = (r_i − r_j) / sqrt((N (N + 1) / 12 − Σ (t³ − t) / (12 (N − 1))) (1 / n_i + 1 / n_j))`, referred to the normal distribution.
/// Source: Dunn, Technometrics 6 (1964). Assumes independent values. For p-values of a family of pairs see
/// [`bonferroni_p_values`](super::bonferroni_p_values), which is what Dunn proposed, and [`holm_p_values`](super::holm_p_values).
///
/// # Errors
/// With fewer than two groups, an empty group, or a value that is not finite.
///
/// ```
/// # use duetbench_study::statistics::dunn;
/// // Mean ranks 1.5 and 5.5 of six values without ties: z = -4 / sqrt(42 / 12 * 1).
/// let pairs = dunn(&[vec![1.0, 2.0], vec![3.0, 4.0], vec![5.0, 6.0]]).unwrap();
/// assert_eq!((pairs.len(), pairs[1].first, pairs[1].second), (3, 0, 2));
/// assert!((pairs[1].z + 4.0 / 3.5f64.sqrt()).abs() < 1e-12);
/// ```
pub fn dunn(groups: &[Vec<f64>]) -> Result<Vec<DunnPair>, StatsError> {
    let (ranked, ties) = ranks_of_groups(groups)?;
    let n = ranked.iter().map(Vec::len).sum::<usize>() as f64;
    let variance = n * (n + 1.0) / 12.0 - ties / (12.0 * (n - 1.0));
    let of: Vec<(f64, f64)> = ranked
        .iter()
        .map(|ranks| (ranks.iter().sum::<f64>() / ranks.len() as f64, (ranks.len() as f64).recip()))
        .collect();
    let pair = |first: usize, second: usize| {
        let apart = of[first].0 - of[second].0;
        // Without any variance all values are equal, and so are all mean ranks.
        let z = if variance > 0.0 { apart / (variance * (of[first].1 + of[second].1)).sqrt() } else { 0.0 };
        DunnPair { first, second, z, p_value: 2.0 * Normal::standard().cdf(-z.abs()) }
    };
    Ok((0..of.len()).flat_map(|i| (i + 1..of.len()).map(move |j| (i, j))).map(|(i, j)| pair(i, j)).collect())
}
