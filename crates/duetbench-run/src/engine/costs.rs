//! Time that the rest of a comparison will take, by what was seen of it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use duetbench_core::Trial;
use duetbench_core::plan::{Claim, LINK_PAIR_NS, Plan, PlannedBenchmark, UnitPrice};

use super::campaign::Log;
use super::tally::Tally;

/// Prices of what is left, learnt from trials and links until now.
pub(super) struct Costs<'a> {
    plan: &'a Plan,
    tallies: &'a [Tally],
    /// By how much trials took longer than was predicted, which those of unseen benchmarks probably do as well.
    excess: Duration,
    /// Time between two trials.
    between: Duration,
    /// Time spent waiting for a build pair.
    link: Duration,
}

impl<'a> Costs<'a> {
    pub(super) fn new(plan: &'a Plan, tallies: &'a [Tally], log: &Log<'_>) -> Costs<'a> {
        let of = |(b, t): (&PlannedBenchmark, &Tally)| {
            let predicted = Duration::from_nanos(b.trial_predicted_ns);
            (t.attempts.spent, predicted * t.attempts.trials(), t.attempts.trials())
        };
        let seen: Vec<_> = plan.benchmarks.iter().zip(tallies).map(of).collect();
        let spent: Duration = seen.iter().map(|one| one.0).sum();
        let predicted: Duration = seen.iter().map(|one| one.1).sum();
        let trials: u32 = seen.iter().map(|one| one.2).sum();
        Costs {
            plan,
            tallies,
            excess: spent.saturating_sub(predicted).checked_div(trials).unwrap_or_default(),
            between: log.between_trials(),
            link: log.link_pair().unwrap_or(Duration::from_nanos(LINK_PAIR_NS)),
        }
    }

    fn each(&self) -> impl Iterator<Item = (&'a PlannedBenchmark, &'a Tally)> {
        self.plan.benchmarks.iter().zip(self.tallies)
    }

    /// Wall time of the next trial of a benchmark.
    pub(super) fn trial(&self, benchmark: usize) -> Duration {
        let (planned, tally) = (&self.plan.benchmarks[benchmark], &self.tallies[benchmark]);
        let unseen = if tally.attempts.trials() == 0 { self.excess } else { Duration::ZERO };
        tally.trial_cost(planned) + unseen + self.between
    }

    /// Wall time of these trials, linking left out.
    pub(super) fn trials<'t>(&self, trials: impl IntoIterator<Item = &'t Trial>) -> Duration {
        trials.into_iter().map(|trial| self.trial(trial.benchmark)).sum()
    }

    /// The claims of benchmarks that are open.
    pub(super) fn claims(&self) -> Vec<Option<Claim>> {
        let mut open: BTreeMap<&str, u32> = BTreeMap::new();
        for (planned, _) in self.each().filter(|(b, t)| t.is_open(b)) {
            *open.entry(&planned.id.package).or_default() += 1;
        }
        let claim = |(i, (planned, tally)): (usize, (&PlannedBenchmark, &Tally))| {
            let shared_by = open.get(planned.id.package.as_str()).copied().filter(|_| tally.is_open(planned))?;
            let price = UnitPrice { trial: self.trial(i), link: self.link / shared_by };
            Some(planned.claim(tally.units(planned), price))
        };
        self.each().enumerate().map(claim).collect()
    }

    /// Wall time until every open benchmark has all its units, if none is settled before.
    pub(super) fn left(&self) -> Duration {
        let mut builds: BTreeMap<&str, u32> = BTreeMap::new();
        let mut trials = Duration::ZERO;
        for (i, (planned, tally)) in self.each().enumerate().filter(|(_, (b, t))| t.is_open(b)) {
            let design = &planned.configuration.design;
            trials += self.trial(i) * tally.forks_left(planned);
            if design.by_build {
                let most = builds.entry(&planned.id.package).or_default();
                *most = design.units.saturating_sub(tally.units(planned)).max(*most);
            }
        }
        trials + self.link * builds.into_values().sum::<u32>()
    }

    /// Wall time of linking what these trials are started from.
    pub(super) fn links<'t>(&self, trials: impl IntoIterator<Item = &'t Trial>) -> Duration {
        let by_build = |t: &&Trial| self.plan.benchmarks[t.benchmark].configuration.design.by_build;
        let of = |t: &'t Trial| (&self.plan.benchmarks[t.benchmark].id.package, t.build);
        let pairs: BTreeSet<_> = trials.into_iter().filter(by_build).map(of).collect();
        self.link * u32::try_from(pairs.len()).unwrap_or(u32::MAX)
    }
}
