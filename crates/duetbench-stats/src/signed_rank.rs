//! The signed-rank test.

use statrs::distribution::{ContinuousCDF, Normal};

use super::StatsError;
use super::ranks::ranks;

/// Most differences for which the exact distribution is worked out.
const EXACT_MAX: usize = 50;

/// Two-sided p-value of differences being distributed symmetrically around 0.
///
/// The sum of the ranks that the absolute values of the positive differences have: exact for at most 50 differences without ties
/// and zeros, else the normal approximation with correction for ties and continuity; zeros are left out. Source: Wilcoxon,
/// Biometrics Bulletin 1 (1945); the variance with ties, Cureton, Journal of the American Statistical Association 62 (1967). Assumes
/// independent differences of symmetric distributions. Below eight differences no p-value reaches 1 %.
///
/// # Errors
/// Without differences, or with one that is not finite.
///
/// ```
/// # use duetbench_stats::signed_rank_p;
/// // Ranks 2, 3, 4, 5, 6 against 1: of 2^6 sums of ranks, 0 and 1 are as small.
/// let p = signed_rank_p(&[0.3, -0.1, 0.2, 0.5, 0.4, 0.6]).unwrap();
/// assert!((p - 2.0 * 2.0 / 64.0).abs() < 1e-15);
/// ```
pub fn signed_rank_p(differences: &[f64]) -> Result<f64, StatsError> {
    if differences.is_empty() {
        return Err(StatsError::TooFew { have: 0, needed: 1 });
    }
    if !differences.iter().all(|d| d.is_finite()) {
        return Err(StatsError::NotFinite);
    }
    let left: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    let sizes: Vec<f64> = left.iter().map(|d| d.abs()).collect();
    let ranked = ranks(&sizes)?;
    let positive: f64 = left.iter().zip(&ranked.of).filter(|(d, _)| **d > 0.0).map(|(_, rank)| rank).sum();
    let n = left.len() as f64;
    let smaller = positive.min(n * (n + 1.0) / 2.0 - positive);
    if left.len() == differences.len() && left.len() <= EXACT_MAX && ranked.ties == 0.0 {
        let tail: f64 = null_probabilities(left.len())[..=smaller as usize].iter().sum();
        return Ok((2.0 * tail).min(1.0));
    }
    let variance = (n * (n + 1.0) * (2.0 * n + 1.0) - ranked.ties / 2.0) / 24.0;
    if variance <= 0.0 {
        return Ok(1.0); // All differences are 0.
    }
    let z = (smaller - n * (n + 1.0) / 4.0 + 0.5) / variance.sqrt();
    Ok((2.0 * Normal::standard().cdf(z)).min(1.0))
}

/// A signed-rank test with the sums that it compares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedRank {
    /// Sum of the ranks of the positive differences.
    pub positive: f64,
    /// Sum of the ranks of the negative ones.
    pub negative: f64,
    /// Two-sided p-value.
    pub p_value: f64,
}

/// The same test, exact also where sizes are equal or some differences are 0.
///
/// Zeros are left out; equal sizes share the mean of their ranks. The p-value is twice the share of the `2^n` ways of giving signs to
/// these very ranks of which the smaller sum is as small, at most 1: the permutation distribution given the sizes. Source: Wilcoxon, Biometrics
/// Bulletin 1 (1945); given ties, Pratt and Gibbons, Concepts of Nonparametric Theory (1981), chapter 3. Assumes that under
/// equality either sign of each difference is as likely as the other, independently; that is so where both sides of a pair are
/// drawn alike. Beyond 50 differences the approximation of [`signed_rank_p`] is used.
///
/// # Errors
/// Without differences, or with one that is not finite.
///
/// ```
/// # use duetbench_stats::signed_rank_exact;
/// // Ranks 1.5, 1.5, 3, 4, and one zero; 0 and 1.5 (in two ways) are as small, of 2^4 sums.
/// let test = signed_rank_exact(&[2.0, -2.0, 0.0, 5.0, 7.0]).unwrap();
/// assert_eq!((test.positive, test.negative), (8.5, 1.5));
/// assert!((test.p_value - 2.0 * 3.0 / 16.0).abs() < 1e-15);
/// ```
pub fn signed_rank_exact(differences: &[f64]) -> Result<SignedRank, StatsError> {
    let approximate = signed_rank_p(differences)?;
    let left: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    let ranked = ranks(&left.iter().map(|d| d.abs()).collect::<Vec<_>>())?.of;
    let positive: f64 = left.iter().zip(&ranked).filter(|(d, _)| **d > 0.0).map(|(_, rank)| rank).sum();
    let negative = ranked.iter().sum::<f64>() - positive;
    if left.len() > EXACT_MAX {
        return Ok(SignedRank { positive, negative, p_value: approximate });
    }
    // Ranks are whole or half, so that twice a rank can be counted with.
    let twice = ranked.iter().map(|rank| (2.0 * rank) as usize);
    let smaller = (2.0 * positive.min(negative)) as usize;
    let tail: f64 = sum_probabilities(twice)[..=smaller].iter().sum();
    Ok(SignedRank { positive, negative, p_value: (2.0 * tail).min(1.0) })
}

/// Probability of every sum of the ranks 1 to n, each of which is in it with probability one half.
fn null_probabilities(n: usize) -> Vec<f64> {
    sum_probabilities(1..=n)
}

/// Probability of every sum of these numbers, each of which is in it with probability one half.
fn sum_probabilities(ranks: impl Iterator<Item = usize>) -> Vec<f64> {
    let mut probabilities = vec![1.0];
    for rank in ranks {
        let mut next = vec![0.0; probabilities.len() + rank];
        for (sum, p) in probabilities.iter().enumerate() {
            next[sum] += p / 2.0;
            next[sum + rank] += p / 2.0;
        }
        probabilities = next;
    }
    probabilities
}
