//! Runs a plan: trials in the schedule's order, each result on disk before the next trial begins.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use duetbench_core::plan::{Plan, PlannedBenchmark};
use duetbench_core::{Sample, Schedule, Trial};

use crate::error::RunError;

mod local;
mod placement;
mod scripted;
mod trial;

pub use local::Local;
pub use scripted::Scripted;

/// Failed trials after which a benchmark that never gave anything is given up.
const FAILURES_IN_A_ROW_MAX: u32 = 2;
/// Failed trials after which a benchmark is given up in any case.
const FAILURES_MAX: u32 = 5;

/// A trial that gave nothing, and why.
pub use duetbench_core::analysis::TrialFailure;

/// What one trial gave.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialOutcome {
    /// The samples of both sides, or why there are none.
    pub result: Result<Vec<Sample>, TrialFailure>,
    /// Wall time it took, processes' starts and ends included.
    pub wall: Duration,
}

/// Where trials are run. Interchangeable: this machine, a script in tests, a fleet.
pub trait Backend {
    /// Runs one trial to its end.
    ///
    /// # Errors
    /// Only when measuring as a whole cannot go on; what goes wrong inside a benchmark is part of the outcome.
    fn run_trial(&mut self, planned: &PlannedBenchmark, trial: &Trial) -> Result<TrialOutcome, RunError>;
}

/// Hears of every trial; keeps it before the next one begins.
pub trait Observer {
    /// A trial is about to begin.
    fn begins(&mut self, progress: &Progress<'_>);
    /// A trial has ended.
    ///
    /// # Errors
    /// When the result cannot be kept: the run must not go on.
    fn ended(&mut self, trial: &Trial, outcome: &TrialOutcome) -> Result<(), RunError>;
}

/// Where a run stands.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// The benchmark in hand.
    pub benchmark: &'a PlannedBenchmark,
    /// Its fork pairs so far.
    pub forks_done: u32,
    /// Wall time measured so far.
    pub elapsed: Duration,
    /// Wall time that is probably left.
    pub left: Duration,
}

/// What a run used and whether it came to its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunSummary {
    /// Wall time spent in trials.
    pub measured: Duration,
    /// Every benchmark got its due.
    pub complete: bool,
}

/// What has become of one benchmark so far.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    forks_done: u32,
    failures: u32,
    failures_in_a_row: u32,
    spent: Duration,
}

impl Tally {
    fn gave_up(&self) -> bool {
        self.failures >= FAILURES_MAX || (self.forks_done == 0 && self.failures_in_a_row >= FAILURES_IN_A_ROW_MAX)
    }

    /// Wall time of one trial: as seen, or as planned before any was seen.
    fn trial_cost(&self, planned: &PlannedBenchmark) -> Duration {
        match self.forks_done + self.failures {
            0 => Duration::from_nanos(planned.trial_predicted_ns),
            seen => self.spent / seen,
        }
    }

    /// Whether another trial is due: forks are left, and so is time, or the minimum is not reached.
    fn is_due(&self, planned: &PlannedBenchmark) -> bool {
        let affordable =
            planned.share_ns.is_none_or(|share| self.spent + self.trial_cost(planned) <= Duration::from_nanos(share));
        !self.gave_up()
            && self.forks_done < planned.configuration.forks
            && (affordable || self.forks_done < planned.configuration.forks_min)
    }

    /// Wall time that this benchmark will probably still take.
    fn left(&self, planned: &PlannedBenchmark) -> Duration {
        if !self.is_due(planned) {
            return Duration::ZERO;
        }
        let all = self.trial_cost(planned) * (planned.configuration.forks - self.forks_done);
        planned.share_ns.map_or(all, |share| all.min(Duration::from_nanos(share).saturating_sub(self.spent)))
    }

    fn count(&mut self, outcome: &TrialOutcome) {
        self.spent += outcome.wall;
        if outcome.result.is_ok() {
            self.forks_done += 1;
            self.failures_in_a_row = 0;
        } else {
            self.failures += 1;
            self.failures_in_a_row += 1;
        }
    }
}

/// Measures everything in the plan; an interrupt ends the run after the trial in hand was thrown away.
///
/// # Errors
/// When the back end or the observer cannot go on. What was reported until then has been kept.
pub fn measure(
    plan: &Plan,
    backend: &mut dyn Backend,
    observer: &mut dyn Observer,
    interrupted: &AtomicBool,
) -> Result<RunSummary, RunError> {
    let schedule = Schedule::new(plan);
    let began = Instant::now();
    let mut tallies = vec![Tally::default(); plan.benchmarks.len()];
    let summary = |began: Instant, complete| RunSummary { measured: began.elapsed(), complete };
    // A failed trial is not repeated in place: its benchmark gets another visit in a later suite run.
    let suite_runs = schedule.suite_runs().saturating_add(FAILURES_MAX);
    for suite_run in 0..suite_runs {
        for trial in schedule.suite_run(suite_run) {
            let planned = &plan.benchmarks[trial.benchmark];
            if !tallies[trial.benchmark].is_due(planned) {
                continue;
            }
            if interrupted.load(Ordering::Relaxed) {
                return Ok(summary(began, false));
            }
            let left = plan.benchmarks.iter().zip(&tallies).map(|(b, t)| t.left(b)).sum();
            let forks_done = tallies[trial.benchmark].forks_done;
            observer.begins(&Progress { benchmark: planned, forks_done, elapsed: began.elapsed(), left });
            match backend.run_trial(planned, &trial) {
                Err(RunError::Interrupted) => return Ok(summary(began, false)),
                Err(e) => return Err(e),
                Ok(outcome) => {
                    observer.ended(&trial, &outcome)?;
                    tallies[trial.benchmark].count(&outcome);
                }
            }
        }
    }
    Ok(summary(began, true))
}
