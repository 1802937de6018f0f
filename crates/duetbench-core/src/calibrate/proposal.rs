//! The cheapest design that sees a wanted change.

use serde::{Deserialize, Serialize};

use super::reach::Reach;
use super::search::{Found, Search, Space};
use super::sight::{builds_and_forks, change};
use super::{Costs, Sources};
use crate::spec::defaults;
use crate::stats::Level;

/// Most fork pairs of a build pair that are tried.
const FORKS_PER_BUILD_MAX: u32 = 64;

/// Fewest slice pairs of a fork pair that are tried, unless fewer were measured.
const SLICES_MIN: u32 = 16;

/// Most slice pairs of a fork pair: what a page has room for.
const SLICES_MAX: u32 = defaults::SOLO_ITERATIONS_MAX;

/// The change to be detected, and the limits on measuring it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// Smallest change that is to be seen, a fraction.
    pub change: f64,
    /// Error and power of the test.
    pub level: Level,
    /// Measuring time that may be used for the benchmark, seconds; absent: as much as it takes.
    pub within_s: Option<f64>,
    /// Instances that measure at the same time; 1 on a machine.
    pub instances: u32,
}

/// A design for measuring a benchmark, with its time and the change that it detects.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// Build pairs.
    pub builds: u32,
    /// Fork pairs of each.
    pub forks_per_build: u32,
    /// Slice pairs of each.
    pub slices: u32,
    /// Time that it takes with as many instances as are wanted, seconds.
    pub takes_s: f64,
    /// Smallest change that it sees, a fraction.
    pub minimal_detectable_change: f64,
}

/// Why a wanted change cannot be seen, and what would help.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Obstacle {
    /// The best that can be done in the time; absent where the time does not pay for an interval.
    pub best: Option<Proposal>,
    /// The cheapest design that detects the change; absent where no number of repetitions that is within reason would do.
    pub needed: Option<Proposal>,
}

/// The cheapest design that sees a change, looked at as `duet compare` does.
///
/// Designs have from [`defaults::UNITS_MIN`] units on and at most [`defaults::FORKS_SUFFICIENT_MAX`] fork pairs. Up to 64 units
/// every number is tried, from there on numbers a 64th apart.
///
/// # Errors
/// With the best that can be done where there is none.
pub fn propose(sources: &Sources, costs: &Costs, target: &Target) -> Result<Proposal, Obstacle> {
    propose_each([(sources, costs)], target).pop().unwrap_or(Err(NOTHING))
}

/// The same for many benchmarks, in their order; much faster than one by one.
pub fn propose_each<'a>(
    benchmarks: impl IntoIterator<Item = (&'a Sources, &'a Costs)>,
    target: &Target,
) -> Vec<Result<Proposal, Obstacle>> {
    let mut reach = Reach::new(target.level, true).ok();
    let mut of_one = |(sources, costs): (&Sources, &Costs)| {
        reach.as_mut().map_or(Err(NOTHING), |reach| proposal(sources, costs, target, reach))
    };
    benchmarks.into_iter().map(&mut of_one).collect()
}

/// Said where nothing can be: of a level outside its range, of sources that were never told apart.
const NOTHING: Obstacle = Obstacle { best: None, needed: None };

fn proposal(sources: &Sources, costs: &Costs, target: &Target, reach: &mut Reach) -> Result<Proposal, Obstacle> {
    let space = Space {
        units: defaults::FORKS_SUFFICIENT_MAX,
        forks_per_build: FORKS_PER_BUILD_MAX,
        forks: defaults::FORKS_SUFFICIENT_MAX,
        slices: (SLICES_MIN.min(sources.slices.max(1)), SLICES_MAX),
        instances: target.instances,
    };
    let of = |found: Found| {
        let (builds, forks_per_build) = builds_and_forks(sources, &found);
        Proposal {
            builds,
            forks_per_build,
            slices: found.slices,
            takes_s: found.takes_s,
            minimal_detectable_change: change(found.seen),
        }
    };
    let within_s = target.within_s.unwrap_or(f64::INFINITY);
    let mut search = Search::new(sources, costs, space, reach).ok_or(NOTHING)?;
    match search.cheapest(target.change.ln_1p()) {
        Some(found) if found.takes_s <= within_s => Ok(of(found)),
        needed => Err(Obstacle { best: search.sharpest(within_s).map(of), needed: needed.map(of) }),
    }
}
