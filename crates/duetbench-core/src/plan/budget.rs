//! Who gets the time of a budget, and how many benchmarks it is enough for.
//!
//! A choice depends on durations and on who is settled, never on what was found of a benchmark that is still open: its looks stay
//! those that were planned, and where the clock ends it, it ends whatever its numbers say.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{LINK_PAIR_NS, Plan, PlannedBenchmark, nanos};
use crate::spec::{Effort, defaults};

/// Share of a budget that is kept for confirming what the first round finds.
const CONFIRM_SHARE: f64 = 0.2;

/// Wall times that one more unit of a benchmark is made of.
#[derive(Debug, Clone, Copy)]
pub struct UnitPrice {
    /// One trial.
    pub trial: Duration,
    /// Its share of linking a build pair.
    pub link: Duration,
}

/// One open benchmark's units, and the price of more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// Units that it has.
    pub units: u32,
    /// Units after which it ends in any case.
    pub most: u32,
    /// Wall time of one more unit, its share of linking included, nanoseconds.
    pub unit_ns: u64,
}

impl Claim {
    /// Goals that it has passed without an answer, and the units of the next: [`defaults::GOAL_UNITS`], and then twice as many
    /// again and again, which narrows the interval by the same factor each time.
    fn goal(&self) -> (u32, u32) {
        let first = self.most.min(defaults::GOAL_UNITS);
        let mut goal = (0, first.max(1));
        while goal.1 <= self.units {
            goal = (goal.0 + 1, goal.1.saturating_mul(2));
        }
        (goal.0, goal.1.min(self.most))
    }

    fn time_for(&self, units: u32) -> u64 {
        self.unit_ns.saturating_mul(units.saturating_sub(self.units).into())
    }

    /// Wall time until its next goal, nanoseconds.
    pub fn to_goal_ns(&self) -> u64 {
        self.time_for(self.goal().1)
    }

    /// Time for the next answer that can be expected, nanoseconds: each goal that was passed in vain halves the hope of one.
    fn rank(&self) -> u64 {
        let (passed, _) = self.goal();
        self.to_goal_ns().saturating_mul(1u64.checked_shl(passed).unwrap_or(u64::MAX))
    }

    /// The part of this time that it makes use of, nanoseconds: all up to its goal, else as many units as fit, if these are enough
    /// for a look; none where it gives way.
    fn takes(&self, left_ns: u64) -> Option<u64> {
        if self.to_goal_ns() <= left_ns {
            return Some(self.to_goal_ns());
        }
        let fitting = u32::try_from(left_ns / self.unit_ns.max(1)).unwrap_or(u32::MAX);
        let least = defaults::PLANNED_UNITS_MIN.min(self.most);
        (fitting > 0 && self.units.saturating_add(fitting) >= least)
            .then(|| self.unit_ns.saturating_mul(fitting.into()))
    }
}

/// The benchmarks that take part in the next suite run: those with the most answers to expect from each second first, as far as
/// the time is enough for them. Absent claims are those of benchmarks that want nothing.
///
/// Asked again before every suite run, it gives what a benchmark that ended early leaves to those that had to wait.
pub fn shared_out(claims: &[Option<Claim>], left_ns: u64) -> Vec<bool> {
    let open = |(i, claim): (usize, &Option<Claim>)| claim.filter(|c| c.units < c.most).map(|c| (c.rank(), i, c));
    let mut queue: Vec<(u64, usize, Claim)> = claims.iter().enumerate().filter_map(open).collect();
    queue.sort_by_key(|(rank, i, _)| (*rank, *i));
    let mut chosen = vec![false; claims.len()];
    let mut left_ns = left_ns;
    for (_, i, claim) in queue {
        if let Some(taken) = claim.takes(left_ns) {
            left_ns = left_ns.saturating_sub(taken);
            chosen[i] = true;
        }
    }
    chosen
}

/// Number of benchmarks that a plan's time is enough for, if it goes as predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forecast {
    /// Benchmarks that are measured.
    pub benchmarks: u32,
    /// Those for which the budget is enough, with [`defaults::ENOUGH_UNITS`] for each, or [`defaults::ENOUGH_DISTURBED`]; all of them
    /// without one.
    pub enough_for: u32,
    /// Wall time that is enough for all, nanoseconds.
    pub all_ns: u64,
}

impl Plan {
    /// The number of benchmarks that its time is enough for, if it goes as predicted.
    pub fn forecast(&self) -> Forecast {
        let enough = if self.disturbed { defaults::ENOUGH_DISTURBED } else { defaults::ENOUGH_UNITS };
        let mut costs: Vec<u64> = self.claims().iter().map(|claim| claim.time_for(claim.most.min(enough))).collect();
        costs.sort_unstable();
        let all: u64 = costs.iter().fold(0, |sum, cost| sum.saturating_add(*cost));
        let mut left = self.first_round_ns().unwrap_or(u64::MAX);
        let fits = |cost: &&u64| left.checked_sub(**cost).map(|rest| left = rest).is_some();
        let enough_for = costs.iter().take_while(fits).count();
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let all_ns = (all as f64 / self.first_round_share()) as u64;
        Forecast { benchmarks: count(costs.len()), enough_for: count(enough_for), all_ns }
    }

    /// Every benchmark's claim before anything was measured, by predicted times.
    pub fn claims(&self) -> Vec<Claim> {
        let mut siblings: BTreeMap<&str, u64> = BTreeMap::new();
        self.benchmarks.iter().for_each(|b| *siblings.entry(&b.id.package).or_default() += 1);
        let of = |b: &PlannedBenchmark| {
            let shared_by = siblings.get(b.id.package.as_str()).copied().unwrap_or(1);
            b.claim(
                0,
                UnitPrice {
                    trial: Duration::from_nanos(b.trial_predicted_ns),
                    link: Duration::from_nanos(LINK_PAIR_NS / shared_by),
                },
            )
        };
        self.benchmarks.iter().map(of).collect()
    }

    /// Wall time that the first round may take, nanoseconds: of a budget, what is not kept for confirming.
    pub fn first_round_ns(&self) -> Option<u64> {
        self.budget_ns.map(|budget| (budget as f64 * self.first_round_share()) as u64)
    }

    /// Share of a budget that the first round may take.
    pub fn first_round_share(&self) -> f64 {
        if self.confirm_rounds > 0 { 1.0 - CONFIRM_SHARE } else { 1.0 }
    }

    /// Takes note that other work is on the machine: benchmarks that a budget is shared out among get room for more units.
    pub fn expect_disturbance(&mut self, effort: Effort) {
        self.disturbed = true;
        let is_typed = effort.forks.is_some() || effort.builds.is_some_and(|builds| builds > 1);
        if self.budget_ns.is_none() || is_typed {
            return;
        }
        for planned in &mut self.benchmarks {
            let design = &mut planned.configuration.design;
            design.units = design.units.max(defaults::ENOUGH_DISTURBED);
        }
    }

    /// Takes time that was used before measuring from the budget.
    pub fn spend(&mut self, used: Duration) {
        self.budget_ns = self.budget_ns.map(|budget| budget.saturating_sub(nanos(used)));
    }
}

impl PlannedBenchmark {
    /// The claim of a benchmark that has so many units, at this price.
    pub fn claim(&self, units: u32, price: UnitPrice) -> Claim {
        let design = &self.configuration.design;
        let link_ns = if design.by_build { nanos(price.link) } else { 0 };
        let unit_ns = nanos(price.trial).saturating_mul(design.forks_per_unit.into()).saturating_add(link_ns);
        Claim { units, most: design.units, unit_ns }
    }
}
