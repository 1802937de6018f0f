//! Warnings about the numbers of one benchmark.

use serde::{Deserialize, Serialize};

use super::basis::matters;
use super::{Basis, ForkPair, RatioInterval, finite_exp};
use crate::plan::Redefinition;
use crate::sample::Role;
use crate::spec::{Decision, defaults};
use crate::stats;

/// Something a reader should know about one benchmark's numbers. Data; worded by the renderers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Warning {
    /// Too few units for an interval.
    TooFewUnits {
        /// Those there are.
        units: u32,
        /// Those there must be.
        needed: u32,
    },
    /// The budget was not enough for an interval, so that it gave way to others.
    OutOfTime {
        /// Time that it needs until most benchmarks are settled, seconds.
        needs_s: f64,
        /// Time that was left when nobody else could use it either, seconds.
        left_s: f64,
    },
    /// Samples whose other half is missing were left out.
    Orphans {
        /// Their number.
        samples: u32,
    },
    /// Later rounds of fresh trials did not see the regression again.
    NotConfirmed {
        /// The ratio that was found first.
        ratio: f64,
        /// The ratio of all fresh rounds together.
        later: f64,
    },
    /// One build of each version was compared, and layout alone may account for the difference.
    SingleBuild {
        /// Change that layout alone usually explains in 99 of 100 build pairs, as a fraction.
        layout_explains: f64,
        /// The same of the benchmark that layout moves most of all; both are alike where a calibration knows this one.
        layout_explains_most: f64,
        /// Layout alone may explain all of the change.
        may_be_all: bool,
        /// More builds could have been asked for.
        relinks: bool,
    },
    /// The programs as they are linked without a layout being drawn differ by another amount.
    LinkedApart {
        /// Their ratio.
        as_linked: f64,
    },
    /// Where idle cores mark for the collector, and not the benchmark's own, it is another change.
    IdleCores {
        /// The ratio there.
        ratio: f64,
    },
    /// All units gave the same number, which says nothing about their spread.
    Degenerate,
    /// Wall time exceeded CPU time: it waits, or the machine took the processor away.
    NotCpuBound {
        /// CPU time as a share of wall time, the lower of both sides' medians.
        cpu_share: f64,
    },
    /// All slices together changed by another amount than the typical slice; all slices were judged.
    SlowSlices {
        /// The number that was judged.
        basis: Basis,
        /// Ratio of all slices to that of the typical one.
        ratio: f64,
    },
    /// The number that was judged lies within the threshold, and the one beside it may not, so that the question stays open.
    BesideOpen {
        /// The number beside it.
        basis: Basis,
        /// Its interval.
        interval: RatioInterval,
    },
    /// Its first trial did not become steady as long as it was looked at, and all that counts for warm-up.
    NoSteadyState {
        /// Version of the process.
        role: Role,
        /// Iterations that it had.
        within: u32,
    },
    /// Processes went on changing while they were judged.
    StillChanging {
        /// Version of the processes.
        role: Role,
        /// Processes that went on changing.
        forks: u32,
        /// Processes that were looked at.
        of: u32,
        /// Ratio of the second half of what was judged to the first, the median over those that changed.
        ratio: f64,
        /// Iterations before that, which warmed up.
        warm_up: u32,
    },
    /// The benchmark itself differs between the versions.
    Redefined(Redefinition),
    /// Trials of this benchmark failed and were left out.
    FailedTrials {
        /// Their number.
        trials: u32,
        /// The words of the first one.
        first: String,
    },
}

/// Standard deviations of a fork pair from which on one is said to lie apart.
const APART: f64 = 4.0;
/// Normal quantile that leaves half a hundredth on either side.
const Z_OF_99: f64 = 2.576;

/// Change that a standard deviation between build pairs explains in 99 of 100 of them, as a fraction.
pub(super) fn explained_by(layout_sd: f64) -> f64 {
    (Z_OF_99 * layout_sd).exp_m1()
}

impl Warning {
    /// That the programs as they are linked differ in first trials by another amount than the mean over layouts: by more than the
    /// threshold, and than fork pairs vary, whose log ratios these are.
    pub(super) fn linked_apart(as_linked: f64, ratio: f64, log_ratios: &[f64], threshold: f64) -> Option<Warning> {
        let varies = APART * stats::trimmed_t(log_ratios).ok()?.spread();
        let apart = (as_linked / ratio).ln().abs() > varies.max(threshold.ln_1p());
        apart.then_some(Warning::LinkedApart { as_linked })
    }

    /// That the change is shown to be another one by more than half the threshold where idle cores mark, which all forks that tell have in
    /// their CPU time.
    pub(super) fn idle_cores(forks: &[ForkPair], decision: &Decision) -> Option<Warning> {
        let both = || forks.iter().filter_map(|fork| Some((fork.log_ratio_idle?, fork.cpu?.complete)));
        let of = |log_ratios: Vec<f64>| stats::trimmed_t(&log_ratios).ok().filter(|t| t.values >= defaults::UNITS_MIN);
        let apart = of(both().map(|(idle, alone)| idle - alone).collect())?;
        let idle = of(both().map(|(idle, _)| idle).collect())?;
        matters(&apart, decision.alpha, decision).then(|| Warning::IdleCores { ratio: finite_exp(idle.mean) })
    }

    /// That one build of each version differs by this ratio, with what layout explains of it: by the standard deviation of the log
    /// ratio that a calibration found for this benchmark, or else by those that studies found for many.
    ///
    /// One that found little lowers no figure: layouts that are drawn alike for both sides vary less than those that the linker happens to make.
    pub fn single_build(ratio: f64, relinks: bool, layout_sd: Option<f64>) -> Warning {
        let calibrated = layout_sd.filter(|sd| *sd > defaults::LAYOUT_SD);
        let usual = calibrated.unwrap_or(defaults::LAYOUT_SD);
        let most = calibrated.unwrap_or(defaults::LAYOUT_SD_MAX);
        let may_be_all = ratio.ln().abs() <= explained_by(most).ln_1p();
        Warning::SingleBuild {
            layout_explains: explained_by(usual),
            layout_explains_most: explained_by(most),
            may_be_all,
            relinks,
        }
    }
}
