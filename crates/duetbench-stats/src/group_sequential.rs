//! Looking at a growing sample more than once.

mod walk;

use std::sync::OnceLock;

use self::walk::{GoingOn, p_of, z_of};
use super::StatsError;

/// Exponent of the spending function where nothing else is said: how little is spent early.
const SPENDING_POWER: f64 = 1.5;

/// The part of the error that a look may spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spend {
    /// As much as was planned for so many values.
    AsPlanned,
    /// All that the planned looks before it left: nothing is measured after it, for a reason that does not depend on the values
    /// (the clock). Source: Lan and DeMets (1983); Jennison and Turnbull (2000), section 7.2.
    Everything,
}

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
/// # use duetbench_stats::looks;
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
/// the same nominal p is Pocock's proposal (Biometrika 64, 1977), and docs/statistics/09-looks.md states what it costs.
///
/// ```
/// # use duetbench_stats::{Sequential, Spend};
/// let test = Sequential::new(20).unwrap();
/// assert!((test.nominal_p(4, 0.05, Spend::AsPlanned).unwrap() - 0.00447).abs() < 5e-6);
/// assert!((test.nominal_p(20, 0.05, Spend::AsPlanned).unwrap() - 0.0291).abs() < 5e-5);
/// // The second look would have stopped at alpha 5 %, not at 1 %.
/// let p = test.p_value(&[(4, 0.2), (6, 0.00532)], Spend::AsPlanned).unwrap();
/// assert!((p - 0.05).abs() < 1e-4);
/// ```
#[derive(Debug, Clone)]
pub struct Sequential {
    looks: Vec<u32>,
    /// Exponent of the share of the horizon in the spending function.
    spending_power: f64,
    /// By falling alpha; made when it is first needed, and empty where there is only one look.
    table: OnceLock<Vec<Path>>,
}

/// The planned looks for one alpha.
#[derive(Debug, Clone)]
struct Path {
    alpha: f64,
    /// Those that go on, before each look.
    going_on: Vec<GoingOn>,
    /// Boundary of each look on the scale of `z`.
    boundaries: Vec<f64>,
}

impl Sequential {
    /// The test with all looks of [`looks`].
    ///
    /// # Errors
    /// When `horizon` is 0.
    pub fn new(horizon: u32) -> Result<Sequential, StatsError> {
        Sequential::spending(horizon, SPENDING_POWER)
    }

    /// The same test, having spent `alpha (n / horizon)^power` by a look after `n` values.
    ///
    /// # Errors
    /// When `horizon` is 0, or `power` not above 0.
    pub fn spending(horizon: u32, power: f64) -> Result<Sequential, StatsError> {
        StatsError::check("power", power, 0.0, f64::INFINITY)?;
        Sequential::planned(looks(horizon), power)
    }

    /// The test that looks once, after `n` values: an ordinary one, whose nominal p is `alpha`.
    ///
    /// If it ends before, having never looked, it may still spend all of `alpha`. That holds for whatever has only one look.
    ///
    /// # Errors
    /// When `n` is 0.
    pub fn single(n: u32) -> Result<Sequential, StatsError> {
        Sequential::planned(if n == 0 { vec![] } else { vec![n] }, SPENDING_POWER)
    }

    fn planned(looks: Vec<u32>, spending_power: f64) -> Result<Sequential, StatsError> {
        if looks.is_empty() {
            return Err(StatsError::OutOfRange { name: "horizon", value: 0.0 });
        }
        Ok(Sequential { looks, spending_power, table: OnceLock::new() })
    }

    fn table(&self) -> &[Path] {
        self.table.get_or_init(|| {
            let alphas = (0..TABLE_LENGTH).map(|i| p_of(TABLE_STEP * f64::from(i)));
            let last = self.looks.len() - 1;
            alphas
                .filter(|_| last > 0)
                .map(|alpha| self.path(alpha, last).with_boundary(self.planned_look(last)))
                .collect()
        })
    }

    /// Nominal p of the last of all looks on the way to `horizon`, when all before it were taken.
    ///
    /// # Errors
    /// When `horizon` is 0, or `alpha` not strictly between 1e-100 and 1.
    pub fn last_nominal_p(horizon: u32, alpha: f64) -> Result<f64, StatsError> {
        Sequential::new(horizon)?.nominal_p(horizon, alpha, Spend::AsPlanned)
    }

    /// The planned looks; the last is the horizon.
    #[must_use]
    pub fn looks(&self) -> &[u32] {
        &self.looks
    }

    /// Two-sided p at or below which the test stops at the look after `n` values, when all planned looks before were taken.
    ///
    /// An `n` that is no planned look is one at which the experiment ended: the last look, in addition to the planned ones
    /// before it. `spend` says what becomes of the error that had not been spent by then.
    ///
    /// # Errors
    /// When `n` is 0 or beyond the horizon, or `alpha` not strictly between 1e-100 and 1.
    pub fn nominal_p(&self, n: u32, alpha: f64, spend: Spend) -> Result<f64, StatsError> {
        StatsError::check("alpha", alpha, ALPHA_MIN, 1.0)?;
        let at = self.look(n, spend)?;
        if at.before == 0 {
            return Ok(alpha * at.newly_spent);
        }
        Ok(p_of(self.path(alpha, at.before).boundary(at)))
    }

    /// The sequential p-value: the least `alpha` at which a look so far would have stopped the test, given each look's number
    /// of values and two-sided p. `spend` is about the last of them.
    ///
    /// It is at most `alpha` with probability `alpha` under the hypothesis, whenever the experiment ends, and may be adjusted
    /// for many tests as any p-value; planned looks that were not taken make it larger than need be. It is the inverse of
    /// [`Sequential::nominal_p`] up to 1e-4 of itself (cubic interpolation between normal quantiles) and, below 6e-13, an upper
    /// bound by Bonferroni's inequality. Source: Liu and Anderson, Journal of the American Statistical Association 103 (2008).
    ///
    /// # Errors
    /// Without looks, when their numbers do not ascend from 1 to the horizon, when one that is not planned is not the last, or
    /// when a p lies outside 0 to 1.
    pub fn p_value(&self, looks: &[(u32, f64)], spend: Spend) -> Result<f64, StatsError> {
        let Some(((n_last, p_last), before)) = looks.split_last() else {
            return Err(StatsError::TooFew { have: 0, needed: 1 });
        };
        if let Some(&(_, value)) = looks.iter().find(|(_, p)| !(0.0..=1.0).contains(p)) {
            return Err(StatsError::OutOfRange { name: "p", value });
        }
        let misplaced = |pair: &&[(u32, f64)]| pair[0].0 >= pair[1].0 || !self.looks.contains(&pair[0].0);
        if let Some(pair) = looks.windows(2).find(misplaced) {
            return Err(StatsError::OutOfRange { name: "n", value: f64::from(pair[0].0) });
        }
        let last = self.least_alpha(self.look(*n_last, spend)?, *p_last);
        before
            .iter()
            .try_fold(last, |least: f64, &(n, p)| Ok(least.min(self.least_alpha(self.look(n, Spend::AsPlanned)?, p))))
    }

    /// The least `alpha` whose nominal p at this look is `p`.
    fn least_alpha(&self, at: At, p: f64) -> f64 {
        // Whatever the looks before did, the nominal p is at least what is newly spent.
        let bonferroni = (p / at.newly_spent).min(1.0);
        if at.before == 0 {
            return bonferroni;
        }
        let table = self.table();
        // A planned look's boundaries do not depend on the values; those of another are computed only where they are needed.
        let planned = at == self.planned_look(at.before);
        let boundary = |path: &Path| if planned { path.boundaries[at.before] } else { path.boundary(at) };
        let z = z_of(p);
        let above = table.partition_point(|path| boundary(path) < z);
        if above == 0 {
            return 1.0;
        }
        if above == table.len() {
            return bonferroni.min(table[above - 1].alpha);
        }
        let first = above.saturating_sub(2).min(table.len() - 4);
        let boundaries: Vec<f64> = table[first..first + 4].iter().map(boundary).collect();
        let quantile = cubic(z, &boundaries) + first as f64;
        p_of((TABLE_STEP * quantile).max(0.0))
    }

    /// Where the look after `n` values stands among the planned ones.
    fn look(&self, n: u32, spend: Spend) -> Result<At, StatsError> {
        if n == 0 || self.looks.last().is_none_or(|horizon| n > *horizon) {
            return Err(StatsError::OutOfRange { name: "n", value: f64::from(n) });
        }
        let before = self.looks.partition_point(|look| *look < n);
        let all = match spend {
            Spend::AsPlanned => self.spent(n),
            Spend::Everything => 1.0,
        };
        Ok(At { n, before, newly_spent: all - self.spent_before(before) })
    }

    /// The planned look that comes after so many.
    fn planned_look(&self, before: usize) -> At {
        let n = self.looks[before];
        At { n, before, newly_spent: self.spent(n) - self.spent_before(before) }
    }

    /// Share of `alpha` spent by so many planned looks.
    fn spent_before(&self, looks: usize) -> f64 {
        if looks == 0 { 0.0 } else { self.spent(self.looks[looks - 1]) }
    }

    /// Share of `alpha` spent by the look after `n` values.
    fn spent(&self, n: u32) -> f64 {
        match self.looks[..] {
            [.., _, horizon] => (f64::from(n) / f64::from(horizon)).powf(self.spending_power),
            _ => 1.0,
        }
    }

    /// The first planned looks for one alpha, and those that go on after them.
    fn path(&self, alpha: f64, looks: usize) -> Path {
        let mut path = Path { alpha, going_on: vec![GoingOn::start()], boundaries: Vec::new() };
        for before in 0..looks {
            path = path.with_boundary(self.planned_look(before));
            let values = f64::from(self.looks[before]);
            let edge = path.boundaries[before] * values.sqrt();
            path.going_on.push(path.going_on[before].after(values, edge));
        }
        path
    }
}

impl Path {
    /// Boundary of a look on the scale of `z`.
    fn boundary(&self, at: At) -> f64 {
        let values = f64::from(at.n);
        self.going_on[at.before].boundary(values, self.alpha * at.newly_spent) / values.sqrt()
    }

    fn with_boundary(mut self, at: At) -> Path {
        self.boundaries.push(self.boundary(at));
        self
    }
}

/// The excess of the true error of a sequential test over its level where the variance is unknown, for each power of e of the level.
const EXCESS: f64 = 0.065;

/// The sequential p-value that a trimmed t test keeps: `p (1 - 0.065 ln p)`.
///
/// Boundaries are made for a known variance. Held against them, [`trimmed_t`](super::trimmed_t) stops 1.1 to 1.2 times as often as
/// it says at 5 %, 1.3 times at 1 %, and 1.5 times at 1e-4. The factor covers all of these for horizons of 8 to 64 values
/// (simulation: docs/studies/verdict-rules.md); it is 1 at a p of 1.
///
/// ```
/// # use duetbench_stats::p_kept_by_t;
/// assert!((p_kept_by_t(0.01) - 0.012_993).abs() < 1e-6 && p_kept_by_t(1.0) == 1.0 && p_kept_by_t(0.0) == 0.0);
/// ```
#[must_use]
pub fn p_kept_by_t(p: f64) -> f64 {
    if p > 0.0 { p * (1.0 - EXCESS * p.ln()) } else { 0.0 }
}

/// The level at which a sequential test must be set for a trimmed t test to keep `alpha`: the inverse of [`p_kept_by_t`].
///
/// ```
/// # use duetbench_stats::{level_kept_by_t, p_kept_by_t};
/// assert!((level_kept_by_t(0.01) - 0.007_59).abs() < 5e-6);
/// assert!((p_kept_by_t(level_kept_by_t(1e-6)) - 1e-6).abs() < 1e-15);
/// ```
#[must_use]
pub fn level_kept_by_t(alpha: f64) -> f64 {
    // The factor changes slowly with the level, so that dividing by it again and again comes to rest at once.
    (0..60).fold(alpha, |level: f64, _| alpha / (1.0 - EXCESS * level.ln()))
}

/// A look, and what it may spend.
#[derive(Debug, Clone, Copy, PartialEq)]
struct At {
    /// Values there are.
    n: u32,
    /// Planned looks before it.
    before: usize,
    /// Share of `alpha` that it spends.
    newly_spent: f64,
}

/// The polynomial through `(x[0], 0)`, `(x[1], 1)`, ... at `at`, by Lagrange's formula.
fn cubic(at: f64, x: &[f64]) -> f64 {
    let basis = |i: usize| {
        let others = x.iter().enumerate().filter(|(j, _)| *j != i);
        others.map(|(_, xj)| (at - xj) / (x[i] - xj)).product::<f64>()
    };
    (0..x.len()).map(|i| i as f64 * basis(i)).sum()
}
