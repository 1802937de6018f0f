//! Values of one version in a stored run, as the [`Recording`] that tuning and detecting work with.

use duetbench_core::analysis::{ForkPair, by_unit, summarise};
use duetbench_core::plan::{Design, Mode, Style};
use duetbench_core::recording::{Better, Cost, Grid, HarnessWarmUp, Level, Recorded, TIME};
use duetbench_core::{BenchmarkId, Recording, Role, Sample, Trial, stats};

use super::{Head, RunHead, SoloHead, StoredRun};
use crate::engine::TrialOutcome;

impl StoredRun {
    /// Every value that one version gave.
    ///
    /// A run of one version has the levels suite run, fork and iteration; its only version is meant, whatever the role. What an
    /// iteration gave is its wall time by its invocations. Warm-up is no value, but part of what a fork costs.
    ///
    /// A comparison has the levels suite run and fork, with one fork in each suite run and one value for each: the time per
    /// invocation that its report shows for this side of the fork pair. Its slices are no iterations: they are so short that they
    /// vary by things that iterations average out, and follow each other closely. The rounds that confirm are left out, because
    /// only benchmarks that looked like regressions have them.
    pub fn recording(&self, role: Role) -> Recording {
        self.recording_by(|forks, _| forks.iter().map(|fork| vec![*fork]).collect(), role)
    }

    /// The same to be compared with others: of a comparison one value for each unit, the mean of its fork pairs, since those of one
    /// build pair, or of one call of a fleet, share what units differ by.
    pub fn recording_of_units(&self, role: Role) -> Recording {
        self.recording_by(by_unit, role)
    }

    fn recording_by(&self, grouped: Grouped, role: Role) -> Recording {
        let mut recording = match &self.head {
            Head::Comparison(head) => of_comparison(head, &self.trials, self.modes(&head.plan), role, grouped),
            Head::Solo(head) => of_solo(head, &self.trials),
        };
        recording.name.clone_from(&self.name);
        recording.warnings.splice(0..0, self.gaps());
        recording
    }

    /// Words for a run that was stopped.
    pub fn gaps(&self) -> Option<String> {
        (!self.complete).then(|| format!("run `{}` did not come to its end, so benchmarks have gaps", self.name))
    }
}

/// The trials of one benchmark.
fn trials_of(trials: &[(Trial, TrialOutcome)], benchmark: usize) -> impl Iterator<Item = &(Trial, TrialOutcome)> {
    trials.iter().filter(move |(trial, _)| trial.benchmark == benchmark)
}

fn recorded(id: &BenchmarkId, cost: Cost, grid: Grid) -> Recorded {
    Recorded {
        benchmark: id.to_string(),
        unit: TIME.into(),
        better: Better::Lower,
        cost,
        harness_warm_up: None,
        terms: Vec::new(),
        grid,
    }
}

/// The median of what is there, 0 where nothing is.
fn median_or_zero(values: &[f64]) -> f64 {
    stats::median(values).unwrap_or(0.0)
}

fn of_solo(head: &SoloHead, trials: &[(Trial, TrialOutcome)]) -> Recording {
    let levels = vec![Level::SuiteRun, Level::Fork, Level::Iteration];
    let mut recording = Recording { name: String::new(), levels, benchmarks: Vec::new(), warnings: Vec::new() };
    for (benchmark, planned) in head.plan.benchmarks.iter().enumerate() {
        let repetitions = &planned.repetitions;
        let shape = [repetitions.suite_runs, repetitions.forks, repetitions.iterations].map(|n| n as usize);
        let mut grid = Grid::empty(&shape);
        let (mut iterations_s, mut overheads_s) = (Vec::new(), Vec::new());
        for (trial, outcome) in trials_of(trials, benchmark) {
            match &outcome.result {
                Ok(samples) => {
                    let judged: Vec<&Sample> = samples.iter().filter(|s| !s.warm_up).collect();
                    for (iteration, sample) in judged.iter().enumerate() {
                        grid.set(&[trial.suite_run as usize, trial.fork as usize, iteration], per_invocation(sample));
                    }
                    let measured_s = judged.iter().map(|s| s.wall_ns as f64 * 1e-9);
                    overheads_s.push((outcome.wall.as_secs_f64() - measured_s.clone().sum::<f64>()).max(0.0));
                    iterations_s.extend(measured_s);
                }
                Err(failure) if failure.discarded => {}
                Err(failure) => recording.warnings.push(format!(
                    "`{}` failed in suite run {}, fork {}: {}",
                    planned.id,
                    trial.suite_run + 1,
                    trial.fork + 1,
                    failure.reason.lines().next().unwrap_or_default()
                )),
            }
        }
        if iterations_s.is_empty() {
            recording.warnings.push(format!("`{}` gave nothing and is left out", planned.id));
            continue;
        }
        let overhead_s = vec![0.0, median_or_zero(&overheads_s), 0.0];
        let cost = Cost { innermost_s: median_or_zero(&iterations_s), overhead_s };
        let harness_warm_up = harness_warm_up(head, planned.style);
        recording.benchmarks.push(Recorded { harness_warm_up, ..recorded(&planned.id, cost, grid) });
    }
    recording
}

/// Warm-up of the harness before it measures; absent where processes need none. For JMH's benchmarks it is JMH's default: a run does
/// not keep the annotations of single benchmarks.
fn harness_warm_up(head: &SoloHead, style: Style) -> Option<HarnessWarmUp> {
    let nothing = HarnessWarmUp { iterations: 0, iteration_s: 0.0, ran: false };
    let by_default = if head.spec.harness.commands.is_empty() { HarnessWarmUp::JMH_DEFAULT } else { nothing };
    (style == Style::Iteration).then_some(by_default)
}

fn per_invocation(sample: &Sample) -> f64 {
    sample.wall_ns as f64 / sample.invocations.max(1) as f64
}

/// The fork pairs that give one value together.
type Grouped = fn(&[ForkPair], &Design) -> Vec<Vec<ForkPair>>;

fn of_comparison(
    head: &RunHead,
    trials: &[(Trial, TrialOutcome)],
    modes: Vec<Mode>,
    role: Role,
    grouped: Grouped,
) -> Recording {
    let side = |fork: &ForkPair| match role {
        Role::Baseline => fork.baseline.ns_per_op,
        Role::Candidate => fork.candidate.ns_per_op,
    };
    let mean = |group: &Vec<ForkPair>| stats::mean(&group.iter().map(side).collect::<Vec<_>>()).ok();
    let levels = vec![Level::SuiteRun, Level::Fork];
    let mut recording = Recording { name: String::new(), levels, benchmarks: Vec::new(), warnings: Vec::new() };
    for ((benchmark, planned), mode) in head.plan.benchmarks.iter().enumerate().zip(modes) {
        let (mut forks, mut walls_s) = (Vec::new(), Vec::new());
        for (_, outcome) in trials_of(trials, benchmark).filter(|(trial, _)| trial.round == 0) {
            let Ok(samples) = &outcome.result else { continue };
            // Values from before it fell back to another mode do not go together with the rest.
            if outcome.mode != mode {
                continue;
            }
            forks.extend(summarise(samples, mode).forks);
            walls_s.push(outcome.wall.as_secs_f64());
        }
        // Failed trials were made up for in later suite runs, so the numbers of these have gaps, but the forks have not.
        forks.sort_by_key(|fork| fork.suite_run);
        let values: Vec<f64> = grouped(&forks, &planned.configuration.design).iter().filter_map(mean).collect();
        let Some(grid) = Grid::of(&[values.len(), 1], values).filter(|grid| !grid.cells().is_empty()) else {
            recording.warnings.push(format!("`{}` gave nothing and is left out", planned.id));
            continue;
        };
        // One side of a fork pair takes half of it.
        let cost = Cost { innermost_s: median_or_zero(&walls_s) / 2.0, overhead_s: vec![0.0, 0.0] };
        recording.benchmarks.push(recorded(&planned.id, cost, grid));
    }
    recording
}
