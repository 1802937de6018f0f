//! From pairs to estimates and verdicts.

use serde::{Deserialize, Serialize};

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

/// Something a reader should know about one benchmark's numbers. Data; worded by the renderers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Warning {
    /// Too few fork pairs for an interval.
    TooFewForks {
        /// Those there are.
        forks: u32,
        /// Those there must be.
        needed: u32,
    },
    /// Samples whose other half is missing were left out.
    Orphans {
        /// How many.
        samples: u32,
    },
    /// All fork pairs gave the same number, which says nothing about their spread.
    Degenerate,
    /// Wall time exceeded CPU time: it waits, or the machine took the processor away.
    NotCpuBound {
        /// CPU time as a share of wall time, the lower of both sides' medians.
        cpu_share: f64,
    },
    /// Trials of this benchmark failed and were left out.
    FailedTrials {
        /// How many.
        trials: u32,
        /// The words of the first one.
        first: String,
    },
}
