//! Cost of repetitions in a stored comparison.

use std::collections::BTreeSet;

use duetbench_core::calibrate::Costs;
use duetbench_core::plan::{Mode, Plan, PlannedBenchmark};
use duetbench_core::{Role, Sample, Trial, stats};

use super::{RunHead, StoredRun};
use crate::engine::TrialOutcome;

impl StoredRun<RunHead> {
    /// Cost of repetitions of each benchmark, in seconds, indexed like the plan's benchmarks.
    ///
    /// A slice pair costs what lies between one and the next, pauses included; a fork pair what else its trial took, which is its
    /// start, its warm-up and its end. What the run took outside of trials was for linking, shared evenly by build pairs and, of each,
    /// by the benchmarks that were started from it. On a fleet everything was linked before. All are medians over trials.
    pub fn costs(&self) -> Vec<Costs> {
        let plan = self.plan();
        let link_s = self.link_s(&plan);
        let cost = |(benchmark, planned): (usize, &PlannedBenchmark)| {
            let trials = self.trials.iter().filter(|(trial, _)| trial.benchmark == benchmark);
            let timed: Vec<(f64, f64)> = trials.filter_map(|(_, outcome)| timed(outcome)).collect();
            let slice_s = median_or_zero(timed.iter().map(|(slice_s, _)| *slice_s));
            let fork_s = median_or_zero(timed.iter().map(|(_, fork_s)| *fork_s));
            let siblings = plan.benchmarks.iter().filter(|other| relinked(other) && shares_package(other, planned));
            let build_s = if relinked(planned) { link_s / siblings.count().max(1) as f64 } else { 0.0 };
            Costs { build_s, fork_s, slice_s }
        };
        plan.benchmarks.iter().enumerate().map(cost).collect()
    }

    /// Time that linking a build pair of a package took on average, seconds.
    fn link_s(&self, plan: &Plan) -> f64 {
        if self.head.fleet.is_some() {
            return 0.0;
        }
        let in_trials_s: f64 = self.trials.iter().map(|(_, outcome)| outcome.wall.as_secs_f64()).sum();
        let linked = |(trial, _): &(Trial, TrialOutcome)| {
            let planned = plan.benchmarks.get(trial.benchmark).filter(|planned| relinked(planned))?;
            Some((planned.id.package.clone(), trial.build))
        };
        let build_pairs = self.trials.iter().filter_map(linked).collect::<BTreeSet<_>>().len();
        if build_pairs == 0 { 0.0 } else { (self.measured_s - in_trials_s).max(0.0) / build_pairs as f64 }
    }
}

fn relinked(planned: &PlannedBenchmark) -> bool {
    planned.configuration.design.by_build
}

fn shares_package(a: &PlannedBenchmark, b: &PlannedBenchmark) -> bool {
    a.id.package == b.id.package
}

/// Seconds of a slice pair of a trial, and of the rest of the trial; absent where it gave nothing that counts.
fn timed(outcome: &TrialOutcome) -> Option<(f64, f64)> {
    let counted: Vec<&Sample> = outcome.result.as_ref().ok()?.iter().filter(|s| !s.warm_up).collect();
    let slices = counted.iter().map(|s| s.at.iteration).collect::<BTreeSet<u32>>().len();
    // Sides that run one after the other have the start of a process between them.
    let spans_ns = if outcome.mode == Mode::Sequential {
        Role::BOTH.iter().map(|role| span_ns(counted.iter().filter(|s| s.at.role == *role))).sum::<Option<u64>>()
    } else {
        span_ns(counted.iter())
    };
    let wall_s = outcome.wall.as_secs_f64();
    // Clocks of instances, and of scripts, may disagree with what the trial took as a whole.
    let span_s = (spans_ns? as f64 * 1e-9).min(wall_s);
    Some((span_s / slices as f64, wall_s - span_s))
}

/// From the beginning of the first to the end of the last.
fn span_ns<'a>(samples: impl Iterator<Item = &'a &'a Sample> + Clone) -> Option<u64> {
    let begin_ns = samples.clone().map(|s| s.start_ns).min()?;
    let end_ns = samples.map(|s| s.start_ns.saturating_add(s.wall_ns)).max()?;
    Some(end_ns.saturating_sub(begin_ns))
}

fn median_or_zero(values: impl Iterator<Item = f64>) -> f64 {
    stats::median(&values.collect::<Vec<f64>>()).unwrap_or(0.0)
}
