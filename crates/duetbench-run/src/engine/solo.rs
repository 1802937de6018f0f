//! The course of a run of one version: suite runs until every benchmark has all its processes.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use duetbench_core::plan::{SoloBenchmark, SoloPlan};
use duetbench_core::{Mixture, SoloSchedule, Trial};

use super::tally::{DISCARDED_MAX, FAILURES_IN_A_ROW_MAX, FAILURES_MAX};
use super::{Activity, Executor, Observer, Progress, RunSummary, TrialOutcome};
use crate::error::RunError;

/// A plan of one version to measure, with the trials that an earlier sitting has measured.
#[derive(Debug, Clone, Copy)]
pub struct SoloJob<'a> {
    /// The plan.
    pub plan: &'a SoloPlan,
    /// Trials of an earlier sitting, in their order; they are not run again.
    pub past: &'a [(Trial, TrialOutcome)],
}

/// Measures everything in the plan of one version; an interrupt ends the run after the trial in hand was thrown away.
///
/// A process that fails leaves a gap and is not made up for, because what is learnt from must be what was planned; one that the
/// machine has spoilt is run again at once. The next process depends on the plan and the trials before alone, so a run that was
/// killed and resumed comes to the same end.
///
/// # Errors
/// When the executor or the observer cannot go on. Everything reported until then has been kept.
pub fn record(
    job: SoloJob<'_>,
    executor: &mut dyn Executor<SoloBenchmark>,
    observer: &mut dyn Observer,
    interrupted: &AtomicBool,
) -> Result<RunSummary, RunError> {
    let mut course = Course::new(job, Hands { executor, observer, interrupted });
    let complete = match course.run() {
        Ok(()) => true,
        Err(RunError::Interrupted) => false,
        Err(e) => return Err(e),
    };
    Ok(RunSummary { measured: course.elapsed(), complete })
}

/// Everything outside that a course works with.
struct Hands<'a> {
    executor: &'a mut dyn Executor<SoloBenchmark>,
    observer: &'a mut dyn Observer,
    interrupted: &'a AtomicBool,
}

/// Key of a process: suite run, fork and benchmark.
type Place = (u32, u32, usize);

fn place(trial: &Trial) -> Place {
    (trial.suite_run, trial.fork, trial.benchmark)
}

/// Running account of one benchmark.
#[derive(Debug, Clone, Default)]
struct Account {
    /// Suite runs in which it took part.
    suite_runs: u32,
    trials: u32,
    spent: Duration,
    succeeded: bool,
    failures: u32,
    failures_in_a_row: u32,
    discarded: u32,
}

impl Account {
    fn count(&mut self, outcome: &TrialOutcome) {
        self.trials += 1;
        self.spent += outcome.wall;
        match &outcome.result {
            Ok(_) => (self.succeeded, self.failures_in_a_row) = (true, 0),
            Err(failure) if failure.discarded => self.discarded += 1,
            Err(_) => {
                self.failures += 1;
                self.failures_in_a_row += 1;
            }
        }
    }

    fn gave_up(&self) -> bool {
        self.failures >= FAILURES_MAX
            || self.discarded >= DISCARDED_MAX
            || (!self.succeeded && self.failures_in_a_row >= FAILURES_IN_A_ROW_MAX)
    }

    /// Suite runs in which it will still take part.
    fn left(&self, planned: &SoloBenchmark) -> u32 {
        if self.gave_up() { 0 } else { planned.repetitions.suite_runs.saturating_sub(self.suite_runs) }
    }

    /// Wall time that these will take.
    fn time_left(&self, planned: &SoloBenchmark) -> Duration {
        let each = match self.trials {
            0 => Duration::from_nanos(planned.trial_predicted_ns()),
            seen => self.spent / seen,
        };
        each * self.left(planned).saturating_mul(planned.repetitions.forks)
    }
}

struct Course<'a> {
    plan: &'a SoloPlan,
    schedule: SoloSchedule,
    mixture: Mixture,
    hands: Hands<'a>,
    accounts: Vec<Account>,
    /// Everything that was tried before at a place, in order.
    past: BTreeMap<Place, Vec<&'a TrialOutcome>>,
    began: Instant,
    /// Wall time of earlier sittings.
    before: Duration,
}

impl<'a> Course<'a> {
    fn new(job: SoloJob<'a>, hands: Hands<'a>) -> Course<'a> {
        let mut past: BTreeMap<Place, Vec<&TrialOutcome>> = BTreeMap::new();
        job.past.iter().for_each(|(trial, outcome)| past.entry(place(trial)).or_default().push(outcome));
        Course {
            plan: job.plan,
            schedule: SoloSchedule::new(job.plan),
            mixture: Mixture::new(job.plan.seed, job.plan.benchmarks.len()),
            hands,
            accounts: vec![Account::default(); job.plan.benchmarks.len()],
            past,
            began: Instant::now(),
            before: job.past.iter().map(|(_, outcome)| outcome.wall).sum(),
        }
    }

    fn elapsed(&self) -> Duration {
        self.before + self.began.elapsed()
    }

    fn run(&mut self) -> Result<(), RunError> {
        for number in 0.. {
            let left: Vec<u32> = self.each().map(|(planned, account)| account.left(planned)).collect();
            let chosen = self.mixture.next(&left);
            if !chosen.contains(&true) {
                break;
            }
            let visits: Vec<Option<u32>> =
                chosen.iter().zip(&self.accounts).map(|(chosen, a)| chosen.then_some(a.suite_runs)).collect();
            for trial in self.schedule.suite_run(number, &visits) {
                self.visit(&trial)?;
            }
            let took_part = self.accounts.iter_mut().zip(chosen).filter(|(_, chosen)| *chosen);
            took_part.for_each(|(account, _)| account.suite_runs += 1);
        }
        Ok(())
    }

    /// Every benchmark with what has become of it.
    fn each(&self) -> impl Iterator<Item = (&SoloBenchmark, &Account)> {
        self.plan.benchmarks.iter().zip(&self.accounts)
    }

    /// Runs one process, or takes it from an earlier sitting; again if the machine has spoilt it.
    fn visit(&mut self, trial: &Trial) -> Result<(), RunError> {
        let planned = &self.plan.benchmarks[trial.benchmark];
        let mut past = self.past.remove(&place(trial)).unwrap_or_default().into_iter();
        while !self.accounts[trial.benchmark].gave_up() {
            let discarded = match past.next() {
                Some(outcome) => self.count(trial, outcome),
                None => {
                    RunError::stop_if(self.hands.interrupted)?;
                    self.announce(planned, trial);
                    let outcome = self.hands.executor.run_trial(planned, trial)?;
                    self.hands.observer.ended(trial, &outcome)?;
                    self.count(trial, &outcome)
                }
            };
            if !discarded {
                break;
            }
        }
        Ok(())
    }

    /// Takes an outcome; whether it was discarded.
    fn count(&mut self, trial: &Trial, outcome: &TrialOutcome) -> bool {
        self.accounts[trial.benchmark].count(outcome);
        outcome.result.as_ref().is_err_and(|failure| failure.discarded)
    }

    fn announce(&mut self, planned: &SoloBenchmark, trial: &Trial) {
        let settled = self.each().filter(|(planned, account)| account.left(planned) == 0).count();
        let left = self.each().map(|(planned, account)| account.time_left(planned)).sum();
        let activity = Activity::Solo(&planned.id, (trial.suite_run, planned.repetitions.suite_runs));
        let elapsed = self.elapsed();
        self.hands.observer.begins(&Progress { activity, round: 0, settled, elapsed, left });
    }
}
