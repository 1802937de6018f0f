//! The Kruskal-Wallis H test.

use duetbench_core::stats::StatsError;
use statrs::function::gamma::checked_gamma_ur;

use super::ranks_of_groups;

/// Result of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KruskalWallis {
    /// The statistic H, corrected for ties.
    pub statistic: f64,
    /// Groups, less one.
    pub degrees_of_freedom: usize,
    /// Probability of as large a statistic when all groups have the same distribution.
    pub p_value: f64,
}

/// Tests whether independent groups of values have the same distribution.
///
/// With `N` values, `n_i` of them in group `i` with mean rank `r_i`, and groups of `t` equal values:
/// `H = 12 / (N (N + 1)) Σ n_i (r_i − (N + 1) / 2)² / (1 − Σ (t³ − t) / (N³ − N))`, referred to χ² with one degree of freedom
/// less than there are groups. Source: Kruskal and Wallis, Journal of the American Statistical Association 47 (1952). Assumes
/// independent values; χ² is an approximation that wants at least five values in each group.
///
/// # Errors
/// With fewer than two groups, an empty group, or a value that is not finite.
///
/// ```
/// # use duetbench_study::statistics::kruskal_wallis;
/// // Mean ranks 1.5, 3.5, 5.5 around 3.5: H = 12 / 42 * 2 * (4 + 0 + 4) = 32/7, p = exp(-16/7).
/// let test = kruskal_wallis(&[vec![1.0, 2.0], vec![3.0, 4.0], vec![5.0, 6.0]]).unwrap();
/// assert!((test.statistic - 32.0 / 7.0).abs() < 1e-12 && test.degrees_of_freedom == 2);
/// assert!((test.p_value - (-16.0 / 7.0f64).exp()).abs() < 1e-12);
/// ```
pub fn kruskal_wallis(groups: &[Vec<f64>]) -> Result<KruskalWallis, StatsError> {
    let (ranked, ties) = ranks_of_groups(groups)?;
    let degrees_of_freedom = groups.len() - 1;
    let n = ranked.iter().map(Vec::len).sum::<usize>() as f64;
    let spread = 1.0 - ties / (n.powi(3) - n);
    if spread <= 0.0 {
        // All values are equal.
        return Ok(KruskalWallis { statistic: 0.0, degrees_of_freedom, p_value: 1.0 });
    }
    let centre = (n + 1.0) / 2.0;
    let apart = |ranks: &Vec<f64>| {
        let size = ranks.len() as f64;
        size * (ranks.iter().sum::<f64>() / size - centre).powi(2)
    };
    let statistic = 12.0 / (n * (n + 1.0)) * ranked.iter().map(apart).sum::<f64>() / spread;
    Ok(KruskalWallis { statistic, degrees_of_freedom, p_value: chi_square_tail(statistic, degrees_of_freedom) })
}

/// Probability that a χ² variable lies above `x`.
fn chi_square_tail(x: f64, degrees_of_freedom: usize) -> f64 {
    // The function is not defined at 0, where all of the distribution lies above.
    if x > 0.0 { checked_gamma_ur(degrees_of_freedom as f64 / 2.0, x / 2.0).unwrap_or(0.0) } else { 1.0 }
}
