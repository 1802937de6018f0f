//! What a reader should know about one benchmark's numbers.

use serde::{Deserialize, Serialize};

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
    /// All slices together changed by another amount than the typical slice; all slices were judged.
    SlowSlices {
        /// Ratio of all slices to that of the typical one.
        ratio: f64,
    },
    /// Trials of this benchmark failed and were left out.
    FailedTrials {
        /// How many.
        trials: u32,
        /// The words of the first one.
        first: String,
    },
}
