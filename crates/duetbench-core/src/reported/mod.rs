//! Metrics that benchmarks report themselves, under units of their own: in Go by `b.ReportMetric`.
//!
//! Such a value is the harness's for one whole process, and it may be made of anything: of counts, of a clock of its own, of sizes
//! of files. A slice has none. So where a rule names a unit, pairs of processes run once more as the harness itself runs them, after
//! everything is judged by time, and each gives one value. A pair is a unit of inference: where a version can be linked in
//! another order, every pair is of another build.

use serde::{Deserialize, Serialize};

use crate::recording::Better;
use crate::sample::BenchmarkId;
use crate::verdict::Verdict;

mod judge;

pub use judge::judge;

/// Pairs of processes that a benchmark gets: so many that a lone clear change among a hundred units can be called by their order alone.
pub const PAIRS: u32 = 12;
/// Fewest complete pairs that are judged: the fewest whose order alone can be sure at 1 %.
pub const PAIRS_MIN: u32 = 8;
/// Time that such a process aims at, nanoseconds.
pub const PROCESS_NS: u64 = 500_000_000;

/// Result of reading the units of one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Readings {
    /// The benchmark.
    pub id: BenchmarkId,
    /// Its units, or why there are none.
    pub outcome: ReadingsOutcome,
}

/// The values of one benchmark, or why there are none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadingsOutcome {
    /// Values that it reported, under those units that rules name.
    Read(Vec<UnitReadings>),
    /// It did not work out.
    Failed {
        /// Why, in words.
        reason: String,
    },
}

/// The values that processes reported under one unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnitReadings {
    /// The unit.
    pub unit: String,
    /// Every pair of processes, in the order in which they ran, complete or not.
    pub pairs: Vec<PairReading>,
}

/// The values that the two processes of one pair reported under one unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PairReading {
    /// The baseline's value, in the unit, where its process reported it.
    pub baseline: Option<f64>,
    /// The candidate's.
    pub candidate: Option<f64>,
}

/// Result for one unit of one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportedMetric {
    /// The benchmark.
    pub id: BenchmarkId,
    /// The unit.
    pub unit: String,
    /// The better direction of its values.
    pub better: Better,
    /// Smallest change that was worth a verdict, a fraction.
    pub threshold: f64,
    /// The answer.
    pub verdict: Verdict,
    /// The baseline's median over processes, in the unit; absent where it reports none.
    pub baseline: Option<f64>,
    /// The candidate's.
    pub candidate: Option<f64>,
    /// The change with its uncertainty, where values have a ratio.
    pub change: Option<Change>,
    /// Pairs of processes that were judged: those of which both reported the unit.
    pub pairs: u32,
    /// Pairs that were left out because one process or both did not report the unit.
    pub pairs_left_out: u32,
}

/// A ratio of candidate to baseline, whichever direction is the good one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Point estimate.
    pub ratio: f64,
    /// Lower end of the interval.
    pub ratio_low: f64,
    /// Upper end of the interval.
    pub ratio_high: f64,
}

impl ReportedMetric {
    /// By how much it got worse, a fraction, so that a rate that halves is worse by 1, like a time that doubles; infinite where values
    /// have no ratio. Negative where it got better.
    pub fn worse_by(&self) -> f64 {
        self.change.map_or(f64::INFINITY, |change| change.worsening(self.better).ratio - 1.0)
    }

    /// The same by the end of the interval that says the most; absent where values have no ratio.
    pub fn worse_by_at_most(&self) -> Option<f64> {
        self.change.map(|change| change.worsening(self.better).ratio_high - 1.0)
    }
}

impl Change {
    /// The same seen so that more is worse: of rates baseline to candidate.
    fn worsening(self, better: Better) -> Change {
        let Change { ratio, ratio_low, ratio_high } = self;
        match better {
            Better::Lower => self,
            Better::Higher => {
                Change { ratio: ratio.recip(), ratio_low: ratio_high.recip(), ratio_high: ratio_low.recip() }
            }
        }
    }
}
