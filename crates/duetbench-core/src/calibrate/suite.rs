//! The cheapest designs for a whole suite, within a time that its benchmarks share.

use serde::{Deserialize, Serialize};

use super::{Calibrated, Calibration, Obstacle, Proposal, Target, propose};
use crate::sample::BenchmarkId;
use crate::stats::Level;

/// Most instances that are tried where those that were asked for are too few.
const INSTANCES_MAX: u32 = 1024;

/// What is wanted of a suite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SuiteTarget {
    /// Smallest change that is to be seen, a fraction.
    pub change: f64,
    /// How sure, and how often.
    pub level: Level,
    /// Time that may be used for all benchmarks together, seconds; absent: as much as it takes.
    pub within_s: Option<f64>,
    /// Instances that measure at the same time; 1 on a machine.
    pub instances: u32,
}

/// What it takes for one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposed {
    /// Which benchmark.
    pub id: BenchmarkId,
    /// How it would be measured, or why the change cannot be seen; absent where too few of its fork pairs came to their end.
    pub answer: Option<Result<Proposal, Obstacle>>,
}

/// What it takes for a suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuitePlan {
    /// One entry per benchmark, in name order.
    pub benchmarks: Vec<Proposed>,
    /// Time of all together, seconds; benchmarks that cannot see the change count with the best that they can do.
    pub takes_s: f64,
    /// Time that all would take that see the change, seconds; absent where one of them cannot, however long it is measured.
    pub enough_s: Option<f64>,
    /// Fewest instances, of powers of two, with which every benchmark would see the change in the time; absent where those that were
    /// asked for are enough, or none are.
    pub instances_enough: Option<u32>,
}

impl Proposed {
    /// Whether the change would be seen.
    #[must_use]
    pub fn sees(&self) -> bool {
        matches!(self.answer, Some(Ok(_)))
    }

    /// What would be measured: the proposal, or the best that can be had.
    #[must_use]
    pub fn design(&self) -> Option<Proposal> {
        match self.answer? {
            Ok(proposal) => Some(proposal),
            Err(obstacle) => obstacle.best,
        }
    }
}

impl SuitePlan {
    /// Benchmarks that would not see the change.
    #[must_use]
    pub fn missed(&self) -> usize {
        self.benchmarks.iter().filter(|proposed| !proposed.sees()).count()
    }
}

/// The cheapest design of every benchmark. Where the time does not suffice for all, it is spread as measuring spreads it: each may
/// use an even share of what those leave that need less.
#[must_use]
pub fn propose_all(calibration: &Calibration, target: &SuiteTarget) -> SuitePlan {
    let benchmarks = proposals(calibration, target);
    let takes_s = benchmarks.iter().filter_map(|proposed| Some(proposed.design()?.takes_s)).sum();
    let enough_s = benchmarks.iter().filter_map(|proposed| proposed.answer).map(needed_s).sum();
    let instances_enough = if could_see(&benchmarks) { None } else { instances_enough(calibration, target) };
    SuitePlan { benchmarks, takes_s, enough_s, instances_enough }
}

fn proposals(calibration: &Calibration, target: &SuiteTarget) -> Vec<Proposed> {
    let at_leisure: Vec<Proposed> = calibration.benchmarks.iter().map(|b| proposed(b, target, None)).collect();
    let wants_s = |p: &Proposed| p.answer.map(|answer| answer.map_or(f64::INFINITY, |proposal| proposal.takes_s));
    let wanted_s: Vec<f64> = at_leisure.iter().filter_map(wants_s).collect();
    let Some(share_s) = target.within_s.and_then(|within_s| share(wanted_s, within_s)) else { return at_leisure };
    let both = calibration.benchmarks.iter().zip(at_leisure);
    let cut = |(benchmark, at_leisure): (&Calibrated, Proposed)| match at_leisure.answer {
        Some(Ok(proposal)) if proposal.takes_s <= share_s => at_leisure,
        _ => proposed(benchmark, target, Some(share_s)),
    };
    both.map(cut).collect()
}

fn proposed(benchmark: &Calibrated, target: &SuiteTarget, within_s: Option<f64>) -> Proposed {
    let SuiteTarget { change, level, instances, .. } = *target;
    let target = Target { change, level, within_s, instances };
    let answer = benchmark.sources.as_ref().map(|sources| propose(sources, &benchmark.costs, &target));
    Proposed { id: benchmark.id.clone(), answer }
}

/// What each may use at most where not all can have what they want; absent where they can.
fn share(mut wanted_s: Vec<f64>, within_s: f64) -> Option<f64> {
    wanted_s.sort_by(f64::total_cmp);
    let (mut left_s, mut open) = (within_s, wanted_s.len());
    for wanted_s in wanted_s {
        let even_s = left_s / open as f64;
        if wanted_s > even_s {
            return Some(even_s);
        }
        left_s -= wanted_s;
        open -= 1;
    }
    None
}

/// Time that a benchmark takes to see the change.
fn needed_s(answer: Result<Proposal, Obstacle>) -> Option<f64> {
    match answer {
        Ok(proposal) => Some(proposal.takes_s),
        Err(obstacle) => obstacle.needed.map(|needed| needed.takes_s),
    }
}

/// Whether all see the change of which anything is known.
fn could_see(benchmarks: &[Proposed]) -> bool {
    benchmarks.iter().all(|proposed| proposed.answer.is_none_or(|answer| answer.is_ok()))
}

fn instances_enough(calibration: &Calibration, target: &SuiteTarget) -> Option<u32> {
    target.within_s?;
    let more = std::iter::successors(Some(2_u32), |n| n.checked_mul(2)).take_while(|n| *n <= INSTANCES_MAX);
    let enough = |n: &u32| could_see(&proposals(calibration, &SuiteTarget { instances: *n, ..*target }));
    more.filter(|n| *n > target.instances).find(enough)
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn what_needs_little_leaves_its_time_to_the_others() {
        let check = |wanted: &[f64], within, want| assert_eq!(share(wanted.to_vec(), within), want);
        check(&[], 1.0, None);
        check(&[3.0, 1.0, 2.0], 6.0, None);
        check(&[1.0, 9.0, 9.0], 7.0, Some(3.0));
        check(&[9.0, 9.0], 7.0, Some(3.5));
        check(&[1.0, f64::INFINITY], 100.0, Some(99.0));
    }
}
