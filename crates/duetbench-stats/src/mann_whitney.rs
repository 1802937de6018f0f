//! The Mann-Whitney U test, as benchstat uses it: the yardstick of the usual procedure, not a method of ours.

use std::collections::HashMap;

use statrs::distribution::{ContinuousCDF, Normal};

use super::{StatsError, sorted};

/// Largest sample for which the exact distribution is worked out; beyond it, and with ties, the normal approximation serves.
const EXACT_MAX: u64 = 50;

/// Two-sided p-value of the hypothesis that neither of two independent samples tends to larger values.
///
/// Mann and Whitney, Annals of Mathematical Statistics 18 (1947): exact by their recurrence for samples of at most 50 without
/// ties, else the normal approximation with correction for ties and continuity. Takes the time of sorting.
///
/// # Errors
/// When a sample is empty or has a value that is not finite.
///
/// ```
/// # use duetbench_stats::mann_whitney_p;
/// // Complete separation of five and five: 2 / C(10, 5).
/// let p = mann_whitney_p(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]).unwrap();
/// assert!((p - 2.0 / 252.0).abs() < 1e-15);
/// ```
pub fn mann_whitney_p(a: &[f64], b: &[f64]) -> Result<f64, StatsError> {
    MannWhitney::default().p(a, b)
}

/// The test for many pairs of samples: keeps the exact distributions that it has worked out, which take longer than everything else.
#[derive(Debug, Clone, Default)]
pub struct MannWhitney {
    /// By the two sizes: the probability that U is at most 0, at most 1, and so on.
    exact: HashMap<(u64, u64), Vec<f64>>,
}

impl MannWhitney {
    /// The test with the exact distributions for samples of these sizes worked out, where it uses them.
    #[must_use]
    pub fn prepared(sizes: impl IntoIterator<Item = (u64, u64)>) -> MannWhitney {
        let exact = sizes.into_iter().filter(|(n, m)| n.max(m) <= &EXACT_MAX);
        MannWhitney {
            exact: exact.map(|(n, m)| ((n, m), cumulated(null_probabilities(n as usize, m as usize)))).collect(),
        }
    }

    /// The p-value that [`mann_whitney_p`] gives.
    ///
    /// # Errors
    /// When a sample is empty or has a value that is not finite.
    pub fn p(&mut self, a: &[f64], b: &[f64]) -> Result<f64, StatsError> {
        let (a, b) = (sorted(a, 1)?, sorted(b, 1)?);
        self.p_of_counts(counts(&a, &b))
    }

    /// The same of samples that are counted: for distinct values in ascending order, how often each sample has it. Zeros may be
    /// among the counts.
    ///
    /// # Errors
    /// When a sample has no value.
    pub fn p_of_counts(&mut self, counts: impl IntoIterator<Item = [u32; 2]>) -> Result<f64, StatsError> {
        let (mut n, mut m, mut ties) = (0_u64, 0_u64, 0.0);
        // Twice the pairs in which the value of the first sample is the larger one, an equal pair counted as half of one.
        let mut twice_u = 0_u64;
        for [here, there] in counts.into_iter().map(|count| count.map(u64::from)) {
            twice_u += here * (2 * m + there);
            n += here;
            m += there;
            if here + there > 1 {
                let size = (here + there) as f64;
                ties += size.powi(3) - size;
            }
        }
        if n.min(m) == 0 {
            return Err(StatsError::TooFew { have: 0, needed: 1 });
        }
        let smaller = twice_u.min(2 * n * m - twice_u);
        if ties == 0.0 && n.max(m) <= EXACT_MAX {
            // Without ties U is a whole number.
            let exact =
                self.exact.entry((n, m)).or_insert_with(|| cumulated(null_probabilities(n as usize, m as usize)));
            Ok((2.0 * exact[(smaller / 2) as usize]).min(1.0))
        } else {
            approximate(smaller as f64 / 2.0, n as f64, m as f64, ties)
        }
    }
}

/// Frequency of every distinct value in each of two ascending samples.
fn counts(a: &[f64], b: &[f64]) -> Vec<[u32; 2]> {
    let (mut left, mut counts) = ([a, b], Vec::with_capacity(a.len() + b.len()));
    while let Some(least) = left.iter().filter_map(|values| values.first()).copied().reduce(f64::min) {
        // `==` and not the order of sorting, for which the two zeros differ.
        let equal = left.map(|values| values.iter().take_while(|v| **v == least).count());
        counts.push(equal.map(|count| u32::try_from(count).unwrap_or(u32::MAX)));
        left = [&left[0][equal[0]..], &left[1][equal[1]..]];
    }
    counts
}

fn cumulated(mut probabilities: Vec<f64>) -> Vec<f64> {
    let mut sum = 0.0;
    for p in &mut probabilities {
        sum += *p;
        *p = sum;
    }
    probabilities
}

fn approximate(smaller: f64, n: f64, m: f64, ties: f64) -> Result<f64, StatsError> {
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

    /// The definition: all pairs, and the ranks' ties.
    fn by_pairs(a: &[f64], b: &[f64]) -> f64 {
        let wins = |x: f64| b.iter().map(|&y| if y < x { 1.0 } else { f64::from(u8::from(y == x)) / 2.0 }).sum::<f64>();
        let u: f64 = a.iter().map(|&x| wins(x)).sum();
        let (n, m) = (a.len(), b.len());
        let smaller = u.min((n * m) as f64 - u);
        let ties = crate::ranks::ranks(&[a, b].concat()).unwrap().ties;
        if ties == 0.0 && n.max(m) <= 50 {
            let tail: f64 = null_probabilities(n, m)[..=smaller as usize].iter().sum();
            (2.0 * tail).min(1.0)
        } else {
            approximate(smaller, n as f64, m as f64, ties).unwrap()
        }
    }

    #[test]
    fn sorting_gives_exactly_what_counting_all_pairs_gives() {
        // A linear congruential sequence; the modulus decides how many values are equal.
        let mut state = 1_u64;
        let mut next = |modulus: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % modulus) as f64 - 3.0
        };
        let mut kept = MannWhitney::prepared([(3, 7), (51, 50)]);
        for (n, m) in [(1, 1), (3, 7), (7, 3), (50, 50), (51, 50), (400, 130), (9, 2000)] {
            for modulus in [1, 2, 10, 1 << 30] {
                let mut sample = |size: usize| (0..size).map(|_| next(modulus)).collect::<Vec<_>>();
                let (a, b) = (sample(n), sample(m));
                let want = by_pairs(&a, &b);
                assert_eq!(mann_whitney_p(&a, &b), Ok(want), "{n} and {m}, modulus {modulus}");
                assert_eq!(kept.p(&a, &b), Ok(want), "{n} and {m}, modulus {modulus}, kept");
            }
        }
        assert_eq!(mann_whitney_p(&[-0.0, 1.0], &[0.0, 2.0]), Ok(by_pairs(&[-0.0, 1.0], &[0.0, 2.0])));
        assert_eq!(kept.p_of_counts([[0, 0], [1, 0], [0, 0], [0, 2]]), kept.p(&[1.0], &[3.0, 3.0]));
        assert!(kept.p_of_counts([[1, 0]]).is_err());
    }

    #[test]
    fn equal_samples_say_nothing() {
        assert_eq!(mann_whitney_p(&[1.0; 5], &[1.0; 5]), Ok(1.0));
        assert!(mann_whitney_p(&[], &[1.0]).is_err());
        assert!(mann_whitney_p(&[f64::NAN], &[1.0]).is_err());
    }
}
