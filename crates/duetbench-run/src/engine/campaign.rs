//! The course of a run, of whatever kind: suite runs as long as there are any, each result on disk before the next trial begins.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use duetbench_core::Trial;

use super::{Activity, Executor, Observer, Progress, Provision, RunSummary, TrialOutcome};
use crate::error::RunError;

/// Decides which trials a run consists of, from its plan and what they gave.
///
/// Apart from a budget's clock a decision depends on the outcomes alone, so a run that was killed and resumed comes to the same end.
pub trait Strategy {
    /// A benchmark as its trials are executed.
    type Benchmark;

    /// The suite run that comes next, once all trials of the one before were counted; `None` when there is nothing left to measure.
    fn next(&mut self, log: &Log<'_>) -> Option<SuiteRun>;

    /// The benchmark as this trial of it is executed; `None` if it was given up since its suite run began.
    fn planned(&self, trial: &Trial) -> Option<Self::Benchmark>;

    /// Whether there is time for a trial that no earlier sitting has run.
    fn has_time_for(&self, trial: &Trial, log: &Log<'_>) -> bool {
        let _ = (trial, log);
        true
    }

    /// Takes the outcome of a trial; whether the trial is run again at once.
    fn count(&mut self, trial: &Trial, outcome: &TrialOutcome) -> bool;

    /// A trial as an activity.
    fn activity(&self, trial: &Trial) -> Activity<'_>;

    /// The standing of the run.
    fn progress<'s>(&'s self, activity: Activity<'s>, log: &Log<'_>) -> Progress<'s>;
}

/// One pass over the suite.
#[derive(Debug, Default)]
pub struct SuiteRun {
    /// Its trials, in order.
    pub(super) trials: Vec<Trial>,
    /// Build pairs that are made before the first of them, and meanwhile.
    pub(super) builds: Provision,
}

/// Key of a trial: round, suite run, fork and benchmark.
type Slot = (u32, u32, u32, usize);

fn slot(trial: &Trial) -> Slot {
    (trial.round, trial.suite_run, trial.fork, trial.benchmark)
}

/// Outcomes of earlier sittings that are not counted yet, and the time that the run has taken.
pub struct Log<'a> {
    /// Everything that was tried at a place, in order.
    past: BTreeMap<Slot, VecDeque<&'a TrialOutcome>>,
    /// Wall time of earlier sittings.
    before: Duration,
    /// Wall time of this sitting.
    here: Duration,
    /// Time of the trials of this sitting, and their number.
    trials: (Duration, u32),
    /// Time spent waiting for build pairs in this sitting, and their number.
    links: (Duration, u32),
}

impl<'a> Log<'a> {
    fn new(past: &'a [(Trial, TrialOutcome)], before: Duration) -> Log<'a> {
        let mut by_slot: BTreeMap<Slot, VecDeque<&TrialOutcome>> = BTreeMap::new();
        past.iter().for_each(|(trial, outcome)| by_slot.entry(slot(trial)).or_default().push_back(outcome));
        // A sitting that was killed did not write down how long it took.
        let before = before.max(past.iter().map(|(_, outcome)| outcome.wall).sum());
        Log { past: by_slot, before, here: Duration::ZERO, trials: Default::default(), links: Default::default() }
    }

    /// Wall time of the run, that of earlier sittings included.
    pub(super) fn elapsed(&self) -> Duration {
        self.before + self.here
    }

    /// Time that passes between two trials, linking left out.
    pub(super) fn between_trials(&self) -> Duration {
        let (spent, trials) = self.trials;
        self.here.saturating_sub(spent + self.links.0).checked_div(trials).unwrap_or_default()
    }

    /// Time that it took to have a build pair, where any was linked.
    pub(super) fn link_pair(&self) -> Option<Duration> {
        let (spent, pairs) = self.links;
        spent.checked_div(pairs)
    }

    /// Whether an earlier sitting has run this trial.
    pub(super) fn has(&self, trial: &Trial) -> bool {
        self.past.contains_key(&slot(trial))
    }

    /// Whether an earlier sitting has run a benchmark's trial of this suite run of the first round.
    pub(super) fn has_visit(&self, benchmark: usize, suite_run: u32) -> bool {
        self.past.contains_key(&(0, suite_run, 0, benchmark))
    }
}

/// A run to measure.
pub struct Job<'a, S> {
    /// Decides on its trials.
    pub strategy: S,
    /// Trials of earlier sittings, in their order; they are not run again.
    pub past: &'a [(Trial, TrialOutcome)],
    /// Wall time of earlier sittings, linking included, as far as they wrote it down.
    pub before: Duration,
}

/// Measures everything; an interrupt ends the run after the trial in hand was thrown away.
///
/// # Errors
/// When the executor or the observer cannot go on. Everything reported until then has been kept.
pub fn measure<S: Strategy>(
    job: Job<'_, S>,
    executor: &mut dyn Executor<S::Benchmark>,
    observer: &mut dyn Observer,
    interrupted: &AtomicBool,
) -> Result<RunSummary, RunError> {
    let (strategy, log, began) = (job.strategy, Log::new(job.past, job.before), Instant::now());
    let mut campaign = Campaign { strategy, log, began, executor, observer, interrupted };
    let complete = match campaign.run() {
        Ok(()) => true,
        Err(RunError::Interrupted) => false,
        Err(e) => return Err(e),
    };
    campaign.read_clock();
    Ok(RunSummary { measured: campaign.log.elapsed(), complete })
}

struct Campaign<'a, S: Strategy> {
    strategy: S,
    log: Log<'a>,
    began: Instant,
    executor: &'a mut dyn Executor<S::Benchmark>,
    observer: &'a mut dyn Observer,
    interrupted: &'a AtomicBool,
}

impl<S: Strategy> Campaign<'_, S> {
    fn run(&mut self) -> Result<(), RunError> {
        while let Some(suite_run) = self.strategy.next(&self.log) {
            RunError::stop_if(self.interrupted)?;
            self.link(&suite_run)?;
            for trial in &suite_run.trials {
                while self.visit(trial)? {}
            }
            self.read_clock();
        }
        Ok(())
    }

    /// Notes the time; gives that since it was noted last.
    fn read_clock(&mut self) -> Duration {
        let now = self.executor.clock().unwrap_or_else(|| self.began.elapsed());
        now.saturating_sub(std::mem::replace(&mut self.log.here, now))
    }

    /// Has build pairs made: those of a suite run now, those that come after them meanwhile.
    fn link(&mut self, SuiteRun { builds, .. }: &SuiteRun) -> Result<(), RunError> {
        let made = builds.now.len();
        if made == 0 {
            return Ok(());
        }
        self.read_clock();
        let activity = Activity::Linking(2 * made);
        self.observer.begins(&self.strategy.progress(activity, &self.log));
        self.executor.provide(builds)?;
        let waited = self.read_clock();
        self.log.links.0 += waited;
        self.log.links.1 += u32::try_from(made).unwrap_or(u32::MAX);
        Ok(())
    }

    /// Runs one trial, or takes it from an earlier sitting; whether it is run again.
    fn visit(&mut self, trial: &Trial) -> Result<bool, RunError> {
        let Some(planned) = self.strategy.planned(trial) else { return Ok(false) };
        if let Some(outcome) = self.log.past.get_mut(&slot(trial)).and_then(VecDeque::pop_front) {
            return Ok(self.strategy.count(trial, outcome));
        }
        RunError::stop_if(self.interrupted)?;
        self.read_clock();
        if !self.strategy.has_time_for(trial, &self.log) {
            return Ok(false);
        }
        let activity = self.strategy.activity(trial);
        self.observer.begins(&self.strategy.progress(activity, &self.log));
        let outcome = self.executor.run_trial(&planned, trial)?;
        if outcome.result.is_err() {
            // A signal to all of us may have ended those that are measured first.
            RunError::stop_if(self.interrupted)?;
        }
        self.log.trials.0 += outcome.wall;
        self.log.trials.1 += 1;
        self.observer.ended(trial, &outcome)?;
        Ok(self.strategy.count(trial, &outcome))
    }
}
