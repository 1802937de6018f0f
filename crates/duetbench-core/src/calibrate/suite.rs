//! Results of a calibration for the suite as a whole.

use serde::{Deserialize, Serialize};

use super::{Blind, Calibration, Shares, Sight};
use crate::sample::BenchmarkId;
use crate::stats;

/// The changes that the benchmarks of a suite detect after one of the measuring times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SuiteSight {
    /// Measuring time for each benchmark, seconds.
    pub budget_s: f64,
    /// The median minimal detectable change of a benchmark, a fraction.
    pub median: f64,
    /// The smallest one.
    pub least: f64,
    /// The largest one.
    pub most: f64,
    /// Benchmarks for which the time pays for an interval; the others are in none of these numbers.
    pub benchmarks: u32,
}

impl Calibration {
    /// The suite's detectable changes after each of the budgets; absent for one that pays for no interval of any benchmark.
    pub fn suite_sights(&self) -> Vec<Option<SuiteSight>> {
        let at = |(index, budget_s): (usize, &f64)| {
            let sights = self.benchmarks.iter().filter_map(|b| b.sights.get(index).copied().flatten());
            let mut seen: Vec<f64> = sights.map(|sight| sight.minimal_detectable_change).collect();
            seen.sort_by(f64::total_cmp);
            Some(SuiteSight {
                budget_s: *budget_s,
                least: *seen.first()?,
                median: stats::median(&seen).ok()?,
                most: *seen.last()?,
                benchmarks: u32::try_from(seen.len()).unwrap_or(u32::MAX),
            })
        };
        self.budgets_s.iter().enumerate().map(at).collect()
    }

    /// The budget that is nearest to a measuring time, as a ratio; absent without budgets.
    pub fn nearest_budget(&self, measured_s: f64) -> Option<usize> {
        let distance = |budget_s: f64| (budget_s / measured_s).ln().abs();
        let nearest = self.budgets_s.iter().enumerate().min_by(|a, b| distance(*a.1).total_cmp(&distance(*b.1)));
        nearest.map(|(index, _)| index)
    }

    /// A benchmark's detectable change after the budget nearest to so many seconds.
    pub fn sight(&self, id: &BenchmarkId, measured_s: f64) -> Option<Sight> {
        let index = self.nearest_budget(measured_s)?;
        let benchmark = self.benchmarks.iter().find(|b| b.id == *id)?;
        benchmark.sights.get(index).copied().flatten()
    }

    /// Benchmarks that cannot see anything useful, with why, in name order.
    pub fn blind(&self) -> impl Iterator<Item = (&BenchmarkId, Blind)> {
        self.benchmarks.iter().filter_map(|b| Some((&b.id, b.blind?)))
    }

    /// Medians over the benchmarks of each source's share in the variance of a fork pair; each for itself, so they need not add up to
    /// 1. Absent where no benchmark has sources.
    pub fn shares(&self) -> Option<Shares> {
        let shares: Vec<Shares> = self.benchmarks.iter().filter_map(|b| Some(b.sources?.shares())).collect();
        let median = |share: fn(&Shares) -> f64| stats::median(&shares.iter().map(share).collect::<Vec<_>>()).ok();
        Some(Shares { layout: median(|s| s.layout)?, fork: median(|s| s.fork)?, slice: median(|s| s.slice)? })
    }
}
