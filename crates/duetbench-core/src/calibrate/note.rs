//! What later reports say of a calibration.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Calibrated, Calibration, Difference, Machine, Rate, Shares, Sight, Sources};
use crate::sample::BenchmarkId;
use crate::stats;

/// A calibration, with the run that it was made from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// Name of the run in its store.
    pub run: String,
    /// When, RFC 3339.
    pub made: String,
    /// Where it was measured.
    pub machine: Machine,
    /// What it found.
    pub calibration: Calibration,
}

/// What a report says of the calibration that concerns it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationNote {
    /// Name of the run that it was made from.
    pub run: String,
    /// When, RFC 3339.
    pub made: String,
    /// What of the machine is not as it was then; where anything is, the numbers need not hold any more.
    pub changed: Vec<Difference>,
    /// What is seen in about the time that the run measured each benchmark; absent where that pays for no interval.
    pub seen: Option<Seen>,
    /// How often equal code was called changed.
    pub called_changed: Rate,
    /// Benchmarks that run and calibration have in common.
    pub benchmarks: u32,
    /// Those of them that cannot see anything useful.
    pub blind: u32,
}

/// What a suite sees after a measuring time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// Measuring time of each benchmark, seconds.
    pub budget_s: f64,
    /// Smallest visible change, median over the benchmarks that see any, a fraction.
    pub median: f64,
    /// That of the benchmark that sees best.
    pub least: f64,
    /// That of the one that sees worst.
    pub most: f64,
    /// Benchmarks that see any.
    pub benchmarks: u32,
}

/// The shares of the typical benchmark of a suite in the variance of a fork pair, fractions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TypicalShares {
    /// That of layout; absent where every fork pair has the same builds.
    pub layout: Option<f64>,
    /// That of the processes.
    pub fork: f64,
    /// That of the slices: interference.
    pub slice: f64,
}

impl Seen {
    /// What these benchmarks see after the budget of this number; absent where it pays for no interval.
    #[must_use]
    pub fn of<'a>(benchmarks: impl Iterator<Item = &'a Calibrated>, (number, budget_s): (usize, f64)) -> Option<Seen> {
        let sight = |b: &Calibrated| b.sights.get(number).copied().flatten();
        let seen: Vec<f64> = benchmarks.filter_map(sight).map(|s: Sight| s.minimal_detectable_change).collect();
        Some(Seen {
            budget_s,
            median: stats::median(&seen).ok()?,
            least: seen.iter().copied().reduce(f64::min)?,
            most: seen.iter().copied().reduce(f64::max)?,
            benchmarks: count(seen.len()),
        })
    }
}

impl Made {
    /// Of several, newest first, the one that says most of a run of these benchmarks on this machine: that of most of them, the newest
    /// of several; one that was made here before all that were not. One that shares no benchmark with the run says nothing.
    #[must_use]
    pub fn concerning<'a>(all: &'a [Made], ids: &BTreeSet<&BenchmarkId>, here: &Machine) -> Option<&'a Made> {
        let shared = |made: &Made| made.calibration.benchmarks.iter().filter(|b| ids.contains(&b.id)).count();
        // Of several that are as good, the last one is taken.
        all.iter().rev().filter(|made| shared(made) > 0).max_by_key(|made| (made.machine == *here, shared(made)))
    }

    /// Whether nothing has changed since: it is the same machine with the same benchmarks.
    #[must_use]
    pub fn holds_for(&self, ids: &BTreeSet<&BenchmarkId>, here: &Machine) -> bool {
        let known: BTreeSet<&BenchmarkId> = self.calibration.benchmarks.iter().map(|b| &b.id).collect();
        self.machine == *here && known == *ids
    }

    /// What it says of a run of these benchmarks, which measured each for so many seconds.
    #[must_use]
    pub fn note(&self, (ids, each_s): (&BTreeSet<&BenchmarkId>, f64), here: &Machine) -> CalibrationNote {
        let common: Vec<&Calibrated> = self.calibration.benchmarks.iter().filter(|b| ids.contains(&b.id)).collect();
        let nearest = self.calibration.nearest_budget(each_s);
        CalibrationNote {
            run: self.run.clone(),
            made: self.made.clone(),
            changed: self.machine.differences(here),
            seen: nearest.and_then(|budget| Seen::of(common.iter().copied(), budget)),
            called_changed: self.calibration.alarms.called_changed,
            benchmarks: count(common.len()),
            blind: count(common.iter().filter(|b| b.blind.is_some()).count()),
        }
    }
}

impl Calibration {
    /// What the whole suite sees after each budget, in their order; absent where a budget pays for no interval.
    #[must_use]
    pub fn seen(&self) -> Vec<Option<Seen>> {
        self.budgets_s.iter().copied().enumerate().map(|budget| Seen::of(self.benchmarks.iter(), budget)).collect()
    }

    /// Benchmarks that cannot see anything useful.
    pub fn blind(&self) -> impl Iterator<Item = &Calibrated> {
        self.benchmarks.iter().filter(|b| b.blind.is_some())
    }

    /// What fork pairs of the suite vary by: the median share of each source over the benchmarks in which it was looked for, so that
    /// the three need not add up to 1; absent where nothing is known of any.
    #[must_use]
    pub fn typical_shares(&self) -> Option<TypicalShares> {
        let sources: Vec<&Sources> = self.benchmarks.iter().filter_map(|b| b.sources.as_ref()).collect();
        let median = |share: fn(&Shares) -> f64, looked_for: fn(&Sources) -> bool| {
            let shares = sources.iter().filter(|s| looked_for(s)).map(|s| share(&s.shares()));
            stats::median(&shares.collect::<Vec<f64>>()).ok()
        };
        Some(TypicalShares {
            layout: median(|s| s.layout, |s| s.layout.is_some()),
            fork: median(|s| s.fork, |_| true)?,
            slice: median(|s| s.slice, |_| true)?,
        })
    }

    /// The budget nearest to a measuring time, with its number. Times are compared as ratios: 30 s are as near to 10 s as to 90 s.
    fn nearest_budget(&self, time_s: f64) -> Option<(usize, f64)> {
        let apart = |budget_s: f64| (budget_s.max(f64::MIN_POSITIVE) / time_s.max(f64::MIN_POSITIVE)).ln().abs();
        self.budgets_s.iter().copied().enumerate().min_by(|(_, a), (_, b)| apart(*a).total_cmp(&apart(*b)))
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
