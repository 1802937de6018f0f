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
    /// Whether each unit has a build pair of its own; else all are forks of one build pair.
    pub by_build: bool,
    /// Whether measuring ends as soon as the answer is known.
    pub sequential: bool,
}

impl Design {
    /// Fork pairs after which the benchmark ends in any case.
    #[must_use]
    pub fn forks(&self) -> u32 {
        self.forks_of(self.units)
    }

    /// Fork pairs of the first units.
    #[must_use]
    pub fn forks_of(&self, units: u32) -> u32 {
        units.saturating_mul(self.forks_per_unit).saturating_add(units.min(self.doubled))
    }

    /// Whether there can be such a design: what is read may come from anybody.
    #[must_use]
    pub fn is_possible(&self) -> bool {
        let most = defaults::FORKS_MAX;
        self.units <= most && (1..=most).contains(&self.forks_per_unit) && self.doubled <= self.units
    }

    /// The unit that a suite run belongs to.
    #[must_use]
    pub fn unit(&self, suite_run: u32) -> u32 {
        let (each, in_doubled) = (self.forks_per_unit.max(1), self.forks_of(self.doubled));
        if suite_run < in_doubled {
            suite_run / each.saturating_add(1)
        } else {
            self.doubled.saturating_add((suite_run - in_doubled) / each)
        }
    }

    /// Whether a suite run is the first of its unit.
    #[must_use]
    pub fn begins_unit(&self, suite_run: u32) -> bool {
        suite_run.checked_sub(1).is_none_or(|before| self.unit(before) != self.unit(suite_run))
    }
}

/// The design for a benchmark: fork pairs spread over builds. `affordable` is the number of fork pairs for which an even share of
/// the budget would do twice: benchmarks that end early leave their time to the others.
pub(super) fn design(effort: Effort, affordable: Option<u64>, relink: Option<Relink>) -> Design {
    let affordable = affordable
        .map(|forks| u32::try_from(forks).unwrap_or(u32::MAX).clamp(defaults::UNITS_MIN, defaults::UNITS_MAX));
    let forks = effort.forks.or(affordable);
    let sequential = !effort.fixed;
    let Some(relink) = relink.filter(|_| effort.builds != Some(1)) else {
        let units = forks.unwrap_or(defaults::UNITS);
        return Design { units, forks_per_unit: 1, doubled: 0, by_build: false, sequential };
    };
    let forks_per_build = relink.forks_per_build();
    let units = match (effort.builds, forks) {
        (Some(builds), forks) => builds.min(forks.unwrap_or(u32::MAX)),
        // So few fork pairs say more with a build pair each.
        (None, Some(forks)) if forks < defaults::BUILDS => forks,
        (None, Some(forks)) => (forks - defaults::DOUBLED_UNITS) / forks_per_build,
        (None, None) => (defaults::BUILDS / forks_per_build).max(defaults::BUILDS_MIN),
    };
    let forks_per_unit = forks.map_or(forks_per_build, |forks| forks / units.max(1)).max(1);
    let spare = forks.map_or(defaults::DOUBLED_UNITS, |forks| forks.saturating_sub(units * forks_per_unit));
    Design { units, forks_per_unit, doubled: spare.min(defaults::DOUBLED_UNITS).min(units), by_build: true, sequential }
}

/// Cost of linking a benchmark's package again, beside measuring it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Relink {
    /// Layouts of the two halves of a build pair.
    pub(super) layouts: LayoutChoice,
    /// Cost of linking both halves of a build pair, for each benchmark of the package, nanoseconds.
    pub(super) cost_ns: u64,
    /// Time of one fork pair, nanoseconds.
    pub(super) trial_ns: u64,
}

impl Relink {
    /// Fork pairs of every build pair that make the most of the time, by what is usual for layout and the rest.
    fn forks_per_build(self) -> u32 {
        let costs = (self.cost_ns as f64, self.trial_ns.max(1) as f64);
        let (within, most) = match self.layouts {
            LayoutChoice::Random => (defaults::WITHIN_TO_LAYOUT, defaults::FORKS_PER_BUILD_MAX),
            LayoutChoice::Matched => (defaults::WITHIN_TO_MATCHED_LAYOUT, defaults::FORKS_PER_MATCHED_BUILD_MAX),
        };
        stats::repetitions((1.0, within), costs).map_or(1, |n| n.min(most))
    }
}
