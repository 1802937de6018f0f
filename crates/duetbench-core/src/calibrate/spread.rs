//! Predicts the variance of units of any design.

use super::Sources;
use crate::stats;

/// Probability with which the limit of a variance exceeds the true one.
const LIMIT_CONFIDENCE: f64 = 0.8;

/// Repetitions that a mean is taken over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mean {
    pub(super) units: u32,
    /// Fork pairs of each.
    pub(super) forks: f64,
    /// Slice pairs of each of these.
    pub(super) slices: f64,
}

/// The variance of a unit by how many fork pairs and slice pairs it has, and how far it may be underestimated.
///
/// With the words of [`Sources::of`] a unit of `k` fork pairs of `s` slice pairs varies
/// `U + (1 / k - h) W + c slice^2 (1 / s - 1 / slices) / k`. For `k` as it was measured this is `U` itself. Its upper limit adds
/// `sqrt((H U)^2 + (G (1 / k - h) W)^2)`, the modified large-sample limit of a sum of variances: `H` and `G` are what the exact
/// limits of `U` and `W` add to them or, for a sum with a minus, take away. Sources: Graybill and Wang, Journal of the American
/// Statistical Association 75 (1980); Ting et al., Journal of Statistical Computation and Simulation 35 (1990), without their term
/// for the product. It is exact where `U` alone counts. Slices are so many that their variance is taken for known.
///
/// `U` is that of a trimmed mean. A mean of so few units that none is trimmed varies [`Sources::tails`] times as much.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spread {
    layout: f64,
    fork: f64,
    one_slice: f64,
    /// Variance of fork pairs within a unit, as they were measured.
    within: f64,
    /// Variance of units as they were measured.
    of_units: f64,
    per_fork: f64,
    /// Relative distances of the limits: above `of_units`, and above and below `within`.
    doubts: (f64, f64, f64),
    tails: f64,
}

impl Spread {
    /// Absent where the sources have no degrees of freedom.
    pub(super) fn of(sources: &Sources) -> Option<Spread> {
        let (layout, fork, one_slice) =
            (sources.layout.unwrap_or(0.0).powi(2), sources.fork.powi(2), sources.one_slice());
        let within = fork + one_slice / f64::from(sources.slices.max(1));
        let per_fork = sources.forks_per_unit.recip();
        let limit = |df: f64, confidence: f64| stats::variance_limit(df, confidence).ok().map(|factor| factor - 1.0);
        let of_forks = sources.fork_degrees_of_freedom;
        let (more, less) = if of_forks > 0.0 {
            (limit(of_forks, LIMIT_CONFIDENCE)?, limit(of_forks, 1.0 - LIMIT_CONFIDENCE)?)
        } else {
            (0.0, 0.0)
        };
        Some(Spread {
            layout,
            fork,
            one_slice,
            within,
            of_units: layout + per_fork * within,
            per_fork,
            doubts: (limit(sources.degrees_of_freedom, LIMIT_CONFIDENCE)?, more, less),
            tails: sources.tails,
        })
    }

    /// Variance of a mean over units.
    pub(super) fn variance(&self, mean: Mean) -> f64 {
        (self.layout + (self.fork + self.one_slice / mean.slices) / mean.forks) * self.share_of_unit(mean.units)
    }

    /// The same, so large that it is rarely exceeded.
    pub(super) fn limit(&self, mean: Mean) -> f64 {
        self.variance(mean) + self.doubt(mean.forks) * self.share_of_unit(mean.units)
    }

    /// Fewest slice pairs with which the limit for so many units of so many fork pairs is at most as stated; infinitely many where
    /// none are enough.
    pub(super) fn slices_for(&self, units: u32, forks: f64, limit: f64) -> f64 {
        let room = limit / self.share_of_unit(units) - self.doubt(forks) - self.layout - self.fork / forks;
        match room > 0.0 {
            true => self.one_slice / (forks * room),
            false => f64::INFINITY,
        }
    }

    /// Amount by which the variance of a unit may be underestimated.
    fn doubt(&self, forks: f64) -> f64 {
        let (of_units, more, less) = self.doubts;
        let other_forks = forks.recip() - self.per_fork;
        let of_forks = if other_forks > 0.0 { more } else { less };
        (of_units * self.of_units).hypot(of_forks * other_forks * self.within)
    }

    /// Variance of a mean as a multiple of that of a unit.
    fn share_of_unit(&self, units: u32) -> f64 {
        let trims = stats::degrees_of_freedom(units) + 1 < units;
        (if trims { 1.0 } else { self.tails }) / f64::from(units)
    }
}
