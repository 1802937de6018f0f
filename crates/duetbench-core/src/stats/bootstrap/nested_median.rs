//! The bootstrap distribution of the median of a nested sample.

use realfft::num_complex::Complex;
use statrs::function::factorial::ln_binomial;

use super::law::Law;
use super::median::at_most_rank;
use super::nested::Nested;

/// Shares of resamples below this one are left out.
const NEGLIGIBLE: f64 = 1e-12;

/// The bootstrap distribution of the median of all values of a resample.
///
/// In a resample, the number of values at or below a point is a sum of independent counts, at each level drawn from those of
/// the repetitions inside; its generating function nests, `G = (mean of the G of the repetitions)^n`, with the share
/// `1 - p + p z` of a repetition of the innermost level. The median is at most `x` if at least half of the values are. For an
/// even number of values `2m`, the median is the mean of the middle two, and
///
/// ```text
/// P(X_m <= x_i, X_{m+1} > x_j) = P(m values are at most x_i, none lies between it and x_j, m above)
/// ```
///
/// is the m-th coefficient of the same function, with `p` and `1 - p` counted at either point. Coefficients are read off the
/// function on the unit circle, where they are exact but for rounding.
pub(super) fn median_law(sample: Nested<'_>) -> Law {
    if sample.is_constant() {
        return Law::of_one(sample.values()[0]);
    }
    let draws = Draws::of(sample);
    if draws.ascending.len() % 2 == 1 { draws.odd() } else { draws.even() }
}

struct Draws<'a> {
    sample: Nested<'a>,
    /// Every value with the innermost group in which it is.
    ascending: Vec<(f64, usize)>,
    /// Points of the upper half of the unit circle, as many as tell all coefficients.
    circle: Vec<Complex<f64>>,
}

/// By innermost group: the shares of its values below and above two ranks.
struct Shares {
    below: Vec<f64>,
    above: Vec<f64>,
}

impl<'a> Draws<'a> {
    fn of(sample: Nested<'a>) -> Draws<'a> {
        let in_group = |(index, value): (usize, &f64)| (*value, index / sample.innermost());
        let mut ascending: Vec<(f64, usize)> = sample.values().iter().enumerate().map(in_group).collect();
        ascending.sort_by(|a, b| a.0.total_cmp(&b.0));
        let n = ascending.len();
        let angle = std::f64::consts::TAU / (n + 1) as f64;
        let circle = (0..=n.div_ceil(2)).map(|k| Complex::from_polar(1.0, angle * k as f64)).collect();
        Draws { sample, ascending, circle }
    }

    fn n(&self) -> usize {
        self.ascending.len()
    }

    /// Each value is the median with the share by which the distribution grows there.
    fn odd(&self) -> Law {
        let reached = self.reached(self.n().div_ceil(2));
        let mass = |k: usize| reached[k + 1] - reached[k];
        Law::of_atoms((0..self.n()).map(|k| (self.ascending[k].0, mass(k))).collect())
    }

    /// Each pair of values is the middle two with the share that is its own.
    fn even(&self) -> Law {
        let m = self.n() / 2;
        let weights = self.coefficient_weights(m);
        let reached = self.reached(m);
        let mut atoms = Vec::new();
        let mut row_before = vec![0.0; self.n() + 1];
        for i in 1..=self.n() {
            if reached[i] < NEGLIGIBLE || reached[i - 1] > 1.0 - NEGLIGIBLE {
                continue;
            }
            let row = self.row(i, &weights);
            let lower = self.ascending[i - 1].0;
            // The share of resamples with this lower middle value whose upper one lies above rank j.
            let above = |j: usize| row[j] - row_before[j];
            atoms.push((lower, reached[i] - reached[i - 1] - above(i)));
            for j in i + 1..=self.n() {
                atoms.push((lower.midpoint(self.ascending[j - 1].0), above(j - 1) - above(j)));
            }
            row_before = row;
        }
        Law::of_atoms(atoms)
    }

    /// By rank `j`, from `i` on: the share of resamples with just half of their values at or below rank `i` and the others
    /// above rank `j`. Entries before `i` are not used.
    fn row(&self, i: usize, weights: &[Complex<f64>]) -> Vec<f64> {
        let (n, m) = (self.n(), self.n() / 2);
        let mut row = vec![0.0; n + 1];
        let mut shares = self.shares(i);
        for (j, share) in row.iter_mut().enumerate().skip(i) {
            if j > i {
                shares.above[self.ascending[j - 1].1] -= 1.0 / self.sample.innermost() as f64;
            }
            *share = if self.sample.shape().len() == 1 {
                let ln = |k: usize| m as f64 * (k as f64 / n as f64).ln();
                (ln_binomial(n as u64, m as u64) + ln(i) + ln(n - j)).exp()
            } else {
                self.read(&shares, weights)
            };
            if *share < NEGLIGIBLE {
                break;
            }
        }
        row
    }

    /// By rank, from 0 on: the share of resamples of which at least so many values are at or below it.
    fn reached(&self, needed: usize) -> Vec<f64> {
        let n = self.n();
        if self.sample.shape().len() == 1 {
            return (0..=n).map(|rank| at_most_rank(n, rank, needed)).collect();
        }
        let weights = self.tail_weights(needed);
        let mut greatest = 0.0_f64;
        let mut reached = vec![0.0; n + 1];
        for (rank, share) in reached.iter_mut().enumerate().take(n).skip(1) {
            greatest = greatest.max(self.read(&self.shares(rank), &weights)).min(1.0);
            *share = greatest;
        }
        reached[n] = 1.0;
        reached
    }

    /// The shares at or below a rank and above it, for every innermost group.
    fn shares(&self, rank: usize) -> Shares {
        let size = self.sample.innermost();
        let mut counts = vec![0_usize; self.n() / size];
        self.ascending[..rank].iter().for_each(|(_, group)| counts[*group] += 1);
        let share = |count: usize| count as f64 / size as f64;
        Shares {
            below: counts.iter().map(|count| share(*count)).collect(),
            above: counts.iter().map(|count| share(size - count)).collect(),
        }
    }

    /// A sum of coefficients of the generating function of the number of values below.
    fn read(&self, shares: &Shares, weights: &[Complex<f64>]) -> f64 {
        let mut level = vec![Complex::new(0.0, 0.0); shares.below.len()];
        let sum =
            self.circle.iter().zip(weights).map(|(z, weight)| (self.generating(shares, *z, &mut level) * weight).re);
        sum.sum::<f64>() / (self.n() + 1) as f64
    }

    fn generating(&self, shares: &Shares, z: Complex<f64>, level: &mut [Complex<f64>]) -> Complex<f64> {
        for (at, (below, above)) in level.iter_mut().zip(shares.below.iter().zip(&shares.above)) {
            *at = (z * below + above).powu(self.sample.innermost() as u32);
        }
        let mut left = level.len();
        for size in self.sample.shape().iter().rev().skip(1) {
            left /= size;
            for part in 0..left {
                let mean = level[part * size..(part + 1) * size].iter().sum::<Complex<f64>>() / *size as f64;
                level[part] = mean.powu(*size as u32);
            }
        }
        level[0]
    }

    /// Weights that read the sum of the coefficients from this one on. Points off the real axis count for their mirror images too.
    fn tail_weights(&self, needed: usize) -> Vec<Complex<f64>> {
        let n = self.n();
        self.weights(|z| (needed..=n).map(|c| z.powi(-(c as i32))).sum())
    }

    fn coefficient_weights(&self, at: usize) -> Vec<Complex<f64>> {
        self.weights(|z| z.powi(-(at as i32)))
    }

    fn weights(&self, of: impl Fn(Complex<f64>) -> Complex<f64>) -> Vec<Complex<f64>> {
        let points = self.n() + 1;
        let is_real = |k: usize| k == 0 || 2 * k == points;
        let times = |k: usize| {
            if 2 * k > points {
                0.0
            } else if is_real(k) {
                1.0
            } else {
                2.0
            }
        };
        self.circle.iter().enumerate().map(|(k, z)| of(*z) * times(k)).collect()
    }
}
