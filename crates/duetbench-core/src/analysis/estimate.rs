//! What the fork pairs of one benchmark say about its change.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{ForkPair, count};
use crate::plan::Design;
use crate::spec::{Decision, defaults};
use crate::stats::{self, Level, Sequential, StatsError, TrimmedT};

use super::Basis;
use super::unit::units;

/// How an interval was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Student's t over units.
    StudentT,
    /// 10 %-trimmed mean of units with Yuen's standard error.
    YuenTrimmedT,
}

/// How many repetitions there were at every level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Units of inference: build pairs, or fork pairs of a single build pair.
    pub units: u32,
    /// Build pairs.
    pub builds: u32,
    /// Fork pairs.
    pub forks: u32,
    /// Slice pairs in all.
    pub slices: u32,
}

/// The change of one benchmark, with its uncertainty. Ratios are candidate to baseline, over 1 is slower.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Point estimate.
    pub ratio: f64,
    /// Lower end of the interval.
    pub ratio_low: f64,
    /// Upper end of the interval.
    pub ratio_high: f64,
    /// Confidence of the interval, as a fraction; it holds however often the data were looked at.
    pub confidence: f64,
    /// What number of every fork pair was judged.
    pub basis: Basis,
    /// How the interval was computed.
    pub method: Method,
    /// Times the data were looked at.
    pub looks: u32,
    /// Two-sided p-value of no change, allowing for all looks.
    pub p_value: f64,
    /// The p-value adjusted for the number of benchmarks (Benjamini-Hochberg).
    pub p_adjusted: f64,
    /// Smallest true change this experiment would have reported with the stated power, as a fraction.
    pub minimal_detectable_change: f64,
    /// Repetitions.
    pub counts: Counts,
}

/// What the units of one benchmark say, before the rest of the suite is looked at.
///
/// The unit of inference is the fork pair, or the build pair where there are several. Slices of one process share its memory
/// layout, its luck and its neighbours, and treating them as independent makes an interval far too narrow (Kalibera and Jones,
/// ISMM 2013); forks of one build pair share where the linker put the code.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// What number of every fork pair it rests on.
    pub basis: Basis,
    /// Mean log ratio over units, with its standard error.
    pub log_ratio: TrimmedT,
    /// Two-sided error at which this look may stop, so that all looks together keep the decision's `alpha`.
    pub look_alpha: f64,
    /// Times the data were looked at.
    pub looks: u32,
    /// Two-sided p-value of no change, allowing for all looks.
    pub p_value: f64,
    /// Repetitions.
    pub counts: Counts,
}

/// When the units of a benchmark are looked at, and how sure each look must be.
#[derive(Debug, Clone, Copy)]
pub struct Looks<'a> {
    /// Says what may be concluded at which look.
    pub boundaries: &'a Sequential,
    /// How fork pairs make up units.
    pub design: &'a Design,
    /// Two-sided error over all looks.
    pub alpha: f64,
}

impl Evidence {
    /// Tests the log ratios of the units against 0, by Student's t below ten units and by the trimmed t from there on, at every
    /// planned look that has passed and with all units there are.
    ///
    /// # Errors
    /// With fewer units than [`defaults::UNITS_MIN`], or with a log ratio that is not finite.
    pub fn of(forks: &[ForkPair], basis: Basis, looks: Looks<'_>) -> Result<Evidence, StatsError> {
        let needed = defaults::UNITS_MIN as usize;
        let mut log_ratios = units(forks, basis, looks.design);
        if log_ratios.len() < needed {
            return Err(StatsError::TooFew { have: log_ratios.len(), needed });
        }
        log_ratios.truncate(looks.design.units.max(defaults::UNITS_MIN) as usize);
        let log_ratio = stats::trimmed_t(&log_ratios)?;
        let all = log_ratio.values;
        let planned = looks.boundaries.looks().iter().copied().filter(|n| *n < all && *n >= defaults::UNITS_MIN);
        let p_at = |n: u32| Ok((n, stats::trimmed_t(&log_ratios[..n as usize])?.p_value()?));
        let p_values: Vec<(u32, f64)> = planned.chain([all]).map(p_at).collect::<Result<_, StatsError>>()?;
        let builds: BTreeSet<u32> = forks.iter().map(|f| f.build).collect();
        let counts = Counts {
            units: all,
            builds: count(builds.len()),
            forks: count(forks.len()),
            slices: forks.iter().map(|f| f.slices).fold(0, u32::saturating_add),
        };
        Ok(Evidence {
            basis,
            log_ratio,
            look_alpha: looks.boundaries.nominal_p(all, looks.alpha)?,
            looks: count(p_values.len()),
            p_value: looks.boundaries.p_value(&p_values)?,
            counts,
        })
    }

    /// Whether the units show no spread at all, so that their interval means nothing.
    #[must_use]
    pub fn is_degenerate(&self) -> bool {
        self.log_ratio.standard_error == 0.0
    }

    /// The point estimate of the ratio.
    pub(super) fn ratio(&self) -> f64 {
        exp(self.log_ratio.mean)
    }

    /// The interval of the ratio.
    ///
    /// # Errors
    /// When the error of this look is not strictly between 0 and 1.
    pub(super) fn ratio_interval(&self) -> Result<(f64, f64), StatsError> {
        let (low, high) = self.log_ratio.interval(self.look_alpha)?;
        Ok((exp(low), exp(high)))
    }

    /// The estimate on the scale of ratios, with the p-value that the whole suite made of this one's.
    ///
    /// # Errors
    /// When a number of the decision is out of its range (see [`Decision::check`]).
    pub fn estimate(&self, decision: &Decision, p_adjusted: f64) -> Result<Estimate, StatsError> {
        let (ratio_low, ratio_high) = self.ratio_interval()?;
        let level = Level { alpha: self.look_alpha, power: decision.power };
        let factor = stats::detectable_factor(self.log_ratio.degrees_of_freedom(), level)?;
        Ok(Estimate {
            ratio: self.ratio(),
            ratio_low,
            ratio_high,
            confidence: 1.0 - decision.alpha,
            basis: self.basis,
            method: if self.log_ratio.trimmed_per_side > 0 { Method::YuenTrimmedT } else { Method::StudentT },
            looks: self.looks,
            p_value: self.p_value,
            p_adjusted,
            minimal_detectable_change: exp(factor * self.log_ratio.standard_error) - 1.0,
            counts: self.counts,
        })
    }
}

/// Exponential that stays finite, because infinity cannot be written in JSON.
fn exp(log: f64) -> f64 {
    log.exp().min(f64::MAX)
}
