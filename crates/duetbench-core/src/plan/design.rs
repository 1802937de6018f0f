//! Chooses the number of fork pairs and of builds.

use serde::{Deserialize, Serialize};

use crate::spec::{Effort, LayoutChoice, defaults};
use crate::stats;

/// Grouping of a benchmark's fork pairs into units of inference, and whether these are looked at while measuring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Design {
    /// Units after which the benchmark ends in any case.
    pub units: u32,
    /// Fork pairs in each.
    pub forks_per_unit: u32,
    /// The first units, as many as this, have one fork pair more.
    pub doubled: u32,
    /// Successive fork pairs of a unit over which what both programs have in common runs in the same places of memory; 1 where it does
    /// not, or where a unit may end between them.
    #[serde(default = "super::one", skip_serializing_if = "super::is_one")]
    pub places: u32,
    /// Whether each unit has a build pair of its own; else all are forks of one build pair.
    pub by_build: bool,
    /// Whether measuring ends as soon as the answer is known.
    pub sequential: bool,
}

impl Design {
    /// Fork pairs after which the benchmark ends in any case.
    pub fn forks(&self) -> u32 {
        self.forks_of(self.units)
    }

    /// Fork pairs of the first units.
    pub fn forks_of(&self, units: u32) -> u32 {
        units.saturating_mul(self.forks_per_unit).saturating_add(units.min(self.doubled))
    }

    /// The same for the fork pairs of a round: those that confirm make build pairs of the fewest fork pairs in which places cancel,
    /// since layouts that are matched hardly differ.
    pub fn of_round(&self, round: u32) -> Design {
        let lighter = round > 0 && self.places > 1;
        if lighter { Design { forks_per_unit: self.places, doubled: 0, ..*self } } else { *self }
    }

    /// As many fork pairs, each a unit of its own.
    pub(super) fn one_by_one(self) -> Design {
        Design { units: self.forks(), forks_per_unit: 1, doubled: 0, places: 1, ..self }
    }

    /// Whether there can be such a design: what is read may come from anybody.
    pub fn is_possible(&self) -> bool {
        let most = defaults::FORKS_MAX;
        self.units <= most
            && (1..=most).contains(&self.forks_per_unit)
            && self.doubled <= self.units
            && (1..=2).contains(&self.places)
    }

    /// The unit that a suite run belongs to.
    pub fn unit(&self, suite_run: u32) -> u32 {
        let (each, in_doubled) = (self.forks_per_unit.max(1), self.forks_of(self.doubled));
        if suite_run < in_doubled {
            suite_run / each.saturating_add(1)
        } else {
            self.doubled.saturating_add((suite_run - in_doubled) / each)
        }
    }

    /// Whether a suite run is the first of its unit.
    pub fn begins_unit(&self, suite_run: u32) -> bool {
        suite_run.checked_sub(1).is_none_or(|before| self.unit(before) != self.unit(suite_run))
    }
}

/// Multiple of its even share of a budget that a benchmark may get, since others end early.
pub const OVER_EVEN: f64 = 2.0;

/// A benchmark's even share of a budget.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    /// The share, nanoseconds.
    pub(super) share_ns: u64,
    /// Time of one fork pair, nanoseconds.
    pub(super) trial_ns: u64,
}

impl Share {
    /// Fork pairs for which [`OVER_EVEN`] times the share would do, if so much is added to each: benchmarks that end early leave their time to the
    /// others. Never fewer than one that gets more than its share can make use of, and `most` at most.
    fn forks(self, added_ns: u64, most: u32) -> u32 {
        let each_ns = self.trial_ns.saturating_add(added_ns).max(1);
        let forks = (self.share_ns as f64 * OVER_EVEN) as u64 / each_ns;
        u32::try_from(forks).unwrap_or(u32::MAX).clamp(defaults::ENOUGH_UNITS, most)
    }

    /// Build pairs, and fork pairs of each: as many of these as make the most of the time, but rather fewer than too few build pairs.
    fn builds(self, relink: Relink) -> (u32, u32) {
        let units = |forks_per_build: u32| {
            self.forks(relink.cost_ns / u64::from(forks_per_build), relink.most(forks_per_build)) / forks_per_build
        };
        let forks_per_build = relink.several(units);
        (units(forks_per_build), forks_per_build)
    }
}

/// Exchanges of places from which on they are worth having half as many units: of fewer, no t interval is narrow.
const EXCHANGES_MIN: u32 = 4;

/// The design for a benchmark: fork pairs spread over builds. `share` is its part of a budget.
pub(super) fn design(effort: Effort, share: Option<Share>, relink: Option<Relink>) -> Design {
    let relink = relink.filter(|_| effort.builds != Some(1));
    let most = relink.map_or(defaults::UNITS_MAX, |relink| relink.most(defaults::FORKS_PER_MATCHED_BUILD_MAX));
    let forks = effort.forks.or(share.map(|share| share.forks(0, most)));
    let sequential = !effort.fixed;
    let Some(relink) = relink else {
        let units = forks.unwrap_or(defaults::UNITS);
        return Design { units, forks_per_unit: 1, doubled: 0, places: 1, by_build: false, sequential };
    };
    // One fork pair of each build pair cannot be told from its layout, so some get two.
    let doubled = if relink.places() == 1 { defaults::DOUBLED_UNITS } else { 0 };
    if let (None, None, Some(share)) = (effort.builds, effort.forks, share) {
        let (units, forks_per_unit) = share.builds(relink);
        let doubled = if units >= defaults::BUILDS_MIN { doubled } else { 0 };
        return Design { units, forks_per_unit, doubled, places: relink.places(), by_build: true, sequential };
    }
    let forks_per_build = relink.forks_per_build();
    let units = match (effort.builds, forks) {
        (Some(builds), forks) => builds.min(forks.unwrap_or(u32::MAX)),
        // So few fork pairs say more with a build pair each, or with one for each exchange of places.
        (None, Some(forks)) if forks < EXCHANGES_MIN * relink.places() => forks,
        (None, Some(forks)) if forks < defaults::BUILDS => forks / relink.places(),
        (None, Some(forks)) => {
            let units = |forks_per_build: u32| (forks - doubled) / forks_per_build;
            units(relink.several(units))
        }
        (None, None) => (defaults::BUILDS / forks_per_build).max(defaults::BUILDS_MIN),
    };
    let each = forks.map_or(forks_per_build, |forks| forks / units.max(1)).max(1);
    // Time decides about whole exchanges of places; a number that was typed stays.
    let odd = if effort.forks.is_none() && each > relink.places() { each % relink.places() } else { 0 };
    let forks_per_unit = each - odd;
    let spare = forks.map_or(doubled, |forks| forks.saturating_sub(units * forks_per_unit));
    let whole = forks_per_unit.is_multiple_of(relink.places());
    // One fork pair more would be in one of both places.
    let doubled = if whole && relink.places() > 1 { 0 } else { spare.min(defaults::DOUBLED_UNITS).min(units) };
    Design {
        units,
        forks_per_unit,
        doubled,
        places: if whole { relink.places() } else { 1 },
        by_build: true,
        sequential,
    }
}

/// Cost of linking a benchmark's package again, beside measuring it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Relink {
    /// Layouts of the two halves of a build pair.
    pub(super) layouts: LayoutChoice,
    /// Cost of linking both halves of a build pair, for each benchmark of the package, nanoseconds.
    pub(super) cost_ns: u64,
    /// Time that this takes beside the trials, nanoseconds; 0 where no processor is left for it.
    pub(super) beside_ns: u64,
    /// Time of one fork pair, nanoseconds.
    pub(super) trial_ns: u64,
}

impl Relink {
    /// Fork pairs over which both halves run in the same places of memory; with random layouts these say little.
    fn places(self) -> u32 {
        match self.layouts {
            LayoutChoice::Random => 1,
            LayoutChoice::Matched => 2,
        }
    }

    /// Most fork pairs with so many of each build pair: where layouts are matched all that is left varies from fork pair to fork pair.
    fn most(self, forks_per_build: u32) -> u32 {
        defaults::UNITS_MAX * if self.places() > 1 { forks_per_build } else { 1 }
    }

    /// As many fork pairs of every build pair as make the most of the time, but rather fewer than too few build pairs: there are so many
    /// `units` with so many fork pairs each.
    fn several(self, units: impl Fn(u32) -> u32) -> u32 {
        let step = self.places();
        let mut several = (step..=self.forks_per_build()).rev().step_by(step as usize);
        several.find(|forks| units(*forks) >= defaults::BUILDS_MIN).unwrap_or(step)
    }

    /// Fork pairs of every build pair that make the most of the time, by what is usual for layout and the rest. Where layout hardly
    /// matters, no fewer than there is time for while the next one is linked.
    fn forks_per_build(self) -> u32 {
        let meanwhile = u32::try_from(self.beside_ns / self.trial_ns.max(1)).unwrap_or(u32::MAX);
        let (within, least, most) = match self.layouts {
            LayoutChoice::Random => (defaults::WITHIN_TO_LAYOUT, 1, defaults::FORKS_PER_BUILD_MAX),
            LayoutChoice::Matched => {
                (defaults::WITHIN_TO_MATCHED_LAYOUT, meanwhile, defaults::FORKS_PER_MATCHED_BUILD_MAX)
            }
        };
        let link = stats::Repetition { variance: 1.0, cost: self.cost_ns as f64 };
        let fork = stats::Repetition { variance: within, cost: self.trial_ns.max(1) as f64 };
        stats::repetitions(link, fork).unwrap_or(1).max(least).min(most).next_multiple_of(self.places())
    }
}
