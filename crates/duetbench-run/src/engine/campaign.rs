//! The course of a run: suite runs until everything is known or the time is up, then the rounds that confirm.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use duetbench_core::analysis::{ForkPair, Monitor, Standing};
use duetbench_core::plan::{Mode, Plan, PlannedBenchmark};
use duetbench_core::spec::{Decision, defaults};
use duetbench_core::{Mixture, Schedule, Trial};

use super::tally::{DISCARDED_MAX, FAILURES_MAX, Tally};
use super::{Activity, Executor, Needed, Observer, Progress, RunSummary, TrialOutcome};
use crate::error::RunError;

/// Share of a budget that is kept for confirming what the first round finds.
const CONFIRM_SHARE: f64 = 0.2;

/// A plan to measure, with the trials that an earlier sitting has measured.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// When an answer is known.
    pub decision: &'a Decision,
    /// Trials of an earlier sitting, in their order; they are not run again.
    pub past: &'a [(Trial, TrialOutcome)],
}

/// Measures everything in the plan; an interrupt ends the run after the trial in hand was thrown away.
///
/// A benchmark ends at the first planned look that settles it. Whether a trial is run, and what is concluded from it, depends on
/// the data and the plan alone (and on a budget's clock), so a run that was killed and resumed comes to the same end.
///
/// # Errors
/// When the executor or the observer cannot go on. Everything reported until then has been kept.
pub fn measure(
    job: Job<'_>,
    executor: &mut dyn Executor,
    observer: &mut dyn Observer,
    interrupted: &AtomicBool,
) -> Result<RunSummary, RunError> {
    let mut campaign = Campaign::new(job, Hands { executor, observer, interrupted });
    let complete = match campaign.run() {
        Ok(()) => true,
        Err(RunError::Interrupted) => false,
        Err(e) => return Err(e),
    };
    Ok(RunSummary { measured: campaign.elapsed(), complete })
}

/// Everything outside that a campaign works with.
struct Hands<'a> {
    executor: &'a mut dyn Executor,
    observer: &'a mut dyn Observer,
    interrupted: &'a AtomicBool,
}

/// Key of a trial: round, suite run and benchmark.
type Slot = (u32, u32, usize);

fn slot(trial: &Trial) -> Slot {
    (trial.round, trial.suite_run, trial.benchmark)
}

struct Campaign<'a> {
    plan: &'a Plan,
    schedule: Schedule,
    /// Who takes part in a suite run, where not everyone does.
    mixture: Option<Mixture>,
    /// Suite runs of the first round in which each benchmark took part, where not everyone does.
    visits: Vec<u32>,
    monitor: Monitor<'a>,
    hands: Hands<'a>,
    tallies: Vec<Tally>,
    past: BTreeMap<Slot, &'a TrialOutcome>,
    /// Smallest change worth a verdict.
    threshold: f64,
    began: Instant,
    /// Wall time of earlier sittings.
    before: Duration,
    round: u32,
}

impl<'a> Campaign<'a> {
    fn new(job: Job<'a>, hands: Hands<'a>) -> Campaign<'a> {
        Campaign {
            plan: job.plan,
            schedule: Schedule::new(job.plan),
            mixture: job.plan.spread.then(|| Mixture::new(job.plan.seed, job.plan.benchmarks.len())),
            visits: vec![0; job.plan.benchmarks.len()],
            monitor: Monitor::new(job.plan, job.decision),
            hands,
            tallies: job.plan.benchmarks.iter().map(Tally::new).collect(),
            past: job.past.iter().map(|(trial, outcome)| (slot(trial), outcome)).collect(),
            threshold: job.decision.threshold,
            began: Instant::now(),
            before: job.past.iter().map(|(_, outcome)| outcome.wall).sum(),
            round: 0,
        }
    }

    fn elapsed(&self) -> Duration {
        self.before + self.began.elapsed()
    }

    fn run(&mut self) -> Result<(), RunError> {
        // A failed trial is not repeated in place: its benchmark gets another visit in a later suite run.
        // One that falls back begins anew, so there may be twice as many.
        let suite_runs = self.schedule.suite_runs().saturating_mul(2).saturating_add(FAILURES_MAX + DISCARDED_MAX);
        for pass in 0..suite_runs {
            let due: Vec<Trial> = self.due(pass);
            if due.is_empty() && self.nobody_is_open() {
                break;
            }
            let next = self.after(pass, &due);
            self.suite_run(&due, &next)?;
            due.iter().for_each(|t| self.visits[t.benchmark] += 1);
            self.look_after(pass, &due);
        }
        self.confirm()
    }

    /// Every benchmark with what has become of it.
    fn each(&self) -> impl Iterator<Item = (&PlannedBenchmark, &Tally)> {
        self.plan.benchmarks.iter().zip(&self.tallies)
    }

    fn nobody_is_open(&self) -> bool {
        let share = self.share();
        self.each().all(|(b, t)| !t.is_open(b) || !affords(b, t, share))
    }

    /// The trials of a pass over the suite that are going to be run, or were.
    fn due(&mut self, pass: u32) -> Vec<Trial> {
        let share = self.share();
        let visit = |(benchmark, (planned, tally)): (usize, (&PlannedBenchmark, &Tally))| {
            let suite_run = if self.mixture.is_some() { self.visits[benchmark] } else { pass };
            let was_run = self.past.contains_key(&(0, suite_run, benchmark));
            let wanted = was_run || (tally.wants(planned, suite_run) && affords(planned, tally, share));
            wanted.then_some(suite_run)
        };
        let mut visits: Vec<Option<u32>> = self.each().enumerate().map(visit).collect();
        let left = |((planned, tally), visit): ((&PlannedBenchmark, &Tally), &Option<u32>)| {
            visit.map_or(0, |_| tally.forks_left(planned).max(1))
        };
        let left: Vec<u32> = self.each().zip(&visits).map(left).collect();
        if let Some(mixture) = &mut self.mixture {
            let chosen = mixture.next(&left);
            visits.iter_mut().zip(chosen).filter(|(_, chosen)| !chosen).for_each(|(visit, _)| *visit = None);
        }
        self.schedule.pass((0, pass), &visits)
    }

    /// The time that each open benchmark may use: an even share of what the others leave of the budget.
    fn share(&self) -> Option<Duration> {
        let budget = self.budget()?;
        let open = self.each().filter(|(b, t)| t.is_open(b)).count().max(1);
        let spent_by_others: Duration = self.each().filter(|(b, t)| !t.is_open(b)).map(|(_, t)| t.spent).sum();
        let spent: Duration = self.tallies.iter().map(|t| t.spent).sum();
        let besides = self.elapsed().saturating_sub(spent);
        Some(budget.saturating_sub(spent_by_others + besides) / u32::try_from(open).unwrap_or(u32::MAX))
    }

    /// The time that the first round may take.
    fn budget(&self) -> Option<Duration> {
        let budget = Duration::from_nanos(self.plan.budget_ns?);
        Some(if self.plan.confirm_rounds > 0 { budget.mul_f64(1.0 - CONFIRM_SHARE) } else { budget })
    }

    /// The trials that probably come after those of a pass: the next of all whose number says which they are.
    fn after(&self, pass: u32, due: &[Trial]) -> Vec<Trial> {
        let mut visits = vec![None; self.tallies.len()];
        for trial in due.iter().filter(|_| self.mixture.is_none()) {
            let planned = &self.plan.benchmarks[trial.benchmark];
            let wanted = trial.suite_run + 1 < planned.configuration.design.forks();
            visits[trial.benchmark] = wanted.then_some(trial.suite_run + 1);
        }
        self.schedule.pass((self.round, pass + 1), &visits)
    }

    /// Runs trials in order, with their builds made before the first and those of the next ones meanwhile.
    fn suite_run(&mut self, trials: &[Trial], next: &[Trial]) -> Result<(), RunError> {
        let needed = self.builds_of(trials);
        RunError::stop_if(self.hands.interrupted)?;
        if !needed.is_empty() {
            self.announce(Activity::Linking(2 * needed.len()));
            self.hands.executor.provide(&needed)?;
        }
        let on_one_core = |t: &Trial| self.tallies[t.benchmark].mode == Mode::InterleavedOneCore;
        if !needed.is_empty() && trials.iter().all(on_one_core) {
            self.hands.executor.foresee(&self.builds_of(next))?;
        }
        for trial in trials {
            self.visit(trial)?;
        }
        Ok(())
    }

    /// The build pairs that trials are started from, as far as they were not run in an earlier sitting.
    fn builds_of(&self, trials: &[Trial]) -> Vec<Needed> {
        let new = |t: &&Trial| !self.past.contains_key(&slot(t));
        let needed: BTreeSet<Needed> = trials.iter().filter(new).filter_map(|t| self.needed(t)).collect();
        needed.into_iter().collect()
    }

    /// The build pair that a trial is started from, where it is not the one that every run has.
    fn needed(&self, trial: &Trial) -> Option<Needed> {
        let planned = &self.plan.benchmarks[trial.benchmark];
        planned.configuration.design.by_build.then(|| Needed {
            package: planned.id.package.clone(),
            build: trial.build,
            layout_seeds: self.schedule.layout_seeds(trial.build),
        })
    }

    /// Runs one trial, or takes it from an earlier sitting.
    fn visit(&mut self, trial: &Trial) -> Result<(), RunError> {
        let planned = &self.plan.benchmarks[trial.benchmark];
        if let Some(&outcome) = self.past.get(&slot(trial)) {
            self.tallies[trial.benchmark].count(planned, outcome, self.threshold);
            return Ok(());
        }
        RunError::stop_if(self.hands.interrupted)?;
        let forks = u32::try_from(self.tallies[trial.benchmark].forks.len()).unwrap_or(u32::MAX);
        self.announce(Activity::Trial(&planned.id, forks));
        let refined = self.tallies[trial.benchmark].refine(planned);
        let outcome = self.hands.executor.run_trial(&refined, trial)?;
        self.hands.observer.ended(trial, &outcome)?;
        self.tallies[trial.benchmark].count(planned, &outcome, self.threshold);
        Ok(())
    }

    fn announce(&mut self, activity: Activity<'_>) {
        let settled = self.each().filter(|(b, t)| !t.is_open(b)).count();
        let all: Duration = self.each().map(|(b, t)| t.left(b)).sum();
        let elapsed = self.elapsed();
        let left =
            self.plan.budget_ns.map_or(all, |budget| all.min(Duration::from_nanos(budget).saturating_sub(elapsed)));
        self.hands.observer.begins(&Progress { activity, round: self.round, settled, elapsed, left });
    }

    /// Asks, after a pass over the suite, whether the open benchmarks that have come to a planned look are settled by it.
    fn look_after(&mut self, pass: u32, visited: &[Trial]) {
        let sequential = |i: usize| self.plan.benchmarks[i].configuration.design.sequential;
        let everyone = self.mixture.is_none();
        let took_part = |i: usize| everyone || visited.iter().any(|t| t.benchmark == i);
        let after: Vec<u32> =
            self.visits.iter().map(|visits| if everyone { pass } else { visits.saturating_sub(1) }).collect();
        let mut looking: Vec<usize> = (0..self.tallies.len()).filter(|i| sequential(*i) && took_part(*i)).collect();
        looking.retain(|i| {
            let tally = &self.tallies[*i];
            tally.standing == Standing::Open && self.monitor.is_look(*i, after[*i], &tally.forks)
        });
        if looking.is_empty() {
            return;
        }
        let standings = self.monitor.look(&after, &forks_of(&self.tallies));
        for i in looking {
            self.tallies[i].standing = standings[i];
        }
    }

    /// Measures what looks like a regression again, in rounds of fresh trials.
    fn confirm(&mut self) -> Result<(), RunError> {
        let standings =
            if self.plan.confirm_rounds > 0 { self.monitor.end(&forks_of(&self.tallies)) } else { Vec::new() };
        for round in 1..=self.plan.confirm_rounds {
            self.round = round;
            let suite_runs = |i: usize| match standings[i] {
                Standing::Regressed { confirming_units } => {
                    self.plan.benchmarks[i].configuration.design.forks_of(confirming_units)
                }
                _ => 0,
            };
            let wanted: Vec<u32> = (0..standings.len()).map(suite_runs).collect();
            let trials_of = |schedule: &Schedule, suite_run| {
                let mut trials = schedule.suite_run(round, suite_run);
                trials.retain(|t| suite_run < wanted[t.benchmark]);
                trials
            };
            for suite_run in 0..wanted.iter().copied().max().unwrap_or(0) {
                let [trials, next] = [suite_run, suite_run + 1].map(|number| trials_of(&self.schedule, number));
                self.suite_run(&trials, &next)?;
            }
        }
        Ok(())
    }
}

/// Whether there is time for another trial; the first units are made in any case.
fn affords(planned: &PlannedBenchmark, tally: &Tally, share: Option<Duration>) -> bool {
    let in_time = |share| tally.spent + tally.trial_cost(planned) <= share;
    tally.units(planned) < defaults::UNITS_MIN || share.is_none_or(in_time)
}

fn forks_of(tallies: &[Tally]) -> Vec<&[ForkPair]> {
    tallies.iter().map(|t| t.forks.as_slice()).collect()
}
