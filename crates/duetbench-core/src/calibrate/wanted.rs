//! The cheapest designs for a whole suite, within a time that its benchmarks share.

use serde::{Deserialize, Serialize};

use super::{Calibrated, Calibration, Costs, Obstacle, Proposal, Sources, Target, propose_each};
use crate::sample::BenchmarkId;
use crate::stats::Level;

/// Most instances that are tried where those that were asked for are too few.
const INSTANCES_MAX: u32 = 1024;

/// The change to be detected in a suite, and the limits on measuring it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SuiteTarget {
    /// Smallest change that is to be seen, a fraction.
    pub change: f64,
    /// Error and power of the tests.
    pub level: Level,
    /// Time that may be used for all benchmarks together, seconds; absent: as much as it takes.
    pub within_s: Option<f64>,
    /// Instances that measure at the same time; 1 on a machine.
    pub instances: u32,
}

/// The design proposed for one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposed {
    /// The benchmark.
    pub id: BenchmarkId,
    /// The design, or why the change cannot be seen; absent where too few of its fork pairs came to their end.
    pub answer: Option<Result<Proposal, Obstacle>>,
}

/// The designs proposed for a suite, with their time.
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
    pub fn sees(&self) -> bool {
        matches!(self.answer, Some(Ok(_)))
    }

    /// The design that would be measured: the proposal, or the best that can be had.
    pub fn design(&self) -> Option<Proposal> {
        match self.answer? {
            Ok(proposal) => Some(proposal),
            Err(obstacle) => obstacle.best,
        }
    }
}

impl SuitePlan {
    /// Benchmarks that would not see the change.
    pub fn missed(&self) -> usize {
        self.benchmarks.iter().filter(|proposed| !proposed.sees()).count()
    }
}

/// The cheapest design of every benchmark, with fork pairs as long as those that were measured, since `duet compare` makes no others.
/// Where the time does not suffice for all, it is spread as measuring spreads it: each may use an even share of what those leave that
/// need less.
pub fn propose_all(calibration: &Calibration, target: &SuiteTarget) -> SuitePlan {
    let benchmarks = proposals(calibration, target);
    let takes_s = benchmarks
        .iter()
        .filter_map(|proposed| Some(proposed.design()?.takes_s))
        .fold(0.0, |sum, takes_s| sum + takes_s);
    let enough_s = benchmarks.iter().filter_map(|proposed| proposed.answer).map(needed_s).sum();
    let instances_enough = match (enough_s, target.within_s) {
        (Some(enough_s), Some(within_s)) if !could_see(&benchmarks) => {
            instances_enough(calibration, target, enough_s / within_s)
        }
        _ => None,
    };
    SuitePlan { benchmarks, takes_s, enough_s, instances_enough }
}

type Answer = Result<Proposal, Obstacle>;

fn proposals(calibration: &Calibration, target: &SuiteTarget) -> Vec<Proposed> {
    let known: Vec<Option<Whole>> = calibration.benchmarks.iter().map(Whole::of).collect();
    let at_leisure = answers(&known, target, None);
    let wants_s = |answer: &Answer| answer.map_or(f64::INFINITY, |proposal| proposal.takes_s);
    let wanted_s: Vec<f64> = at_leisure.iter().flatten().map(wants_s).collect();
    let answers = match target.within_s.and_then(|within_s| share(wanted_s, within_s)) {
        None => at_leisure,
        Some(share_s) => {
            let cut = answers(&known, target, Some(share_s));
            let fits = |answer: &Answer| answer.is_ok_and(|proposal| proposal.takes_s <= share_s);
            at_leisure.into_iter().zip(cut).map(|(whole, cut)| whole.filter(fits).or(cut)).collect()
        }
    };
    let ids = calibration.benchmarks.iter().map(|b| b.id.clone());
    ids.zip(answers).map(|(id, answer)| Proposed { id, answer }).collect()
}

/// A benchmark whose fork pairs are as long as they were measured: what their slices vary and cost belongs to them.
struct Whole {
    sources: Sources,
    costs: Costs,
    slices: u32,
}

impl Whole {
    fn of(benchmark: &Calibrated) -> Option<Whole> {
        let (sources, costs) = (benchmark.sources?, benchmark.costs);
        let slices = sources.slices.max(1);
        Some(Whole {
            sources: Sources { fork: sources.of_fork_pair(), slice: 0.0, slices: 1, ..sources },
            costs: Costs { fork_s: costs.fork_s + f64::from(slices) * costs.slice_s, slice_s: 0.0, ..costs },
            slices,
        })
    }

    fn with_slices(&self, answer: Answer) -> Answer {
        let with = |proposal: Proposal| Proposal { slices: self.slices, ..proposal };
        answer.map(with).map_err(|o| Obstacle { best: o.best.map(with), needed: o.needed.map(with) })
    }
}

fn answers(known: &[Option<Whole>], target: &SuiteTarget, within_s: Option<f64>) -> Vec<Option<Answer>> {
    let SuiteTarget { change, level, instances, .. } = *target;
    let target = Target { change, level, within_s, instances };
    let all = known.iter().flatten().map(|whole| (&whole.sources, &whole.costs));
    let mut answers = propose_each(all, &target).into_iter();
    known.iter().map(|whole| whole.as_ref().and_then(|whole| Some(whole.with_slices(answers.next()?)))).collect()
}

/// Time for each, seconds, where not all can have the time that they want; absent where they can.
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

/// The fewest instances that are enough where a single one takes so many times the time; no number of them divides a time by more.
fn instances_enough(calibration: &Calibration, target: &SuiteTarget, times: f64) -> Option<u32> {
    let least = (times * f64::from(target.instances)).ceil().min(f64::from(INSTANCES_MAX) + 1.0) as u32;
    let more = std::iter::successors(Some(least.next_power_of_two()), |n| n.checked_mul(2));
    let enough = |n: &u32| could_see(&proposals(calibration, &SuiteTarget { instances: *n, ..*target }));
    more.take_while(|n| *n <= INSTANCES_MAX).filter(|n| *n > target.instances).find(enough)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Basis;
    use crate::plan::Mode;
    use crate::spec::Decision;

    const COSTS: Costs = Costs { build_s: 0.5, fork_s: 0.1, slice_s: 0.001 };

    fn sources(layout: f64) -> Sources {
        Sources {
            layout: Some(layout),
            fork: 0.01,
            slice: 0.02,
            slices: 100,
            degrees_of_freedom: 31.0,
            basis: Basis::AllSlices,
            forks_per_unit: 1.2,
            fork_degrees_of_freedom: 4.0,
            tails: 1.0,
            places: 1,
        }
    }

    /// Benchmarks of which only the layout differs, and one of which nothing is known.
    fn calibration(layouts: &[f64]) -> Calibration {
        let calibrated = |(i, sources): (usize, Option<Sources>)| Calibrated {
            id: BenchmarkId { package: "p".into(), name: format!("B{i}") },
            mode: Mode::Duet,
            sources,
            costs: COSTS,
            sights: Vec::new(),
            blind: None,
        };
        let all = layouts.iter().map(|layout| Some(sources(*layout))).chain([None]);
        let benchmarks = all.enumerate().map(calibrated).collect();
        Calibration { benchmarks, ..Calibration::of(&[], &[], &Decision::default()) }
    }

    fn target(within_s: Option<f64>) -> SuiteTarget {
        SuiteTarget { change: 0.03, level: Level { alpha: 0.01, power: 0.9 }, within_s, instances: 1 }
    }

    #[test]
    fn fork_pairs_keep_the_length_that_compare_gives_them() {
        let plan = propose_all(&calibration(&[0.02]), &target(None));
        let design = plan.benchmarks[0].design().unwrap();
        assert_eq!(design.slices, 100);
        let (builds, forks) = (f64::from(design.builds), f64::from(design.forks_per_build));
        assert!((design.takes_s - builds * (0.5 + forks * 0.2)).abs() < 1e-9, "{design:?}");
        assert!(design.minimal_detectable_change <= 0.03);
        // The same variance, had it all been between fork pairs.
        let whole = Sources { fork: 0.01_f64.hypot(0.002), slice: 0.0, ..sources(0.02) };
        let mut known = calibration(&[0.02]);
        known.benchmarks[0].sources = Some(whole);
        let of_whole = propose_all(&known, &target(None)).benchmarks[0].design().unwrap();
        assert!((of_whole.minimal_detectable_change - design.minimal_detectable_change).abs() < 1e-12);
    }

    #[test]
    fn a_suite_takes_what_its_benchmarks_take() {
        let plan = propose_all(&calibration(&[0.01, 0.03]), &target(None));
        let each: Vec<f64> = plan.benchmarks.iter().filter_map(|b| Some(b.design()?.takes_s)).collect();
        assert_eq!((plan.takes_s, plan.enough_s), (each.iter().sum(), Some(each.iter().sum())));
        assert_eq!((plan.benchmarks[2].answer, plan.missed(), plan.instances_enough), (None, 1, None));
    }

    #[test]
    fn time_that_does_not_suffice_goes_to_those_that_need_most() {
        let enough = propose_all(&calibration(&[0.001, 0.03]), &target(None));
        let needs = |i: usize| enough.benchmarks[i].design().unwrap().takes_s;
        let within_s = enough.takes_s - 1.0;
        let plan = propose_all(&calibration(&[0.001, 0.03]), &target(Some(within_s)));
        assert_eq!(plan.benchmarks[0], enough.benchmarks[0]);
        let Some(Err(obstacle)) = plan.benchmarks[1].answer else { panic!("{plan:?}") };
        assert_eq!(obstacle.needed, enough.benchmarks[1].design());
        let best = obstacle.best.unwrap();
        assert!(best.takes_s <= within_s - needs(0) && best.minimal_detectable_change > 0.03, "{best:?}");
        // As many turns are saved as there are instances.
        let instances = plan.instances_enough.unwrap();
        let with =
            |instances| propose_all(&calibration(&[0.001, 0.03]), &SuiteTarget { instances, ..target(Some(within_s)) });
        assert_eq!((instances, with(instances).missed()), (2, 1));
    }

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
