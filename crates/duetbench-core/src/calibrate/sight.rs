//! Detectable changes by measuring time.

use serde::{Deserialize, Serialize};

use super::reach::Reach;
use super::search::{Found, Search, Space};
use super::spread::{Mean, Spread};
use super::{Costs, Sources};
use crate::spec::defaults;

/// Smallest change that a benchmark must be able to see not to be called blind, a fraction.
pub const BLIND_FROM: f64 = 0.10;

/// The change that a measuring time lets one detect, with the design that does so.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sight {
    /// Build pairs that it pays for.
    pub builds: u32,
    /// Fork pairs of each.
    pub forks_per_build: u32,
    /// Smallest true change that is reported with the decision's power, a fraction.
    pub minimal_detectable_change: f64,
    /// Distance from an estimate on equal code to either end of its interval, a fraction.
    pub floor: f64,
}

/// Why a benchmark cannot see anything useful.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blind {
    /// Too few of its fork pairs came to their end.
    TooFewForks,
    /// Layout differs so much that the largest budget has too few builds.
    Layout,
    /// Its processes differ so much from each other.
    Forks,
    /// Its slices are disturbed so much.
    Interference,
    /// A fork pair takes so long that the largest budget has too few of them.
    TooLong,
}

/// The detectable change after each of these times, with fork pairs as long as those that were measured.
///
/// Each budget gets the design that detects most, within the limits of `duet compare`: at most [`defaults::UNITS_MAX`] fork
/// pairs, and at most [`defaults::FORKS_PER_BUILD_MAX`] of a build pair; where layouts are matched as many build pairs, and
/// [`defaults::FORKS_PER_MATCHED_BUILD_MAX`] of each.
pub(super) fn sights(sources: &Sources, costs: &Costs, budgets_s: &[f64], reach: &mut Reach) -> Vec<Option<Sight>> {
    let (forks_per_build, forks) = match sources.places {
        0 | 1 => (defaults::FORKS_PER_BUILD_MAX, defaults::UNITS_MAX),
        _ => (defaults::FORKS_PER_MATCHED_BUILD_MAX, defaults::UNITS_MAX * defaults::FORKS_PER_MATCHED_BUILD_MAX),
    };
    let space = Space {
        units: defaults::UNITS_MAX,
        forks_per_build,
        forks,
        slices: (sources.slices, sources.slices),
        instances: 1,
    };
    let at = |budget_s: &f64| {
        let found = Search::new(sources, costs, space, reach)?.sharpest(*budget_s)?;
        sight(sources, &found, reach)
    };
    budgets_s.iter().map(at).collect()
}

fn sight(sources: &Sources, found: &Found, reach: &mut Reach) -> Option<Sight> {
    let mean = Mean { units: found.units, forks: f64::from(found.forks_per_unit), slices: f64::from(found.slices) };
    let variance = Spread::of(sources)?.variance(mean);
    let critical = reach.errors(found.units).ok()?.critical;
    let (builds, forks_per_build) = builds_and_forks(sources, found);
    Some(Sight {
        builds,
        forks_per_build,
        minimal_detectable_change: change(found.seen),
        floor: change(critical * variance.sqrt()),
    })
}

/// Build pairs, and fork pairs of each: where there is a single build pair its fork pairs are the units.
pub(super) fn builds_and_forks(sources: &Sources, found: &Found) -> (u32, u32) {
    if sources.layout.is_some() { (found.units, found.forks_per_unit) } else { (1, found.units) }
}

/// The change that a log ratio means, a fraction; finite, because infinity cannot be written in JSON.
pub(super) fn change(log_ratio: f64) -> f64 {
    log_ratio.exp_m1().min(f64::MAX)
}

impl Blind {
    /// Why nothing useful is seen with the largest budget, where that is so: nothing smaller than [`BLIND_FROM`].
    ///
    /// Where as many units as a run has by default would see more, time is what is lacking; else the source that makes a unit
    /// vary most is the reason.
    pub(super) fn of(sources: Option<&Sources>, largest: Option<&Sight>, reach: &mut Reach) -> Option<Blind> {
        if largest.is_some_and(|sight| sight.minimal_detectable_change <= BLIND_FROM) {
            return None;
        }
        let Some(sources) = sources else { return Some(Blind::TooFewForks) };
        let Some(sight) = largest else { return Some(Blind::TooLong) };
        let nested = sources.layout.is_some();
        let (units, forks) = if nested { (sight.builds, sight.forks_per_build) } else { (sight.forks_per_build, 1) };
        let usual = Mean { units: defaults::UNITS, forks: f64::from(forks), slices: f64::from(sources.slices) };
        if units < defaults::UNITS && change(detectable(sources, usual, reach)?) <= BLIND_FROM {
            return Some(Blind::TooLong);
        }
        let shares = sources.shares();
        let by_source = [
            (shares.layout, Blind::Layout),
            (shares.fork / f64::from(forks), Blind::Forks),
            (shares.slice / f64::from(forks), Blind::Interference),
        ];
        by_source.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, source)| source)
    }
}

/// Logarithm of one and the minimal detectable change of a comparison.
pub(super) fn detectable(sources: &Sources, mean: Mean, reach: &mut Reach) -> Option<f64> {
    Some(reach.errors(mean.units).ok()?.detectable * Spread::of(sources)?.limit(mean).sqrt())
}
