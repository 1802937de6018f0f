//! The best of all designs.

use super::reach::Reach;
use super::spread::{Mean, Spread};
use super::{Costs, Sources};
use crate::spec::defaults;

/// Units up to which every number is tried; beyond, each is larger than the last by this part of itself.
const UNITS_FINE: u32 = 64;

/// Designs that are tried.
#[derive(Debug, Clone, Copy)]
pub(super) struct Space {
    /// Most units.
    pub(super) units: u32,
    /// Most fork pairs of a build pair.
    pub(super) forks_per_build: u32,
    /// Most fork pairs in all.
    pub(super) forks: u32,
    /// Fewest and most slice pairs of each.
    pub(super) slices: (u32, u32),
    /// Instances that measure at the same time.
    pub(super) instances: u32,
}

/// A design, with its time and what it sees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found {
    pub(super) units: u32,
    pub(super) forks_per_unit: u32,
    pub(super) slices: u32,
    pub(super) takes_s: f64,
    /// Logarithm of one and the minimal detectable change.
    pub(super) seen: f64,
}

/// Looks for designs of one benchmark.
///
/// The closed form of Kalibera and Jones (section 6) holds for many units. With few, another unit is worth more than its share in
/// the variance, since the test learns the spread from units too. So units and fork pairs are tried one by one, and only the
/// slices are solved for.
pub(super) struct Search<'a> {
    spread: Spread,
    nested: bool,
    places: u32,
    costs: Costs,
    space: Space,
    reach: &'a mut Reach,
}

impl<'a> Search<'a> {
    /// Absent where the sources say nothing.
    pub(super) fn new(sources: &Sources, costs: &Costs, space: Space, reach: &'a mut Reach) -> Option<Search<'a>> {
        let nested = sources.layout.is_some();
        let forks_per_build = if nested { space.forks_per_build } else { 1 };
        let spread = Spread::of(sources)?;
        Some(Search {
            spread,
            nested,
            places: sources.places,
            costs: *costs,
            space: Space { forks_per_build, ..space },
            reach,
        })
    }

    /// The design that takes least time of those that see such a logarithm of a ratio.
    pub(super) fn cheapest(&mut self, wanted: f64) -> Option<Found> {
        let mut best: Option<Found> = None;
        let counts = if wanted > 0.0 { unit_counts(self.space.units.min(self.space.forks)) } else { Vec::new() };
        for units in counts {
            if best.is_some_and(|best| self.least_time(units) >= best.takes_s) {
                break;
            }
            let is_better = |found: &Found| best.is_none_or(|best| found.takes_s < best.takes_s);
            // The exact number of standard errors takes long to compute, so this asks first whether it matters.
            if self.least_slices(units, wanted, self.reach.least()).is_none_or(|found| !is_better(&found)) {
                continue;
            }
            let exact = self.reach.errors(units).ok()?.detectable;
            best = self.least_slices(units, wanted, exact).filter(is_better).or(best);
        }
        best
    }

    /// The design that sees most of those that take so long at most, seconds.
    pub(super) fn sharpest(&mut self, within_s: f64) -> Option<Found> {
        let mut best: Option<Found> = None;
        let mut affordable = unit_counts(self.space.units.min(self.space.forks));
        affordable.retain(|units| self.least_time(*units) <= within_s);
        for units in affordable.into_iter().rev() {
            let is_better = |found: &Found| best.is_none_or(|best| found.seen < best.seen);
            if self.most_slices(units, within_s, self.reach.least()).is_none_or(|found| !is_better(&found)) {
                continue;
            }
            let exact = self.reach.errors(units).ok()?.detectable;
            best = self.most_slices(units, within_s, exact).filter(is_better).or(best);
        }
        best
    }

    /// The fastest design of so many units that detects a change as small as `wanted`.
    fn least_slices(&self, units: u32, wanted: f64, errors: f64) -> Option<Found> {
        let variance = (wanted / errors).powi(2);
        let (fewest, most) = self.space.slices;
        let of_forks = |forks: u32| {
            let slices = self.spread.slices_for(units, f64::from(forks), variance).ceil().max(f64::from(fewest));
            (slices <= f64::from(most)).then(|| self.design(units, forks, slices as u32, errors))
        };
        self.forks(units).filter_map(of_forks).min_by(|a, b| a.takes_s.total_cmp(&b.takes_s))
    }

    /// The most sensitive design of so many units that fits into the time.
    fn most_slices(&self, units: u32, within_s: f64, errors: f64) -> Option<Found> {
        let (fewest, most) = self.space.slices;
        let of_forks = |forks: u32| {
            let slices = self.slices_within(units, forks, within_s).min(f64::from(most));
            (slices >= f64::from(fewest)).then(|| self.design(units, forks, slices as u32, errors))
        };
        self.forks(units).filter_map(of_forks).min_by(|a, b| a.seen.total_cmp(&b.seen))
    }

    fn forks(&self, units: u32) -> impl Iterator<Item = u32> {
        (self.places..=self.space.forks_per_build.min(self.space.forks / units)).step_by(self.places.max(1) as usize)
    }

    fn design(&self, units: u32, forks_per_unit: u32, slices: u32, errors: f64) -> Found {
        let mean = Mean { units, forks: f64::from(forks_per_unit), slices: f64::from(slices) };
        Found {
            units,
            forks_per_unit,
            slices,
            takes_s: self.time(units, forks_per_unit, slices),
            seen: errors * self.spread.limit(mean).sqrt(),
        }
    }

    /// Time of a design, seconds. A single build pair is linked once.
    fn time(&self, units: u32, forks: u32, slices: u32) -> f64 {
        let of_forks = f64::from(forks) * (self.costs.fork_s + f64::from(slices) * self.costs.slice_s);
        let turns = self.turns(units);
        if self.nested { turns * (self.costs.build_s + of_forks) } else { self.costs.build_s + turns * of_forks }
    }

    /// Least time of all designs of so many units.
    fn least_time(&self, units: u32) -> f64 {
        self.time(units, self.places, self.space.slices.0)
    }

    /// Units that an instance has to measure one after the other.
    fn turns(&self, units: u32) -> f64 {
        f64::from(units.div_ceil(self.space.instances.max(1)))
    }

    /// Most slice pairs of a fork pair that fit into the time; maybe infinitely many, or fewer than none.
    fn slices_within(&self, units: u32, forks: u32, within_s: f64) -> f64 {
        let (turns, forks, build_s) = (self.turns(units), f64::from(forks), self.costs.build_s);
        let of_unit = if self.nested { within_s / turns - build_s } else { (within_s - build_s) / turns };
        let left_s = of_unit / forks - self.costs.fork_s;
        // A number that fits exactly must not be lost to rounding.
        let slices = (left_s / self.costs.slice_s * (1.0 + 1e-12)).floor();
        if slices.is_nan() { f64::INFINITY } else { slices }
    }
}

/// Numbers of units that are tried, ascending from the fewest that give an interval to the most.
fn unit_counts(most: u32) -> Vec<u32> {
    let next = |units: &u32| (*units < most).then(|| most.min(units + (units / UNITS_FINE).max(1)));
    std::iter::successors(Some(defaults::UNITS_MIN), next).take_while(|units| *units <= most).collect()
}
