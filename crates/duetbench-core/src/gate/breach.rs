//! What got worse by more than is tolerated.

use serde::{Deserialize, Serialize};

use super::Day;
use crate::analysis::{BenchmarkReport, Counted};
use crate::sample::BenchmarkId;
use crate::spec::{Action, Metric, Policy, Stance};
use crate::verdict::Verdict;

/// One thing that got worse.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Breach {
    /// Which benchmark.
    pub id: BenchmarkId,
    /// What of it.
    pub metric: Metric,
    /// By how much, a fraction of the baseline; infinite where that was 0.
    pub change: f64,
    /// By how much it may.
    pub threshold: f64,
    /// What comes of it.
    pub standing: Standing,
}

/// What comes of a breach.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Standing {
    /// It stops the change.
    Fails,
    /// The policy only wants it to be known.
    Informs,
    /// It was accepted.
    Waived {
        /// Up to so much, a fraction.
        ceiling: f64,
        /// Until the end of this day.
        expires: Day,
    },
    /// It was accepted, but not so much of it.
    AboveCeiling {
        /// What was accepted, a fraction.
        ceiling: f64,
    },
    /// It was accepted until the end of this day, which is over.
    Expired {
        /// The day.
        expires: Day,
    },
}

impl Standing {
    /// Whether it stops the change.
    #[must_use]
    pub fn fails(&self) -> bool {
        !matches!(self, Standing::Informs | Standing::Waived { .. })
    }
}

/// What got worse of a benchmark: its time if the verdict says so, counts if they differ and grew by more than is tolerated.
pub(super) fn breaches_of(benchmark: &BenchmarkReport, policy: &Policy, threshold: f64) -> Vec<Breach> {
    let breach = |metric: Metric, change: f64, stance: Stance, threshold: f64| Breach {
        id: benchmark.id.clone(),
        metric,
        change,
        threshold,
        standing: if stance.action == Action::Gate { Standing::Fails } else { Standing::Informs },
    };
    let mut found = Vec::new();
    if let (Verdict::Regression, Some(estimate)) = (&benchmark.verdict, &benchmark.estimate) {
        let stance = policy.stance(&benchmark.id, Metric::Time);
        found.push(breach(Metric::Time, estimate.ratio - 1.0, stance, stance.threshold.unwrap_or(threshold)));
    }
    for (metric, counted) in [(Metric::Allocs, benchmark.allocs), (Metric::Bytes, benchmark.bytes)] {
        let Some(change) = counted.filter(|c| c.changed).map(|c| growth(&c)) else { continue };
        let stance = policy.stance(&benchmark.id, metric);
        // Counts are exact, so that by default nothing more is tolerated.
        let tolerated = stance.threshold.unwrap_or(0.0);
        if change > tolerated {
            found.push(breach(metric, change, stance, tolerated));
        }
    }
    found
}

/// By how much a count grew, a fraction of the baseline.
fn growth(counted: &Counted) -> f64 {
    if counted.baseline > 0.0 { counted.candidate / counted.baseline - 1.0 } else { f64::INFINITY }
}
