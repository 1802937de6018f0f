//! The Mann-Whitney U test, as benchstat uses it: the yardstick of the usual procedure, not a method of ours.

use statrs::distribution::{ContinuousCDF, Normal};

use super::ranks::ranks;
use super::{StatsError, sorted};

/// Largest sample for which the exact distribution is worked out; beyond it, and with ties, the normal approximation serves.
const EXACT_MAX: usize = 50;

/// Two-sided p-value of the hypothesis that neither of two independent samples tends to larger values.
///
/// Mann and Whitney, Annals of Mathematical Statistics 18 (1947): exact by their recurrence for samples of at most 50 without
/// ties, else the normal approximation with correction for ties and continuity.
///
/// # Errors
/// When a sample is empty or has a value that is not finite.
///
/// ```
/// # use duetbench_core::stats::mann_whitney_p;
/// // Complete separation of five and five: 2 / C(10, 5).
/// let p = mann_whitney_p(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]).unwrap();
/// assert!((p - 2.0 / 252.0).abs() < 1e-15);
/// ```
pub fn mann_whitney_p(a: &[f64], b: &[f64]) -> Result<f64, StatsError> {
    let (a, b) = (sorted(a, 1)?, sorted(b, 1)?);
    let (n, m) = (a.len(), b.len());
    let wins = |x: f64| b.iter().map(|&y| if y < x { 1.0 } else { f64::from(u8::from(y == x)) / 2.0 }).sum::<f64>();
    let u: f64 = a.iter().map(|&x| wins(x)).sum();
    let smaller = u.min((n * m) as f64 - u);
    let ties = ranks(&[a, b].concat())?.ties;
    if ties == 0.0 && n.max(m) <= EXACT_MAX {
        // Without ties U is a whole number.
        let tail: f64 = null_probabilities(n, m)[..=smaller as usize].iter().sum();
        Ok((2.0 * tail).min(1.0))
    } else {
        approximate(smaller, (n as f64, m as f64), ties)
    }
}

fn approximate(smaller: f64, (n, m): (f64, f64), ties: f64) -> Result<f64, StatsError> {
    let all = n + m;
    let variance = n * m / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        return Ok(1.0); // All values are equal.
    }
    let z = (smaller - n * m / 2.0 + 0.5) / variance.sqrt();
    let normal = Normal::new(0.0, 1.0).map_err(|_| StatsError::NotFinite)?;
    Ok((2.0 * normal.cdf(z)).min(1.0))
}

/// Probability of every value of U, from 0 to n·m, when all orders are equally likely: the largest of all values belongs to
/// `a` with probability n/(n+m) and then beats all m of `b`.
fn null_probabilities(n: usize, m: usize) -> Vec<f64> {
    // rows[j] is the distribution for i values of a and j of b.
    let mut rows: Vec<Vec<f64>> = (0..=m).map(|_| vec![1.0]).collect();
    for i in 1..=n {
        let mut next: Vec<Vec<f64>> = vec![vec![1.0]];
        for j in 1..=m {
            let share = i as f64 / (i + j) as f64;
            let mut row = vec![0.0; i * j + 1];
            for (u, p) in rows[j].iter().enumerate() {
                row[u + j] += share * p;
            }
            for (u, p) in next[j - 1].iter().enumerate() {
                row[u] += (1.0 - share) * p;
            }
            next.push(row);
        }
        rows = next;
    }
    rows.swap_remove(m)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_scipy() {
        // scipy 1.17: stats.mannwhitneyu(a, b, method="exact" | "asymptotic").pvalue
        let a = [1.1, 2.3, 0.4, 5.6, 3.3, 2.9, 4.1];
        let b = [2.2, 6.1, 7.4, 3.9, 5.0, 8.8];
        assert!((mann_whitney_p(&a, &b).unwrap() - 0.073_426_573_426_573_42).abs() < 1e-14);
        let tied = [1.0, 2.0, 2.0, 3.0, 4.0];
        let other = [2.0, 3.0, 3.0, 5.0, 6.0, 6.0];
        assert!((mann_whitney_p(&tied, &other).unwrap() - 0.113_049_978_856_322_9).abs() < 1e-9);
    }

    #[test]
    fn equal_samples_say_nothing() {
        assert_eq!(mann_whitney_p(&[1.0; 5], &[1.0; 5]), Ok(1.0));
        assert!(mann_whitney_p(&[], &[1.0]).is_err());
        assert!(mann_whitney_p(&[f64::NAN], &[1.0]).is_err());
    }
}
