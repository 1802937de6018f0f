//! Looking at a growing sample more than once.

mod walk;

use self::walk::{GoingOn, p_of, z_of};
use super::StatsError;

/// Exponent of the spending function: how little is spent early.
const SPENDING_POWER: f64 = 1.5;

/// Smallest alpha that [`Sequential::nominal_p`] takes; far below it the tails of the normal distribution underflow.
const ALPHA_MIN: f64 = 1e-100;

/// Alphas in the table for [`Sequential::p_value`].
const TABLE_LENGTH: u32 = 37;

/// Distance of their normal quantiles, which go from 0 (alpha 1) to 7.2 (alpha 6e-13).
const TABLE_STEP: f64 = 0.2;

/// Numbers of values after which one may look on the way to `horizon`, which is the last of them (none for a horizon of 0).
///
/// 4, 6, 8, 10, 13, and from 16 on three to a doubling.
///
/// ```
/// # use duetbench_core::stats::looks;
/// assert_eq!(looks(30), [4, 6, 8, 10, 13, 16, 20, 25, 30]);
/// assert_eq!(looks(3), [3]);
/// ```
#[must_use]
pub fn looks(horizon: u32) -> Vec<u32> {
    let doubling = (0..28).flat_map(|doublings| [16u32, 20, 25].map(|n| n << doublings));
    let before = [4, 6, 8, 10, 13].into_iter().chain(doubling).take_while(|n| *n < horizon);
    before.chain((horizon > 0).then_some(horizon)).collect()
}

/// A two-sided test that may stop at any of several looks at a growing sample and errs with probability `alpha` in all.
///
/// By a look after `n` of at most `horizon` values it has spent `alpha (n / horizon)^1.5`: each look's nominal p is the one at
/// which the test stops there, and at no look before, with just the probability spent since the look before. Sources: Lan and
/// DeMets, Biometrika 70 (1983), for spending; Kim and DeMets, Biometrika 74 (1987), for the power of `n / horizon`; Armitage,
/// McPherson and Rowe, JRSS A 132 (1969), for the recursion over looks; Jennison and Turnbull, Group Sequential Methods
/// (2000), chapter 19, for its quadrature. Assumes normal values of known variance; that p-values of a t test are held against
/// the same nominal p is Pocock's proposal (Biometrika 64, 1977), and docs/statistics.md states what it costs.
///
/// ```
/// # use duetbench_core::stats::Sequential;
/// let test = Sequential::new(20).unwrap();
/// assert!((test.nominal_p(4, 0.05).unwrap() - 0.00447).abs() < 5e-6);
/// assert!((test.nominal_p(20, 0.05).unwrap() - 0.0291).abs() < 5e-5);
/// // The second look would have stopped at alpha 5 %, not at 1 %.
/// let p = test.p_value(&[(4, 0.2), (6, 0.00532)]).unwrap();
/// assert!((p - 0.05).abs() < 1e-4);
/// ```
#[derive(Debug, Clone)]
pub struct Sequential {
    looks: Vec<u32>,
    /// By falling alpha; empty where there is only one look.
    table: Vec<Path>,
}

/// What happens at the planned looks for one alpha.
#[derive(Debug, Clone)]
struct Path {
    alpha: f64,
    /// Boundary of each look on the scale of `z`.
    boundaries: Vec<f64>,
    /// Those that go on, before each look.
    going_on: Vec<GoingOn>,
}

impl Sequential {
    /// The test with all looks of [`looks`].
    ///
    /// # Errors
    /// When `horizon` is 0.
    pub fn new(horizon: u32) -> Result<Sequential, StatsError> {
        Sequential::planned(looks(horizon))
    }

    /// The test that looks once, after `n` values: an ordinary one, whose nominal p is `alpha`.
    ///
    /// If it ends before, having never looked, it may still spend all of `alpha`. That holds for whatever has only one look.
    ///
    /// # Errors
    /// When `n` is 0.
    pub fn single(n: u32) -> Result<Sequential, StatsError> {
        Sequential::planned(if n == 0 { vec![] } else { vec![n] })
    }

    fn planned(looks: Vec<u32>) -> Result<Sequential, StatsError> {
        if looks.is_empty() {
            return Err(StatsError::OutOfRange { name: "horizon", value: 0.0 });
        }
        let mut planned = Sequential { looks, table: Vec::new() };
        if planned.looks.len() > 1 {
            let alphas = (0..TABLE_LENGTH).map(|i| p_of(TABLE_STEP * f64::from(i)));
            planned.table = alphas.map(|alpha| planned.path(alpha, &planned.looks)).collect();
        }
        Ok(planned)
    }

    /// Nominal p of the last of all looks on the way to `horizon`, when all before it were taken. It is that of
    /// [`Sequential::nominal_p`], without what only [`Sequential::p_value`] needs.
    ///
    /// # Errors
    /// When `horizon` is 0, or `alpha` not strictly between 1e-100 and 1.
    pub fn last_nominal_p(horizon: u32, alpha: f64) -> Result<f64, StatsError> {
        Sequential { looks: looks(horizon), table: Vec::new() }.nominal_p(horizon, alpha)
    }

    /// The planned looks; the last is the horizon.
    #[must_use]
    pub fn looks(&self) -> &[u32] {
        &self.looks
    }

    /// Two-sided p at or below which the test stops at the look after `n` values, when all planned looks before were taken.
    ///
    /// An `n` that is no planned look is one at which the experiment ended for want of time: the last look, in addition to the
    /// planned ones before it. What had not been spent by then is forgone.
    ///
    /// # Errors
    /// When `n` is 0 or beyond the horizon, or `alpha` not strictly between 1e-100 and 1.
    pub fn nominal_p(&self, n: u32, alpha: f64) -> Result<f64, StatsError> {
        StatsError::check("alpha", alpha, (ALPHA_MIN, 1.0))?;
        let before = self.before(n)?;
        if before == 0 {
            return Ok(alpha * self.spent(n));
        }
        let taken = [&self.looks[..before], &[n]].concat();
        Ok(self.path(alpha, &taken).boundaries.last().map_or(0.0, |z| p_of(*z)))
    }

    /// The sequential p-value: the least `alpha` at which a look so far would have stopped the test, given each look's number
    /// of values and two-sided p.
    ///
    /// It is at most `alpha` with probability `alpha` under the hypothesis, whenever the experiment ends, and may be adjusted
    /// for many tests as any p-value; planned looks that were not taken make it larger than need be. It is the inverse of
    /// [`Sequential::nominal_p`] up to 1e-4 of itself (cubic interpolation between normal quantiles) and, below 6e-13, an upper
    /// bound by Bonferroni's inequality. Source: Liu and Anderson, Journal of the American Statistical Association 103 (2008).
    ///
    /// # Errors
    /// Without looks, when their numbers do not ascend from 1 to the horizon, when one that is not planned is not the last, or
    /// when a p lies outside 0 to 1.
    pub fn p_value(&self, looks: &[(u32, f64)]) -> Result<f64, StatsError> {
        if looks.is_empty() {
            return Err(StatsError::TooFew { have: 0, needed: 1 });
        }
        if let Some(&(_, value)) = looks.iter().find(|(_, p)| !(0.0..=1.0).contains(p)) {
            return Err(StatsError::OutOfRange { name: "p", value });
        }
        let misplaced = |pair: &&[(u32, f64)]| pair[0].0 >= pair[1].0 || !self.looks.contains(&pair[0].0);
        if let Some(pair) = looks.windows(2).find(misplaced) {
            return Err(StatsError::OutOfRange { name: "n", value: f64::from(pair[0].0) });
        }
        looks.iter().try_fold(1.0, |least: f64, &(n, p)| Ok(least.min(self.least_alpha(n, p)?)))
    }

    /// The least `alpha` whose nominal p after `n` values is `p`.
    fn least_alpha(&self, n: u32, p: f64) -> Result<f64, StatsError> {
        let before = self.before(n)?;
        // Whatever the looks before did, the nominal p is at least what is newly spent.
        let bonferroni = p / self.newly_spent(n, before);
        if before == 0 {
            return Ok(bonferroni);
        }
        let planned = self.looks[before] == n;
        let boundary = |path: &Path| {
            if planned {
                path.boundaries[before]
            } else {
                self.boundary(&path.going_on[before], (path.alpha, n, before))
            }
        };
        let boundaries: Vec<f64> = self.table.iter().map(boundary).collect();
        let z = z_of(p);
        let above = boundaries.partition_point(|b| *b < z);
        if above == 0 {
            return Ok(1.0);
        }
        if above == boundaries.len() {
            return Ok(bonferroni.min(self.table[above - 1].alpha));
        }
        let first = above.saturating_sub(2).min(boundaries.len() - 4);
        let quantile = cubic(z, &boundaries[first..first + 4]) + first as f64;
        Ok(p_of((TABLE_STEP * quantile).max(0.0)))
    }

    /// Number of planned looks before the one after `n` values.
    fn before(&self, n: u32) -> Result<usize, StatsError> {
        if n == 0 || self.looks.last().is_none_or(|horizon| n > *horizon) {
            return Err(StatsError::OutOfRange { name: "n", value: f64::from(n) });
        }
        Ok(self.looks.partition_point(|look| *look < n))
    }

    /// Share of `alpha` spent by the look after `n` values.
    fn spent(&self, n: u32) -> f64 {
        match self.looks[..] {
            [.., _, horizon] => (f64::from(n) / f64::from(horizon)).powf(SPENDING_POWER),
            _ => 1.0,
        }
    }

    /// Share of `alpha` spent by the look after `n` values and not by the planned looks before it.
    fn newly_spent(&self, n: u32, before: usize) -> f64 {
        self.spent(n) - if before == 0 { 0.0 } else { self.spent(self.looks[before - 1]) }
    }

    /// Boundary of the look after `n` values on the scale of `z`.
    fn boundary(&self, going_on: &GoingOn, (alpha, n, before): (f64, u32, usize)) -> f64 {
        let values = f64::from(n);
        going_on.boundary(values, alpha * self.newly_spent(n, before)) / values.sqrt()
    }

    fn path(&self, alpha: f64, looks: &[u32]) -> Path {
        let mut going_on = vec![GoingOn::start()];
        let mut boundaries = Vec::new();
        for (before, &n) in looks.iter().enumerate() {
            let last = &going_on[before];
            let z = self.boundary(last, (alpha, n, before));
            boundaries.push(z);
            if before + 1 < looks.len() {
                going_on.push(last.after(f64::from(n), z * f64::from(n).sqrt()));
            }
        }
        Path { alpha, boundaries, going_on }
    }
}

/// The polynomial through `(x[0], 0)`, `(x[1], 1)`, ... at `at`, by Lagrange's formula.
fn cubic(at: f64, x: &[f64]) -> f64 {
    let basis = |i: usize| {
        let others = x.iter().enumerate().filter(|(j, _)| *j != i);
        others.map(|(_, xj)| (at - xj) / (x[i] - xj)).product::<f64>()
    };
    (0..x.len()).map(|i| i as f64 * basis(i)).sum()
}
