//! The course of a run of one version: suite runs until every benchmark has all its processes.

use std::time::Duration;

use duetbench_core::plan::{SoloBenchmark, SoloPlan};
use duetbench_core::{Mixture, Trial};

use super::campaign::{Log, Strategy, SuiteRun};
use super::tally::Attempts;
use super::{Activity, Progress, TrialOutcome};

/// Measures one version as often as was planned.
///
/// A process that fails leaves a gap and is not made up for, because what is learnt from must be what was planned; one that the
/// machine has spoilt is run again at once.
pub struct OneVersion<'a> {
    plan: &'a SoloPlan,
    mixture: Mixture,
    accounts: Vec<Account>,
    /// Suite runs that have begun.
    suite_runs: u32,
    /// Benchmarks that take part in the last of them.
    chosen: Vec<bool>,
}

/// Running account of one benchmark.
#[derive(Debug, Clone, Default)]
struct Account {
    /// Suite runs in which it took part.
    suite_runs: u32,
    attempts: Attempts,
    succeeded: bool,
}

impl Account {
    fn gave_up(&self) -> bool {
        self.attempts.are_in_vain(self.succeeded)
    }

    /// Suite runs in which it will still take part.
    fn left(&self, planned: &SoloBenchmark) -> u32 {
        if self.gave_up() { 0 } else { planned.repetitions.suite_runs.saturating_sub(self.suite_runs) }
    }

    /// Wall time that these will take.
    fn time_left(&self, planned: &SoloBenchmark) -> Duration {
        let each = self.attempts.cost(planned.trial_predicted_ns());
        each * self.left(planned).saturating_mul(planned.repetitions.forks)
    }
}

impl<'a> OneVersion<'a> {
    /// A run of one version by this plan.
    pub fn new(plan: &'a SoloPlan) -> OneVersion<'a> {
        OneVersion {
            plan,
            mixture: Mixture::new(plan.seed, plan.benchmarks.len()),
            accounts: vec![Account::default(); plan.benchmarks.len()],
            suite_runs: 0,
            chosen: Vec::new(),
        }
    }

    /// Every benchmark with what has become of it.
    fn each(&self) -> impl Iterator<Item = (&SoloBenchmark, &Account)> {
        self.plan.benchmarks.iter().zip(&self.accounts)
    }
}

impl Strategy for OneVersion<'_> {
    type Benchmark = SoloBenchmark;

    fn next(&mut self, _: &Log<'_>) -> Option<SuiteRun> {
        let took_part = self.accounts.iter_mut().zip(&self.chosen).filter(|(_, chosen)| **chosen);
        took_part.for_each(|(account, _)| account.suite_runs += 1);
        let left: Vec<u32> = self.each().map(|(planned, account)| account.left(planned)).collect();
        self.chosen = self.mixture.next(&left);
        let visits: Vec<Option<u32>> =
            self.chosen.iter().zip(&self.accounts).map(|(chosen, a)| chosen.then_some(a.suite_runs)).collect();
        let trials = self.plan.suite_run(self.suite_runs, &visits);
        self.suite_runs += 1;
        self.chosen.contains(&true).then(|| SuiteRun { trials, ..SuiteRun::default() })
    }

    fn planned(&self, trial: &Trial) -> Option<SoloBenchmark> {
        let planned = &self.plan.benchmarks[trial.benchmark];
        (!self.accounts[trial.benchmark].gave_up()).then(|| planned.clone())
    }

    fn count(&mut self, trial: &Trial, outcome: &TrialOutcome) -> bool {
        let account = &mut self.accounts[trial.benchmark];
        account.attempts.count(outcome);
        account.succeeded |= outcome.result.is_ok();
        outcome.result.as_ref().is_err_and(|failure| failure.discarded)
    }

    fn activity(&self, trial: &Trial) -> Activity<'_> {
        let planned = &self.plan.benchmarks[trial.benchmark];
        Activity::Solo(&planned.id, (trial.suite_run, planned.repetitions.suite_runs))
    }

    fn progress<'s>(&'s self, activity: Activity<'s>, log: &Log<'_>) -> Progress<'s> {
        let settled = self.each().filter(|(planned, account)| account.left(planned) == 0).count();
        let left = self.each().map(|(planned, account)| account.time_left(planned)).sum();
        Progress { activity, round: 0, settled, elapsed: log.elapsed(), left, is_bound: false, answers: None }
    }
}
