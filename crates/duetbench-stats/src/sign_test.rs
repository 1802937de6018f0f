//! The sign test.

use statrs::function::beta::beta_reg;

use super::{StatsError, sorted};

/// Two-sided p-value of positive and negative differences being equally likely.
///
/// With `n` differences that are not 0, `k` of the rarer sign: `p = 2 P(Bin(n, 1/2) <= k)`, at most 1. Source: Arbuthnot, Philosophical
/// Transactions 27 (1710); exact. Assumes independent differences and nothing of their distribution. Sees signs only, so it
/// needs many: below eight differences no p-value reaches 1 %.
///
/// # Errors
/// Without differences, or with one that is not finite.
///
/// ```
/// # use duetbench_stats::sign_test_p;
/// // One of eight is negative: 2 (1 + 8) / 2^8.
/// let p = sign_test_p(&[0.3, 0.1, -0.2, 0.5, 0.1, 0.4, 0.0, 0.2, 0.6]).unwrap();
/// assert!((p - 18.0 / 256.0).abs() < 1e-14);
/// ```
pub fn sign_test_p(differences: &[f64]) -> Result<f64, StatsError> {
    let ascending = sorted(differences, 1)?;
    let negative = ascending.iter().filter(|d| **d < 0.0).count();
    let positive = ascending.iter().filter(|d| **d > 0.0).count();
    let (rarer, n) = (negative.min(positive) as f64, (negative + positive) as f64);
    if 2.0 * rarer >= n {
        return Ok(1.0); // As many of one sign as of the other, or none at all.
    }
    // P(Bin(n, 1/2) <= k) is this incomplete beta function (Abramowitz and Stegun 26.5.24).
    Ok((2.0 * beta_reg(n - rarer, rarer + 1.0, 0.5)).min(1.0))
}
