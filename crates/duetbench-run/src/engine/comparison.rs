//! The course of a comparison: suite runs until everything is known or the time is up, then the rounds that confirm.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use duetbench_core::analysis::{Answers, ForkPair, Monitor, Seen, Standing};
use duetbench_core::plan::{Mode, Plan, PlannedBenchmark};
use duetbench_core::spec::{Thresholds, defaults};
use duetbench_core::{Mixture, Schedule, Trial};

use super::campaign::{Log, Strategy, SuiteRun};
use super::tally::{DISCARDED_MAX, FAILURES_MAX, Tally};
use super::{Activity, Needed, Progress, TrialOutcome};

/// Share of a budget that is kept for confirming what the first round finds.
const CONFIRM_SHARE: f64 = 0.2;

/// Measures two versions until an answer is known: a benchmark ends at the first planned look that settles it.
pub struct Comparison<'a> {
    plan: &'a Plan,
    schedule: Schedule,
    /// Chooses the benchmarks of each suite run, where not all take part.
    mixture: Option<Mixture>,
    /// Suite runs of the first round in which each benchmark took part, where not everyone does.
    visits: Vec<u32>,
    monitor: Monitor<'a>,
    tallies: Vec<Tally>,
    /// Every benchmark at its last look.
    seen: Vec<Option<Seen>>,
    /// Smallest change worth a verdict in most of the suite.
    threshold: f64,
    round: u32,
    /// Passes over the suite in the first round that have ended.
    passes: u32,
    /// Trials of the pass over the suite that is being measured.
    under_way: Option<Vec<Trial>>,
    /// The suite runs left of the rounds that confirm, once the first round has ended.
    confirming: Option<VecDeque<Vec<Trial>>>,
}

impl<'a> Comparison<'a> {
    /// A comparison by this plan; `thresholds` say when an answer is known.
    #[must_use]
    pub fn new(plan: &'a Plan, thresholds: Thresholds<'a>) -> Comparison<'a> {
        Comparison {
            plan,
            schedule: Schedule::new(plan),
            mixture: plan.spread.then(|| Mixture::new(plan.seed, plan.benchmarks.len())),
            visits: vec![0; plan.benchmarks.len()],
            monitor: Monitor::new(plan, thresholds),
            tallies: plan.benchmarks.iter().map(Tally::new).collect(),
            seen: vec![None; plan.benchmarks.len()],
            threshold: thresholds.suite().threshold,
            round: 0,
            passes: 0,
            under_way: None,
            confirming: None,
        }
    }

    /// Every benchmark with what has become of it.
    fn each(&self) -> impl Iterator<Item = (&PlannedBenchmark, &Tally)> {
        self.plan.benchmarks.iter().zip(&self.tallies)
    }

    /// The next suite run of the first round.
    fn first_round(&mut self, log: &Log<'_>) -> Option<SuiteRun> {
        if let Some(visited) = self.under_way.take() {
            visited.iter().for_each(|t| self.visits[t.benchmark] += 1);
            self.look_after(&visited);
            self.passes += 1;
        }
        // A failed trial is not repeated in place: its benchmark gets another visit in a later suite run.
        // One that falls back begins anew, so there may be twice as many.
        if self.passes >= self.schedule.suite_runs().saturating_mul(2).saturating_add(FAILURES_MAX + DISCARDED_MAX) {
            return None;
        }
        let due = self.due(log);
        if due.is_empty() && self.nobody_is_open(log) {
            return None;
        }
        let next = self.after(&due);
        self.under_way = Some(due.clone());
        Some(self.suite_run(due, &next, log))
    }

    /// A suite run of these trials, with their builds made before the first and those of the next ones meanwhile.
    fn suite_run(&self, trials: Vec<Trial>, next: &[Trial], log: &Log<'_>) -> SuiteRun {
        let on_one_core = |t: &Trial| self.tallies[t.benchmark].mode == Mode::InterleavedOneCore;
        let foreseen = trials.iter().all(on_one_core).then(|| self.builds_of(next, log));
        SuiteRun { builds: self.builds_of(&trials, log), foreseen, trials }
    }

    fn nobody_is_open(&self, log: &Log<'_>) -> bool {
        let share = self.share(log);
        self.each().all(|(b, t)| !t.is_open(b) || !affords(b, t, share))
    }

    /// The trials of the next pass over the suite that are going to be run, or were.
    fn due(&mut self, log: &Log<'_>) -> Vec<Trial> {
        let share = self.share(log);
        let visit = |(benchmark, (planned, tally)): (usize, (&PlannedBenchmark, &Tally))| {
            let suite_run = if self.mixture.is_some() { self.visits[benchmark] } else { self.passes };
            let was_run = log.has_visit(benchmark, suite_run);
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
        self.schedule.pass((0, self.passes), &visits)
    }

    /// The time that each open benchmark may use: an even share of what the others leave of the budget.
    fn share(&self, log: &Log<'_>) -> Option<Duration> {
        let budget = self.budget()?;
        let open = self.each().filter(|(b, t)| t.is_open(b)).count().max(1);
        let spent_by_others: Duration = self.each().filter(|(b, t)| !t.is_open(b)).map(|(_, t)| t.attempts.spent).sum();
        let spent: Duration = self.tallies.iter().map(|t| t.attempts.spent).sum();
        let besides = log.elapsed().saturating_sub(spent);
        Some(budget.saturating_sub(spent_by_others + besides) / u32::try_from(open).unwrap_or(u32::MAX))
    }

    /// The time that the first round may take.
    fn budget(&self) -> Option<Duration> {
        let budget = Duration::from_nanos(self.plan.budget_ns?);
        Some(if self.plan.confirm_rounds > 0 { budget.mul_f64(1.0 - CONFIRM_SHARE) } else { budget })
    }

    /// The trials that probably come after those of the next pass: the next of all whose number says which they are.
    fn after(&self, due: &[Trial]) -> Vec<Trial> {
        let mut visits = vec![None; self.tallies.len()];
        for trial in due.iter().filter(|_| self.mixture.is_none()) {
            let planned = &self.plan.benchmarks[trial.benchmark];
            let wanted = trial.suite_run + 1 < planned.configuration.design.forks();
            visits[trial.benchmark] = wanted.then_some(trial.suite_run + 1);
        }
        self.schedule.pass((self.round, self.passes + 1), &visits)
    }

    /// The build pairs that trials are started from, as far as they were not run in an earlier sitting.
    fn builds_of(&self, trials: &[Trial], log: &Log<'_>) -> Vec<Needed> {
        let new = |t: &&Trial| !log.has(t);
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

    /// Asks, after a pass over the suite, whether the open benchmarks that have come to a planned look are settled by it.
    fn look_after(&mut self, visited: &[Trial]) {
        let sequential = |i: usize| self.plan.benchmarks[i].configuration.design.sequential;
        let everyone = self.mixture.is_none();
        let took_part = |i: usize| everyone || visited.iter().any(|t| t.benchmark == i);
        let last = |visits: &u32| if everyone { self.passes } else { visits.saturating_sub(1) };
        let after: Vec<u32> = self.visits.iter().map(last).collect();
        let mut looking: Vec<usize> = (0..self.tallies.len()).filter(|i| sequential(*i) && took_part(*i)).collect();
        looking.retain(|i| {
            let tally = &self.tallies[*i];
            tally.standing == Standing::Open && self.monitor.is_look(*i, after[*i], &tally.forks)
        });
        if looking.is_empty() {
            return;
        }
        let mut looked = self.monitor.look(&after, &forks_of(&self.tallies));
        for i in looking {
            self.tallies[i].standing = looked[i].standing;
            self.seen[i] = looked[i].seen.take();
        }
    }

    /// The suite runs of fresh trials that measure again, in rounds, what looks like a regression.
    fn confirming(&mut self) -> VecDeque<Vec<Trial>> {
        let rounds = self.plan.confirm_rounds;
        let standings = if rounds > 0 { self.monitor.end(&forks_of(&self.tallies)) } else { Vec::new() };
        let suite_runs = |(standing, planned): (Standing, &PlannedBenchmark)| match standing {
            Standing::Regressed { confirming_units } => planned.configuration.design.forks_of(confirming_units),
            _ => 0,
        };
        let wanted: Vec<u32> = standings.into_iter().zip(&self.plan.benchmarks).map(suite_runs).collect();
        let most = wanted.iter().copied().max().unwrap_or(0);
        let trials_of = |round, suite_run| {
            let mut trials = self.schedule.suite_run(round, suite_run);
            trials.retain(|t| suite_run < wanted[t.benchmark]);
            trials
        };
        (1..=rounds).flat_map(|round| (0..most).map(move |suite_run| trials_of(round, suite_run))).collect()
    }
}

impl Strategy for Comparison<'_> {
    type Benchmark = PlannedBenchmark;

    fn next(&mut self, log: &Log<'_>) -> Option<SuiteRun> {
        if self.confirming.is_none() {
            let next = self.first_round(log);
            if next.is_some() {
                return next;
            }
            self.confirming = Some(self.confirming());
        }
        let left = self.confirming.as_mut()?;
        let (trials, next) = (left.pop_front()?, left.front().cloned().unwrap_or_default());
        self.round = trials.first().map_or(self.round, |trial| trial.round);
        Some(self.suite_run(trials, &next, log))
    }

    fn planned(&self, trial: &Trial) -> Option<PlannedBenchmark> {
        Some(self.tallies[trial.benchmark].refine(&self.plan.benchmarks[trial.benchmark]))
    }

    fn count(&mut self, trial: &Trial, outcome: &TrialOutcome) -> bool {
        self.tallies[trial.benchmark].count(&self.plan.benchmarks[trial.benchmark], outcome, self.threshold);
        false
    }

    fn activity(&self, trial: &Trial) -> Activity<'_> {
        let forks = u32::try_from(self.tallies[trial.benchmark].forks.len()).unwrap_or(u32::MAX);
        Activity::Trial(&self.plan.benchmarks[trial.benchmark].id, forks)
    }

    fn progress<'s>(&'s self, activity: Activity<'s>, elapsed: Duration) -> Progress<'s> {
        let settled = self.each().filter(|(b, t)| !t.is_open(b)).count();
        let all: Duration = self.each().map(|(b, t)| t.left(b)).sum();
        let left =
            self.plan.budget_ns.map_or(all, |budget| all.min(Duration::from_nanos(budget).saturating_sub(elapsed)));
        let answers = Some(Answers { seen: &self.seen, threshold: self.threshold });
        Progress { activity, round: self.round, settled, elapsed, left, answers }
    }
}

/// Whether there is time for another trial; the first units are made in any case.
fn affords(planned: &PlannedBenchmark, tally: &Tally, share: Option<Duration>) -> bool {
    let in_time = |share| tally.attempts.spent + tally.trial_cost(planned) <= share;
    tally.units(planned) < defaults::UNITS_MIN || share.is_none_or(in_time)
}

fn forks_of(tallies: &[Tally]) -> Vec<&[ForkPair]> {
    tallies.iter().map(|t| t.forks.as_slice()).collect()
}
