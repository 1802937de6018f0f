//! Pictures: what charts show of a benchmark, computed and thinned here, so that whoever draws only places points.
//!
//! A picture repeats nothing that the report says. It shows where that comes from: the fork pairs, the slices inside some of
//! them, how the log ratios of all slices are spread, and what each look said until the answer was there.

mod histogram;
mod slices;

use std::collections::{BTreeMap, BTreeSet};

pub use histogram::{Distributions, Histogram};
pub use slices::{POINTS_MAX, SliceCourse, SlicePoint};

use crate::analysis::{
    Basis, BenchmarkReport, Clock, ConfirmationStanding, ForkPair, Look, Measured, Monitor, by_unit, finite_exp,
};
use crate::plan::{Design, Mode, Plan, PlannedBenchmark};
use crate::sample::{BenchmarkId, Sample};
use crate::spec::Thresholds;
use crate::stats::Spend;

/// Data for the charts of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Every fork pair, round by round and unit by unit.
    pub forks: Vec<ForkPoint>,
    /// The slices of at most three fork pairs of the first round: the first, the one with the median ratio, and the last.
    pub slices: Vec<SliceCourse>,
    /// The log ratios of all slice pairs of the first round; absent in sequential mode, whose slices have no partner.
    pub histogram: Option<Histogram>,
    /// The times of both sides in all slices of the first round.
    pub times: Option<Distributions>,
    /// Every look; empty where there were too few units for any.
    pub looks: Vec<LookPoint>,
}

/// One fork pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ForkPoint {
    /// Its unit, counted from 0 through all rounds.
    pub unit: u32,
    /// The build it belongs to.
    pub build: u32,
    /// The round it belongs to.
    pub round: u32,
    /// Mean time per invocation of the baseline, nanoseconds.
    pub baseline_ns: f64,
    /// The same of the candidate.
    pub candidate_ns: f64,
    /// Its ratio, candidate to baseline, on the basis that was judged; not the quotient of the two means.
    pub ratio: f64,
}

/// One look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LookPoint {
    /// Its result.
    pub look: Look,
    /// Whether the benchmark was settled by it.
    pub settled: bool,
}

/// Pictures of the benchmarks of a report, in its order; absent where nothing was measured that counts.
///
/// `measured` is indexed like [`Plan::benchmarks`], and `reports` is what [`analyse`](crate::analysis::analyse) made of it by the
/// same thresholds.
pub fn pictures<'a>(
    plan: &'a Plan,
    measured: &[Measured],
    thresholds: impl Into<Thresholds<'a>>,
    reports: &[BenchmarkReport],
) -> Vec<Option<Picture>> {
    let places: BTreeMap<&BenchmarkId, usize> = plan.benchmarks.iter().map(|b| &b.id).zip(0..).collect();
    let mut monitor = Monitor::new(plan, thresholds);
    let picture = |report: &BenchmarkReport| {
        let place = *places.get(&report.id)?;
        let samples = measured.get(place).map_or(&[][..], |m| &m.samples);
        let first_round: Vec<ForkPair> = report.forks.iter().filter(|f| f.round == 0).copied().collect();
        let reported = report.estimate.map(|estimate| (estimate.ratio_low, estimate.ratio_high));
        let mut looks = monitor.looks(place, &first_round, Spend::AsPlanned);
        // The error that a budget's end leaves goes to those that were open by then.
        if plan.budget_ns.is_some() && looks.last().map(|look| (look.ratio_low, look.ratio_high)) != reported {
            looks = monitor.looks(place, &first_round, Spend::Everything);
        }
        Picture::of(report, &plan.benchmarks[place], samples, &looks)
    };
    reports.iter().map(picture).collect()
}

impl Picture {
    fn of(report: &BenchmarkReport, planned: &PlannedBenchmark, samples: &[Sample], looks: &[Look]) -> Option<Picture> {
        let basis = report.estimate.map_or(Basis::TypicalSlice, |e| e.basis);
        let clock = report.estimate.map_or(Clock::Wall, |e| e.clock);
        let ordered = in_order(&report.forks, &planned.configuration.design);
        let log_ratio = |fork: &ForkPair| basis.of(&clock.read(fork));
        let point = |(unit, fork): &(u32, ForkPair)| ForkPoint {
            unit: *unit,
            build: fork.build,
            round: fork.round,
            baseline_ns: fork.baseline.ns_per_op,
            candidate_ns: fork.candidate.ns_per_op,
            ratio: finite_exp(log_ratio(fork)),
        };
        let points: Vec<ForkPoint> = ordered.iter().map(point).collect();
        let forks: Vec<ForkPair> = ordered.into_iter().map(|(_, fork)| fork).collect();
        let by_fork = slices::by_fork(samples, planned.mode);
        let histogram =
            (planned.mode != Mode::Sequential).then(|| Histogram::of(&slices::log_ratios(&forks, &by_fork)));
        let [baseline, candidate] = slices::times(&forks, &by_fork);
        (!points.is_empty()).then(|| Picture {
            forks: points,
            slices: slices::courses(&forks, &by_fork, log_ratio),
            histogram: histogram.flatten(),
            times: Distributions::of(&baseline, &candidate),
            looks: look_points(looks, is_settled(report)),
        })
    }
}

/// Fork pairs round by round and unit by unit, each with the number of its unit.
fn in_order(forks: &[ForkPair], design: &Design) -> Vec<(u32, ForkPair)> {
    let rounds: BTreeSet<u32> = forks.iter().map(|f| f.round).collect();
    let of_round = |round| forks.iter().filter(|f| f.round == round).copied().collect::<Vec<_>>();
    let units = rounds.into_iter().flat_map(|round| by_unit(&of_round(round), design));
    (0..).zip(units).flat_map(|(unit, forks)| forks.into_iter().map(move |fork| (unit, fork))).collect()
}

/// Whether the first round gave an answer, even if a later one took it back.
fn is_settled(report: &BenchmarkReport) -> bool {
    let withdrawn = report.confirmation.as_ref().is_some_and(|c| c.standing == ConfirmationStanding::Withdrawn);
    withdrawn || (report.estimate.is_some() && !report.verdict.of_times().is_open())
}

/// A benchmark goes on after every look but the last, so that none before can have settled it.
fn look_points(looks: &[Look], settled: bool) -> Vec<LookPoint> {
    let last = looks.len().saturating_sub(1);
    looks.iter().enumerate().map(|(i, look)| LookPoint { look: *look, settled: settled && i == last }).collect()
}
