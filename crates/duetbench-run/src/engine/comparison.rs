//! The course of a comparison: suite runs until everything is known or the time is up, then the rounds that confirm.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use duetbench_core::analysis::{ForkPair, Monitor, Seen, Standing};
use duetbench_core::plan::{Mode, Plan, PlannedBenchmark, shared_out};
use duetbench_core::spec::{Thresholds, defaults};
use duetbench_core::{Mixture, Schedule, Trial};

use super::campaign::{Log, Strategy, SuiteRun};
use super::costs::Costs;
use super::tally::{DISCARDED_MAX, Tally};
use super::{Activity, Needed, Progress, Provision, TrialOutcome};

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
    /// Trials of the present suite run of such a round that have not ended.
    ahead: Vec<Trial>,
}

impl<'a> Comparison<'a> {
    /// A comparison by this plan; `thresholds` say when an answer is known.
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
            ahead: Vec::new(),
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
        // A budget ends it by the clock, and who has to wait for time comes later.
        let most_passes =
            self.schedule.suite_runs().saturating_mul(2).saturating_add(defaults::FAILURES_MAX + DISCARDED_MAX);
        if self.plan.budget_ns.is_none() && self.passes >= most_passes {
            return None;
        }
        let due = self.due(log);
        if due.is_empty() {
            return None;
        }
        let next = self.next_builds(&due);
        self.under_way = Some(due.clone());
        Some(self.suite_run(due, &next, log))
    }

    /// A suite run of these trials, with their builds made before the first and those of the next ones meanwhile, as long as trials leave
    /// a core for it: they come first.
    fn suite_run(&self, mut trials: Vec<Trial>, next: &[Trial], log: &Log<'_>) -> SuiteRun {
        let leaves_a_core = |t: &Trial| self.tallies[t.benchmark].mode == Mode::InterleavedOneCore;
        trials.sort_by_key(|t| !leaves_a_core(t));
        let next = if trials.iter().any(leaves_a_core) { self.builds_of(next, log) } else { Vec::new() };
        SuiteRun { builds: Provision { now: self.builds_of(&trials, log), next }, trials }
    }

    /// The trials of the next pass over the suite that are going to be run, or were.
    fn due(&mut self, log: &Log<'_>) -> Vec<Trial> {
        let has_time = self.have_time(log);
        let visit = |(benchmark, (planned, tally)): (usize, (&PlannedBenchmark, &Tally))| {
            let suite_run = if self.mixture.is_some() { self.visits[benchmark] } else { self.passes };
            let was_run = log.has_visit(benchmark, suite_run);
            let may = has_time[benchmark] || tally.has_begun(planned, suite_run);
            let wanted = was_run || (may && tally.wants(planned, suite_run));
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
        self.schedule.pass(0, self.passes, &visits)
    }

    /// The benchmarks for which there is time in the next pass; everyone where no budget bounds it.
    fn have_time(&self, log: &Log<'_>) -> Vec<bool> {
        let shared = |left: Duration| {
            let left_ns = u64::try_from(left.as_nanos()).unwrap_or(u64::MAX);
            shared_out(&self.costs(log).claims(), left_ns)
        };
        self.time_left(log).map_or_else(|| vec![true; self.tallies.len()], shared)
    }

    fn costs(&self, log: &Log<'_>) -> Costs<'_> {
        Costs::new(self.plan, &self.tallies, log)
    }

    /// Time until this round must end: the first leaves some of a budget to those that confirm.
    fn time_left(&self, log: &Log<'_>) -> Option<Duration> {
        let may_take = if self.confirming.is_none() { self.plan.first_round_ns() } else { self.plan.budget_ns };
        may_take.map(|ns| Duration::from_nanos(ns).saturating_sub(log.elapsed()))
    }

    /// The next suite run of the rounds that confirm: trials for which there is time, and which were not run before.
    fn next_confirming(&mut self, log: &Log<'_>) -> Option<SuiteRun> {
        let left = self.time_left(log);
        loop {
            let queue = self.confirming.as_mut()?;
            let mut trials = queue.pop_front()?;
            let builds: BTreeSet<u32> = trials.iter().map(|t| t.build).collect();
            let new = |later: &&Vec<Trial>| later.iter().any(|t| !builds.contains(&t.build));
            let next = queue.iter().find(new).cloned().unwrap_or_default();
            let costs = self.costs(log);
            let fits = |t: &Trial| left.is_none_or(|left| costs.trial(t.benchmark) + costs.links([t]) <= left);
            trials.retain(|t| log.has(t) || fits(t));
            if let Some(first) = trials.first() {
                self.round = first.round;
                self.ahead.clone_from(&trials);
                return Some(self.suite_run(trials, &next, log));
            }
        }
    }

    /// The first trials of the build pairs that probably come after those of these trials, where their number says which they are.
    fn next_builds(&self, due: &[Trial]) -> Vec<Trial> {
        let mut visits = vec![None; self.tallies.len()];
        for trial in due.iter().filter(|_| self.mixture.is_none()) {
            let design = &self.plan.benchmarks[trial.benchmark].configuration.design;
            let of_another = |later: &u32| design.unit(*later) != design.unit(trial.suite_run);
            visits[trial.benchmark] = (trial.suite_run + 1..design.forks()).find(of_another);
        }
        self.schedule.pass(self.round, self.passes + 1, &visits)
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
            Standing::Regressed { confirming_units } => {
                planned.configuration.design.of_round(1).forks_of(confirming_units)
            }
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
        self.next_confirming(log)
    }

    fn planned(&self, trial: &Trial) -> Option<PlannedBenchmark> {
        Some(self.tallies[trial.benchmark].refine(&self.plan.benchmarks[trial.benchmark]))
    }

    fn has_time_for(&self, trial: &Trial, log: &Log<'_>) -> bool {
        self.time_left(log).is_none_or(|left| self.costs(log).trial(trial.benchmark) <= left)
    }

    fn count(&mut self, trial: &Trial, outcome: &TrialOutcome) -> bool {
        self.ahead.retain(|ahead| ahead.benchmark != trial.benchmark);
        self.tallies[trial.benchmark].count(&self.plan.benchmarks[trial.benchmark], outcome, self.threshold);
        false
    }

    fn activity(&self, trial: &Trial) -> Activity<'_> {
        let forks = u32::try_from(self.tallies[trial.benchmark].forks.len()).unwrap_or(u32::MAX);
        Activity::Trial(&self.plan.benchmarks[trial.benchmark].id, forks)
    }

    fn progress<'s>(&'s self, activity: Activity<'s>, log: &Log<'_>) -> Progress<'s> {
        let settled = self.each().filter(|(b, t)| !t.is_open(b)).count();
        let (costs, elapsed) = (self.costs(log), log.elapsed());
        let left = match &self.confirming {
            None => costs.left(),
            Some(queue) => {
                let all: Vec<&Trial> = self.ahead.iter().chain(queue.iter().flatten()).collect();
                costs.trials(all.iter().copied()) + costs.links(queue.iter().flatten())
            }
        };
        let until_end = self.plan.budget_ns.map(|budget| Duration::from_nanos(budget).saturating_sub(elapsed));
        let is_bound = until_end.is_some_and(|end| end <= left);
        let left = until_end.map_or(left, |end| end.min(left));
        let answers = Some(&self.seen[..]);
        Progress { activity, round: self.round, settled, elapsed, left, is_bound, answers }
    }
}

fn forks_of(tallies: &[Tally]) -> Vec<&[ForkPair]> {
    tallies.iter().map(|t| t.forks.as_slice()).collect()
}
