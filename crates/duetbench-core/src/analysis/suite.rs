//! The whole suite in one number: by how much its benchmarks changed on average.
//!
//! Benchmarks of one package share their build pairs, and all share the time at which they were measured, so they are not
//! independent of each other. Units are: so the benchmarks are averaged within each unit first, and only these averages enter
//! the test (Kalibera and Jones, ISMM 2013: repetitions at the highest level are what counts).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::examine::hidden;
use super::unit::by_unit;
use super::{BenchmarkReport, Estimate, ForkPair, Hidden, RatioInterval, count, finite_exp, with_hidden};
use crate::plan::{Design, Excluded, Plan, PlannedBenchmark};
use crate::spec::{Decision, defaults};
use crate::stats::{self, Level};

/// Fewest benchmarks that are a suite: the units of a single one are judged already, with what it costs to look at them while measuring.
const BENCHMARKS_MIN: usize = 2;

/// The role in a suite's mean of benchmarks that are proven to run the same code in both versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdenticalCode {
    /// They have no part in it: it is about what was measured.
    LeftOut,
    /// Each counts as a ratio of exactly 1.
    CountsAsOne,
}

/// The change of a whole suite. Ratios are candidate to baseline, over 1 is slower.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SuiteChange {
    /// Geometric mean of the benchmarks' ratios: its trimmed mean over units.
    pub ratio: f64,
    /// Lower end of the interval.
    pub ratio_low: f64,
    /// Upper end of the interval.
    pub ratio_high: f64,
    /// Confidence of the interval, as a fraction.
    pub confidence: f64,
    /// Two-sided p-value of no change of the mean.
    pub p_value: f64,
    /// Smallest true change of the mean that such a run would show with the stated power, as a fraction.
    pub minimal_detectable_change: f64,
    /// Benchmarks in the mean that were measured.
    pub benchmarks: u32,
    /// Benchmarks in it that count as exactly 1, since their code is identical.
    pub identical: u32,
    /// Benchmarks that were measured and are not in it: they lack units that the others have.
    pub left_out: u32,
    /// Units that these benchmarks have in common.
    pub units: u32,
}

/// The change of the suite's geometric mean; absent where fewer than two benchmarks have three units in common, and where benchmarks take
/// part in suite runs of their own ([`Plan::spread`]), so that units of the same number share nothing.
///
/// With `d_iu` the log ratio of benchmark `i` in unit `u`, the numbers that are tested are `mean over i of d_iu`, by the trimmed
/// t over units (Yuen 1974; see [`stats::trimmed_t`]); the smallest visible change is the noncentrality of [`stats::detectable_factor`] times its
/// standard error. Parts of changes that do not show in a benchmark's slices ([`Hidden`]) are added as they are in its own row: as far as they are
/// known to the ratio, and as far as they may go to the interval, whose rows are all taken to be off to the same side.
///
/// The units are the first ones, up to where the first benchmark ended. That goes by when anyone ended and never by whom a unit would favour: who ends early because
/// it changed stays in, and later units of the others, which would then be all there is, stay out. A benchmark that did not come to its first planned look
/// cannot have ended for its ratio; it is left out. Where trials failed, the unit or the benchmark with the larger
/// share of gaps is left out, one after the other, until there are none.
///
/// `reports` are those that [`analyse`](super::analyse) made of the plan; each benchmark is in by the number of its forks that it was judged by.
pub fn suite_change(
    plan: &Plan,
    reports: &[BenchmarkReport],
    decision: &Decision,
    identical: IdenticalCode,
) -> Option<SuiteChange> {
    if plan.spread {
        return None;
    }
    let measured = measured(plan, reports);
    let table = Table::of(measured.iter().filter(|row| row.reached_a_look).collect());
    if table.rows.len() < BENCHMARKS_MIN {
        return None;
    }
    let is_identical =
        |excluded: &&Excluded| matches!(excluded, Excluded::Identical { .. } | Excluded::NotAffected { .. });
    let ones = match identical {
        IdenticalCode::LeftOut => 0,
        IdenticalCode::CountsAsOne => plan.excluded.iter().filter(is_identical).count(),
    };
    let means = table.means(ones);
    if means.len() < defaults::UNITS_MIN as usize {
        return None;
    }
    let mean = stats::trimmed_t(&means).ok()?;
    let (low, high) = mean.interval(decision.alpha).ok()?;
    let level = Level { alpha: decision.alpha, power: decision.power };
    let factor = stats::detectable_factor(mean.degrees_of_freedom(), level).ok()?;
    let unseen = table.unseen(ones);
    let interval = RatioInterval::of_logs(low, high).around(finite_exp(mean.mean), defaults::ACCURACY);
    Some(SuiteChange {
        ratio: finite_exp(mean.mean + unseen.shown),
        ratio_low: finite_exp(interval.low.ln() - unseen.faster),
        ratio_high: finite_exp(interval.high.ln() + unseen.slower),
        confidence: 1.0 - decision.alpha,
        p_value: mean.p_value().ok()?,
        minimal_detectable_change: (finite_exp(factor * mean.standard_error) - 1.0) / (1.0 - unseen.share),
        benchmarks: count(table.rows.len()),
        identical: count(ones),
        left_out: count(measured.len() - table.rows.len()),
        units: count(means.len()),
    })
}

/// The name of a unit that all benchmarks use: with a build pair each it is its number, else the fork's place in the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UnitKey {
    unit: u32,
    fork: u32,
}

impl UnitKey {
    fn of(fork: &ForkPair, design: &Design) -> UnitKey {
        UnitKey { unit: design.unit(fork.suite_run), fork: if design.by_build { 0 } else { fork.fork } }
    }
}

/// The log ratios of one benchmark.
pub(super) struct Row {
    /// Index into [`Plan::benchmarks`].
    pub(super) benchmark: usize,
    pub(super) by_unit: BTreeMap<UnitKey, f64>,
    /// Share of its change that does not show.
    hidden: Hidden,
    /// It has as many units as its first planned look, so that it may have ended for its ratio.
    reached_a_look: bool,
}

/// The log ratios of every benchmark of a plan that was measured and judged, and that is the same in both versions.
pub(super) fn measured(plan: &Plan, reports: &[BenchmarkReport]) -> Vec<Row> {
    let report = |planned: &PlannedBenchmark| {
        reports.iter().find(|report| report.id == planned.id).filter(|_| planned.tells_of_the_code())
    };
    let row = |(i, planned)| Row::of(i, planned, report(planned)?);
    plan.benchmarks.iter().enumerate().filter_map(row).collect()
}

impl Row {
    fn of(benchmark: usize, planned: &PlannedBenchmark, report: &BenchmarkReport) -> Option<Row> {
        let design = &planned.configuration.design;
        let Estimate { basis, clock, .. } = report.estimate?;
        let first_round: Vec<ForkPair> = report.forks.iter().filter(|fork| fork.round == 0).copied().collect();
        let mean =
            |forks: &[ForkPair]| forks.iter().map(|fork| basis.of(&clock.read(fork))).sum::<f64>() / forks.len() as f64;
        let units = by_unit(&first_round, design).into_iter().take(design.units.max(defaults::UNITS_MIN) as usize);
        let by_unit: BTreeMap<UnitKey, f64> =
            units.filter_map(|forks| Some((UnitKey::of(forks.first()?, design), mean(&forks)))).collect();
        let first_look = stats::looks(design.units).first().copied().unwrap_or(0);
        let reached_a_look = count(by_unit.len()) >= first_look.max(defaults::UNITS_MIN);
        Some(Row { benchmark, by_unit, hidden: hidden(planned, &first_round), reached_a_look })
    }
}

/// Parts of the benchmarks' changes that do not show, on average; logarithms of ratios.
#[derive(Default)]
struct Unseen {
    /// As far as they are known.
    shown: f64,
    /// At most, of benchmarks that got slower.
    slower: f64,
    /// At most, of benchmarks that got faster.
    faster: f64,
    /// Share of any change that may not show.
    share: f64,
}

/// Benchmarks that have all of the same units.
struct Table<'a> {
    rows: Vec<&'a Row>,
    units: BTreeSet<UnitKey>,
}

impl<'a> Table<'a> {
    /// The units up to where the first of these benchmarks ended, and those who have all that are left of them.
    fn of(rows: Vec<&'a Row>) -> Table<'a> {
        let end = rows.iter().filter_map(|row| row.by_unit.keys().next_back()).min().copied();
        let all = rows.iter().flat_map(|row| row.by_unit.keys().copied());
        let units = all.filter(|unit| end.is_some_and(|end| *unit <= end)).collect();
        let mut table = Table { rows, units };
        while table.fill_the_worst() {}
        table
    }

    /// Leaves out the unit or the benchmark with the largest share of gaps, if there are any; the unit where several benchmarks have as
    /// many, since nothing but their names would choose among them.
    fn fill_the_worst(&mut self) -> bool {
        let lacks = |row: &Row| self.units.iter().filter(|unit| !row.by_unit.contains_key(unit)).count();
        let lacking = |unit: &UnitKey| self.rows.iter().filter(|row| !row.by_unit.contains_key(unit)).count();
        let worst_row = self.rows.iter().map(|row| lacks(row)).enumerate().max_by_key(|(_, gaps)| *gaps);
        let worst_unit = self.units.iter().map(|unit| (*unit, lacking(unit))).max_by_key(|(_, gaps)| *gaps);
        let (Some((row, of_row)), Some((unit, of_unit))) = (worst_row, worst_unit) else { return false };
        if of_row == 0 {
            return false;
        }
        let is_alone = self.rows.iter().filter(|row| lacks(row) == of_row).count() == 1;
        // Shares of the other dimension, without dividing.
        if is_alone && of_row * self.rows.len() > of_unit * self.units.len() {
            self.rows.remove(row);
        } else {
            self.units.remove(&unit);
        }
        true
    }

    /// Parts that do not show in these units, where so many benchmarks beside these have a ratio of exactly 1.
    fn unseen(&self, ones: usize) -> Unseen {
        let benchmarks = (self.rows.len() + ones) as f64;
        self.rows.iter().fold(Unseen::default(), |sum, row| {
            let seen =
                self.units.iter().filter_map(|unit| row.by_unit.get(unit)).sum::<f64>() / self.units.len() as f64;
            let unseen = |share: f64| (with_hidden(finite_exp(seen), share).ln() - seen) / benchmarks;
            let most = unseen(row.hidden.most);
            Unseen {
                shown: sum.shown + unseen(row.hidden.shown),
                slower: sum.slower + most.max(0.0),
                faster: sum.faster + (-most).max(0.0),
                share: sum.share + row.hidden.most / benchmarks,
            }
        })
    }

    /// The mean log ratio of every unit, where so many benchmarks beside these have a ratio of exactly 1.
    fn means(&self, ones: usize) -> Vec<f64> {
        let benchmarks = (self.rows.len() + ones) as f64;
        let mean = |unit: &UnitKey| self.rows.iter().filter_map(|row| row.by_unit.get(unit)).sum::<f64>() / benchmarks;
        self.units.iter().map(mean).collect()
    }
}
