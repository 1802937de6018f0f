//! Splits the spread of fork pairs of equal code by source.

use std::f64::consts::FRAC_PI_2;

use serde::{Deserialize, Serialize};

use super::Observed;
use super::units::Units;
use crate::analysis::Basis;
use crate::spec::defaults;
use crate::stats;

/// Cost of repetitions of one benchmark, seconds of wall time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// A new build pair, for each benchmark that shares it; 0 where nothing is linked.
    pub build_s: f64,
    /// Starting, warming up and ending a fork pair.
    pub fork_s: f64,
    /// A slice pair.
    pub slice_s: f64,
}

/// Standard deviations of the log ratio by source, each net of those inside it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sources {
    /// Between build pairs: where the linker put the code. Absent where every fork pair has the same builds. On a fleet whose units
    /// are calls it is what calls differ by.
    pub layout: Option<f64>,
    /// Between fork pairs of a build pair, beyond what the slices in them explain: memory, luck and time.
    pub fork: f64,
    /// Between slice pairs of a fork pair: interference.
    pub slice: f64,
    /// Slice pairs of a fork pair, median.
    pub slices: u32,
    /// Degrees of freedom of the outermost source.
    pub degrees_of_freedom: f64,
    /// The number of every fork pair that was looked at.
    pub basis: Basis,
    /// Fork pairs of a unit, harmonic mean.
    pub forks_per_unit: f64,
    /// Degrees of freedom between fork pairs of a unit; 0 where no unit has two.
    pub fork_degrees_of_freedom: f64,
    /// Variance of units with all that lie far out, as a multiple of what it is for a trimmed mean; at least 1. It is what the mean
    /// of a few units varies more, since below ten none is trimmed.
    pub tails: f64,
    /// Fork pairs over which two programs run in the same places of memory; a unit has a multiple of them.
    #[serde(default = "crate::plan::one")]
    pub places: u32,
}

/// Share of each source in a fork pair's variance, fractions that add up to 1, or are all 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Shares {
    /// That of [`Sources::layout`].
    pub layout: f64,
    /// That of [`Sources::fork`].
    pub fork: f64,
    /// That of the slices: interference.
    pub slice: f64,
}

impl Sources {
    /// Tells the sources apart; absent with fewer units than [`defaults::UNITS_MIN`], or with numbers that are none.
    ///
    /// `U`, the variance of units, is what the trimmed t of a comparison takes it for, `n SE^2`; `W`, the variance within units, is
    /// trimmed in the same way. With `h` the mean of `1 / fork pairs` over units, `layout^2 = U - h W` and
    /// `fork^2 = W - c slice^2 / slices`, at least 0, where `c` is pi / 2 if fork pairs are judged by their median and else 1. Where
    /// no unit has two fork pairs, all but the slices counts as layout, which no number of fork pairs makes smaller; where it has the
    /// two of an exchange and no more, all counts as theirs, since layouts that are matched hardly differ. Source: the analysis of
    /// variance of unweighted means, Thomas and Hultquist, Annals of Statistics 6 (1978).
    pub fn of(observed: &Observed<'_>) -> Option<Sources> {
        Sources::of_units(&Units::of(observed))
    }

    /// The same for these units.
    pub(super) fn of_units(units: &Units) -> Option<Sources> {
        let means = units.means();
        let between = stats::trimmed_t(&means).ok().filter(|t| t.values >= defaults::UNITS_MIN)?;
        let of_units = between.spread().powi(2);
        let tails = if of_units > 0.0 { variance(&means) / of_units } else { 1.0 };
        let slice = units.median_over_forks(|fork| fork.slice_spread)?;
        let slices = units.median_over_forks(|fork| f64::from(fork.slices))?.round().max(1.0);
        let explained = slice_weight(units.basis) * slice.powi(2) / slices;
        let (within, per_fork) = (units.within(), units.forks_per_unit().recip());
        let (layout, fork) = match within {
            _ if !units.nested => (None, of_units - explained),
            Some(within) => (Some(of_units - per_fork * within.variance), within.variance - explained),
            None if units.places > 1 => (Some(0.0), of_units / per_fork - explained),
            None => (Some(of_units - per_fork * explained), 0.0),
        };
        Some(Sources {
            layout: layout.map(|variance| variance.max(0.0).sqrt()),
            fork: fork.max(0.0).sqrt(),
            slice,
            slices: slices as u32,
            degrees_of_freedom: between.degrees_of_freedom(),
            basis: units.basis,
            forks_per_unit: per_fork.recip(),
            fork_degrees_of_freedom: within.map_or(0.0, |within| within.degrees_of_freedom),
            tails: tails.max(1.0),
            places: units.places,
        })
    }

    /// The share of every source in the variance of a fork pair as long as those that were measured.
    pub fn shares(&self) -> Shares {
        let variances = [self.layout.unwrap_or(0.0).powi(2), self.fork.powi(2), self.explained()];
        let total: f64 = variances.iter().sum();
        let [layout, fork, slice] = variances.map(|v| if total > 0.0 { v / total } else { 0.0 });
        Shares { layout, fork, slice }
    }

    /// Standard deviation between fork pairs of a build pair, what their slices explain included.
    pub(super) fn of_fork_pair(&self) -> f64 {
        (self.fork.powi(2) + self.explained()).sqrt()
    }

    /// Variance of a fork pair's number that its slices explain.
    fn explained(&self) -> f64 {
        self.one_slice() / f64::from(self.slices.max(1))
    }

    /// The same for a fork pair of a single slice pair.
    pub(super) fn one_slice(&self) -> f64 {
        slice_weight(self.basis) * self.slice.powi(2)
    }
}

/// Variance of these values, none of them trimmed.
fn variance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)
}

/// Variance of a median of normal values as a multiple of that of their mean; 1 for the mean itself.
fn slice_weight(basis: Basis) -> f64 {
    match basis {
        Basis::TypicalSlice => FRAC_PI_2,
        Basis::AllSlices | Basis::SlicesInFull => 1.0,
    }
}
