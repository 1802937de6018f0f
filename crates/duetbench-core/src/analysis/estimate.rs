//! What the fork pairs of one benchmark say about its change.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::ForkPair;
use crate::spec::{Decision, defaults};
use crate::stats::{self, Level, StatsError, TrimmedT};

use super::Basis;

/// How an interval was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Student's t over fork pairs.
    StudentT,
    /// 10 %-trimmed mean of fork pairs with Yuen's standard error.
    YuenTrimmedT,
}

/// How many repetitions there were at every level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Build pairs.
    pub builds: u32,
    /// Fork pairs: the independent units.
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
    /// Confidence of the interval, as a fraction.
    pub confidence: f64,
    /// What number of every fork pair was judged.
    pub basis: Basis,
    /// How the interval was computed.
    pub method: Method,
    /// Two-sided p-value of no change.
    pub p_value: f64,
    /// The p-value adjusted for the number of benchmarks (Benjamini-Hochberg).
    pub p_adjusted: f64,
    /// Smallest true change this experiment would have reported with the stated power, as a fraction.
    pub minimal_detectable_change: f64,
    /// Repetitions.
    pub counts: Counts,
}

/// What the fork pairs of one benchmark say, before the rest of the suite is looked at.
///
/// The fork pair is the unit of inference: slices of one process share its memory layout, its luck and its neighbours, and
/// treating them as independent makes an interval far too narrow (Kalibera and Jones, ISMM 2013).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// What number of every fork pair it rests on.
    pub basis: Basis,
    /// Mean log ratio over fork pairs, with its standard error.
    pub log_ratio: TrimmedT,
    /// Two-sided p-value of no change.
    pub p_value: f64,
    /// Repetitions.
    pub counts: Counts,
}

impl Evidence {
    /// Tests the log ratios of the fork pairs against 0, by Student's t below ten forks and by the trimmed t from there on.
    ///
    /// # Errors
    /// With fewer fork pairs than [`defaults::FORKS_MIN`], or with a log ratio that is not finite.
    pub fn of(forks: &[ForkPair], basis: Basis) -> Result<Evidence, StatsError> {
        let needed = defaults::FORKS_MIN as usize;
        if forks.len() < needed {
            return Err(StatsError::TooFew { have: forks.len(), needed });
        }
        let log_ratios: Vec<f64> = forks.iter().map(|f| basis.of(f)).collect();
        let log_ratio = stats::trimmed_t(&log_ratios)?;
        let builds: BTreeSet<u32> = forks.iter().map(|f| f.build).collect();
        let counts = Counts {
            builds: u32::try_from(builds.len()).unwrap_or(u32::MAX),
            forks: log_ratio.values,
            slices: forks.iter().map(|f| f.slices).fold(0, u32::saturating_add),
        };
        Ok(Evidence { basis, log_ratio, p_value: log_ratio.p_value()?, counts })
    }

    /// Whether the fork pairs show no spread at all, so that their interval means nothing.
    #[must_use]
    pub fn is_degenerate(&self) -> bool {
        self.log_ratio.standard_error == 0.0
    }

    /// The estimate on the scale of ratios, with the p-value that the whole suite made of this one's.
    ///
    /// # Errors
    /// When a number of the decision is out of its range (see [`Decision::check`]).
    pub fn estimate(&self, decision: &Decision, p_adjusted: f64) -> Result<Estimate, StatsError> {
        let (low, high) = self.log_ratio.interval(decision.alpha)?;
        let level = Level { alpha: decision.alpha, power: decision.power };
        let factor = stats::detectable_factor(self.log_ratio.degrees_of_freedom(), level)?;
        Ok(Estimate {
            ratio: exp(self.log_ratio.mean),
            ratio_low: exp(low),
            ratio_high: exp(high),
            confidence: 1.0 - decision.alpha,
            basis: self.basis,
            method: if self.log_ratio.trimmed_per_side > 0 { Method::YuenTrimmedT } else { Method::StudentT },
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
