//! A run looks at itself: whether its numbers behave as the tests that judge them assume.
//!
//! Benchmarks of one run share build pairs and the machine's hours, so that what is counted over them is not counted over independent
//! things. Where that matters, the squared correlation between benchmarks is estimated, and so many of them count as one.

use std::collections::BTreeMap;

use super::suite::{Row, UnitKey, measured};
use super::{BenchmarkReport, count};
use crate::plan::Plan;
use crate::stats::{self, LagOne};

/// Probability with which each test flags what is in order.
const ALPHA: f64 = 0.01;
/// Normal quantile that leaves [`ALPHA`] above it.
const Z_ONE_SIDED: f64 = 2.326_347_874_040_841;
/// Share of a slice that may go into getting warm: a change of the code then reads at least three quarters of what it is. A rule and no test.
const COLD_SHARE_MAX: f64 = 0.25;
/// Fewest units of a benchmark of which lopsidedness is asked: below ten nothing is trimmed, and the mean is that of all layouts.
const SKEWNESS_UNITS_MIN: usize = 10;

/// A run as it is tested.
#[derive(Debug, Clone, Copy)]
pub struct SelfTested<'a> {
    /// Its plan.
    pub plan: &'a Plan,
    /// The reports that were made of the plan.
    pub reports: &'a [BenchmarkReport],
    /// Both sides are the same code, so that any change is a false one. Signs and p-values tell nothing otherwise, since real changes move
    /// them too.
    pub same_version: bool,
    /// Share of a slice's time that goes into getting warm, by benchmark as in [`Plan::benchmarks`], where it was measured; may be empty.
    pub cold_shares: &'a [Option<f64>],
}

/// The question that a test asks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SelfTestKind {
    /// Units of which most benchmarks lean to the same side: the number of the commoner side.
    SignBalance,
    /// The share of small p-values less the share that there should be, at its largest.
    SmallPValues,
    /// Correlation of a unit's log ratio with that of the unit before, over all benchmarks.
    SuccessiveUnits,
    /// The size of the skewness of one benchmark's units.
    Skewness {
        /// Index into [`Plan::benchmarks`].
        benchmark: usize,
        /// The ratio by the mean over units, few strange ones included.
        ratio_mean: f64,
        /// The ratio by the trimmed mean, which is that of a typical layout.
        ratio_typical: f64,
    },
    /// Share of a slice's time that goes into getting warm.
    ColdShare {
        /// Index into [`Plan::benchmarks`].
        benchmark: usize,
    },
}

/// The outcome of one test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelfTest {
    /// The question.
    pub kind: SelfTestKind,
    /// The answer, in the unit that the kind names.
    pub statistic: f64,
    /// The largest answer that is in order.
    pub limit: f64,
    /// Things that it was counted over: units, benchmarks or fork pairs.
    pub of: u32,
}

impl SelfTest {
    /// Whether something is the matter.
    pub fn is_flagged(&self) -> bool {
        self.statistic > self.limit
    }
}

/// All tests that a run has enough data for, flagged or not. Those of signs, p-values, successive units and skewness flag what is in order with probability
/// about 1 %, skewness so for each benchmark; the others are rules.
///
/// - *Signs*: for each unit, whether more benchmarks got slower or faster in it; the exact sign test over units (Arbuthnot 1710). Over benchmarks it
///   would count what they share many times.
/// - *Small p-values*: Kolmogorov's one-sided distance (Birnbaum and Tingey 1951). P-values of planned looks may be too large and are never
///   meant to be too small, so that only that side is looked at.
/// - *Successive units*: the sum over benchmarks of `n (r + 1/n)`, over the sum of `n`, with `r` the first autocorrelation of `n` units around their own
///   mean; exact moments (Dufour and Roy 1985), a normal limit.
/// - *Skewness*: against D'Agostino's limit (1970) for normal values; from ten units on. Long tails on both sides exceed it too, so that it is worth telling
///   where the two ratios that come with it differ by more than anybody cares for.
///
/// For the second and third, `m` benchmarks count as `m / (1 + (m - 1) c)`, with `c` the mean squared correlation between units of two
/// benchmarks, less what independent ones show: that of correlated normal series is the correlation of their squared and of their successive products.
pub fn self_tests(run: &SelfTested<'_>) -> Vec<SelfTest> {
    let rows = measured(run.plan, run.reports);
    let independent = Independent::of(&rows);
    let mut tests = Vec::new();
    if run.same_version {
        tests.extend(sign_balance(run.plan, &rows));
        tests.extend(small_p_values(run, &rows, independent));
    }
    tests.extend(successive_units(&rows, independent));
    tests.extend(rows.iter().filter_map(lopsided));
    let cold = |(benchmark, share): (usize, &Option<f64>)| {
        let (kind, statistic) = (SelfTestKind::ColdShare { benchmark }, (*share)?);
        Some(SelfTest { kind, statistic, limit: COLD_SHARE_MAX, of: 1 })
    };
    tests.extend(run.cold_shares.iter().enumerate().filter_map(cold));
    tests
}

/// As how many independent benchmarks those of a run count.
#[derive(Debug, Clone, Copy)]
struct Independent {
    benchmarks: f64,
    /// By which factor the variance of a mean over benchmarks is larger than it would be of independent ones.
    inflation: f64,
}

impl Independent {
    fn of(rows: &[Row]) -> Independent {
        let (mut sum, mut pairs) = (0.0, 0.0);
        for (i, one) in rows.iter().enumerate() {
            for other in &rows[..i] {
                if let Some(excess) = squared_correlation(one, other) {
                    (sum, pairs) = (sum + excess, pairs + 1.0);
                }
            }
        }
        let benchmarks = rows.len() as f64;
        let shared: f64 = if pairs > 0.0 { (sum / pairs).clamp(0.0, 1.0) } else { 0.0 };
        let inflation = 1.0 + (benchmarks - 1.0).max(0.0) * shared;
        Independent { benchmarks: (benchmarks / inflation).max(1.0), inflation }
    }
}

/// Squared correlation of two benchmarks over the units that both have, less its mean `1 / (n - 1)` for independent normal values.
fn squared_correlation(one: &Row, other: &Row) -> Option<f64> {
    let both = one.by_unit.iter().filter_map(|(unit, a)| Some((*a, *other.by_unit.get(unit)?)));
    let (a, b): (Vec<f64>, Vec<f64>) = both.unzip();
    if a.len() < 3 {
        return None;
    }
    let (mean_a, mean_b) = (stats::mean(&a).ok()?, stats::mean(&b).ok()?);
    let (mut products, mut of_a, mut of_b) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(&b) {
        let (a, b) = (a - mean_a, b - mean_b);
        (products, of_a, of_b) = (products + a * b, of_a + a * a, of_b + b * b);
    }
    (of_a > 0.0 && of_b > 0.0).then(|| products * products / (of_a * of_b) - 1.0 / (a.len() as f64 - 1.0))
}

/// Absent where units of the same number share nothing.
fn sign_balance(plan: &Plan, rows: &[Row]) -> Option<SelfTest> {
    if plan.spread {
        return None;
    }
    let mut leaning: BTreeMap<UnitKey, i64> = BTreeMap::new();
    for (unit, log_ratio) in rows.iter().flat_map(|row| &row.by_unit) {
        *leaning.entry(*unit).or_default() += i64::from(*log_ratio > 0.0) - i64::from(*log_ratio < 0.0);
    }
    let slower = leaning.values().filter(|side| **side > 0).count();
    let faster = leaning.values().filter(|side| **side < 0).count();
    let units = slower + faster;
    if units == 0 {
        return None;
    }
    let p = |commoner: usize| {
        let signs: Vec<f64> = (0..units).map(|i| if i < commoner { 1.0 } else { -1.0 }).collect();
        stats::sign_test_p(&signs).unwrap_or(1.0)
    };
    // As many as are still in order; all of them, where there are too few to tell.
    let limit = (units.div_ceil(2)..=units).take_while(|commoner| p(*commoner) > ALPHA).last()?;
    let statistic = slower.max(faster) as f64;
    Some(SelfTest { kind: SelfTestKind::SignBalance, statistic, limit: limit as f64, of: count(units) })
}

fn small_p_values(run: &SelfTested<'_>, rows: &[Row], independent: Independent) -> Option<SelfTest> {
    let report = |row: &Row| run.reports.iter().find(|r| r.id == run.plan.benchmarks[row.benchmark].id);
    let p_values: Vec<f64> = rows.iter().filter_map(|row| Some(report(row)?.estimate?.p_value)).collect();
    let statistic = stats::excess_of_small(&p_values).ok()?;
    let limit = stats::excess_of_small_limit(independent.benchmarks, ALPHA).ok()?;
    Some(SelfTest { kind: SelfTestKind::SmallPValues, statistic, limit, of: count(p_values.len()) })
}

fn successive_units(rows: &[Row], independent: Independent) -> Option<SelfTest> {
    let (mut sum, mut weights, mut variance, mut of) = (0.0, 0.0, 0.0, 0);
    for row in rows {
        let log_ratios: Vec<f64> = row.by_unit.values().copied().collect();
        // Too few units, or no spread.
        let Ok(LagOne { correlation, expected, variance: of_one }) = stats::lag_one(&log_ratios) else { continue };
        let weight = log_ratios.len() as f64;
        sum += weight * (correlation - expected);
        variance += weight * weight * of_one;
        weights += weight;
        of += 1;
    }
    let error = (variance * independent.inflation).sqrt() / weights;
    let (kind, statistic, limit) = (SelfTestKind::SuccessiveUnits, sum / weights, Z_ONE_SIDED * error);
    (of > 0).then_some(SelfTest { kind, statistic, limit, of })
}

fn lopsided(row: &Row) -> Option<SelfTest> {
    let log_ratios: Vec<f64> = row.by_unit.values().copied().collect();
    if log_ratios.len() < SKEWNESS_UNITS_MIN {
        return None;
    }
    let of = count(log_ratios.len());
    let ratio_mean = stats::mean(&log_ratios).ok()?.exp();
    let ratio_typical = stats::trimmed_t(&log_ratios).ok()?.mean.exp();
    let kind = SelfTestKind::Skewness { benchmark: row.benchmark, ratio_mean, ratio_typical };
    let limit = stats::skewness_limit(of, ALPHA).ok()?;
    Some(SelfTest { kind, statistic: stats::skewness(&log_ratios).ok()?.abs(), limit, of })
}
