//! Counts how often equal code is called changed, and how often planted changes are found.

use serde::{Deserialize, Serialize};

use super::reach::Reach;
use super::sight::detectable;
use super::spread::Mean;
use super::units::Units;
use super::{Observed, Sources};
use crate::analysis::{Evidence, ForkPair, Looks, Tests};
use crate::plan::Design;
use crate::spec::{Decision, defaults};
use crate::stats::{self, Level};

/// Parts that the typical benchmark is cut into.
const PARTS: usize = 4;

/// Fewest and most units of a part.
const PART_UNITS: (usize, usize) = (defaults::PLANNED_UNITS_MIN as usize, 10);

/// Error of the interval of a rate.
const RATE_ALPHA: f64 = 0.01;

/// Frequency of an event, with its exact interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// Times it happened.
    pub times: u32,
    /// Times it could have happened.
    pub of: u32,
    /// Lower end of the 99 % interval, a fraction.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Rate {
    /// The rate with its interval, which is that of Clopper and Pearson ([`stats::binomial_interval`]); from 0 to 1 where nothing
    /// could have happened.
    pub fn of(times: u32, of: u32) -> Rate {
        let (low, high) = stats::binomial_interval(times, of, RATE_ALPHA).unwrap_or((0.0, 1.0));
        Rate { times, of, low, high }
    }

    /// The rate of what is true of some of these.
    fn among(answers: impl Iterator<Item = bool>) -> Rate {
        let (times, of) = answers.fold((0, 0), |(times, of), yes| (times + u32::from(yes), of + 1));
        Rate::of(times, of)
    }
}

/// Results of the parts of a calibration, each judged like a comparison of its own.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Alarms {
    /// Units of each part.
    pub units: u32,
    /// Parts of equal code that were called changed.
    pub called_changed: Rate,
    /// Parts in which a change as large as their minimal detectable change was found, planted into the numbers.
    pub planted_found: Rate,
    /// Parts in which half as large a change was found.
    pub half_found: Rate,
}

impl Alarms {
    /// Cuts the units of every benchmark into parts that follow each other and judges each of them at the decision's `alpha`, looked
    /// at as the design says.
    ///
    /// A part is called changed where its p-value is at most `alpha`, and a planted change is found where its estimate is then on
    /// the side of the change too. The other rules of a verdict are left out: a change below the threshold is called *no change*
    /// however well it is seen, and the adjustment for the suite depends on what else was measured. The change that is planted
    /// into a part is the minimal detectable one by all other parts of its benchmark, so that no number speaks about itself.
    pub(super) fn of(observed: &[Observed<'_>], decision: &Decision) -> Alarms {
        let units = part_units(observed);
        let outcomes: Vec<Outcome> = observed.iter().flat_map(|one| outcomes(one, units, decision)).collect();
        let planted = || outcomes.iter().filter_map(|outcome| outcome.planted);
        Alarms {
            units: u32::try_from(units).unwrap_or(u32::MAX),
            called_changed: Rate::among(outcomes.iter().map(|outcome| outcome.called_changed)),
            planted_found: Rate::among(planted().map(|(whole, _)| whole)),
            half_found: Rate::among(planted().map(|(_, half)| half)),
        }
    }
}

/// Result of one part.
struct Outcome {
    called_changed: bool,
    /// Whether the planted change was found, and half of it; absent where the other parts do not say how large it must be.
    planted: Option<(bool, bool)>,
}

/// Units of a part: a quarter of what the typical benchmark has.
fn part_units(observed: &[Observed<'_>]) -> usize {
    let units: Vec<f64> = observed.iter().map(|one| Units::of(one).forks.len() as f64).collect();
    let typical = stats::median(&units).unwrap_or(0.0) as usize;
    (typical / PARTS).clamp(PART_UNITS.0, PART_UNITS.1)
}

/// Results of the parts of one benchmark; units that are left over are in no part.
fn outcomes(one: &Observed<'_>, units: usize, decision: &Decision) -> Vec<Outcome> {
    let all = Units::of(one);
    let part_units = u32::try_from(units).unwrap_or(u32::MAX);
    let level = Level { alpha: decision.alpha, power: decision.power };
    let tests = if one.design.sequential { Tests::sequential(part_units) } else { Tests::single(part_units) };
    let (Ok(tests), Ok(mut reach)) = (tests, Reach::new(level, one.design.sequential)) else {
        return Vec::new();
    };
    // However it was planned, a part may have all its units.
    let design = Design { units: one.design.units.max(part_units), ..one.design };
    let looks = Looks::as_planned(&tests, &design, decision);
    let parts = 0..all.forks.len() / units;
    let outcome = |part: usize| {
        let is_of_part = |unit: usize| unit / units == part;
        let forks: Vec<ForkPair> = all.only(is_of_part).forks.into_iter().flatten().collect();
        let side = |planted: f64| found(&forks, planted, one, looks);
        let wanted = Sources::of_units(&all.only(|unit| !is_of_part(unit)))
            .and_then(|others| detectable(&others, like_measured(&others, part_units), &mut reach));
        let finds = |log_ratio: f64| Some(side(log_ratio)? > 0.0);
        Some(Outcome {
            called_changed: side(0.0)? != 0.0,
            planted: wanted.and_then(|whole| Some((finds(whole)?, finds(half_of(whole))?))),
        })
    };
    parts.filter_map(outcome).collect()
}

/// The mean over so many units like those that were measured.
fn like_measured(sources: &Sources, units: u32) -> Mean {
    Mean { units, forks: sources.forks_per_unit, slices: f64::from(sources.slices) }
}

/// The log ratio of half the change that a log ratio means.
fn half_of(log_ratio: f64) -> f64 {
    (log_ratio.exp_m1() / 2.0).ln_1p()
}

/// The sign of the change that is called when a log ratio was added to all of these fork pairs: 1, -1, or 0 where none is.
fn found(forks: &[ForkPair], planted: f64, one: &Observed<'_>, looks: Looks<'_>) -> Option<f64> {
    let shifted = |fork: &ForkPair| ForkPair {
        log_ratio: fork.log_ratio + planted,
        log_ratio_complete: fork.log_ratio_complete + planted,
        log_ratio_in_full: fork.log_ratio_in_full.map(|log_ratio| log_ratio + planted),
        ..*fork
    };
    let forks: Vec<ForkPair> = forks.iter().map(shifted).collect();
    let evidence = Evidence::of(&forks, one.basis.into(), looks).ok()?;
    Some(if evidence.p_value <= looks.decision.alpha { evidence.log_ratio.mean.signum() } else { 0.0 })
}
