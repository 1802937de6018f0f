//! The four research questions of the µOpTime paper, on anybody's recordings.
//!
//! 1. How much time do reduced configurations save, and how far do their results lie from the full ones ([`Savings`])?
//! 2. Do the metrics differ in that ([`Contrast`])?
//! 3. What changes when warm-up is removed (the same, [`Savings::warm_up`])?
//! 4. Do reduced configurations find the performance changes that full ones find ([`PairOfVersions`])?

mod baseline;
mod changes;
mod contrast;
mod names;
mod numpy_rng;
mod practice;
mod random;
mod savings;

use duetbench_core::recording::{Grid, Level, Recorded, Recording};
use duetbench_core::tune::{Metric, Rules};

pub use baseline::{RandomBaseline, minimum_baseline};
pub use changes::{PairOfVersions, RateSummary, Tracked, rate_summary};
pub use contrast::{Contrast, MetricPair, contrast};
pub use names::{FileName, natural_order};
pub use practice::{Compat, Practice};
pub use random::{Random, drawn_before, is_go};
pub use savings::{FileStudy, Savings, WITHIN, study_file};

/// Method of reducing configurations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// As tuning chooses.
    UOpTime,
    /// The smallest ones.
    Minimum,
    /// Random ones.
    Random,
}

duetbench_core::words!(Method, ALL: UOpTime "uOpTime", Minimum "minimum", Random "random");

/// Settings of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Largest value of a metric that is stable, a fraction.
    pub threshold: f64,
    /// Confidence of the intervals, a fraction.
    pub confidence: f64,
    /// Smallest relevant performance change, a fraction.
    pub relevant: f64,
    /// Author of the rules.
    pub compat: Compat,
}

impl Settings {
    /// The practice of tuning with a metric.
    pub fn practice(&self, metric: Metric) -> Practice {
        let (threshold, confidence) = (self.threshold, self.confidence);
        let rules = Rules { metric, threshold, confidence, keep: vec![Level::Instance] };
        Practice { rules, compat: self.compat }
    }

    /// A recording as it is studied: the published code uses the first instance only, and takes time to be repetitions.
    pub fn prepared(&self, recording: Recording) -> Recording {
        match self.compat {
            Compat::Paper => recording,
            Compat::PaperCode => first_instance(recording),
        }
    }
}

fn first_instance(mut recording: Recording) -> Recording {
    if recording.levels.first() != Some(&Level::Instance) {
        return recording;
    }
    for recorded in &mut recording.benchmarks {
        let mut shape = recorded.grid.shape().to_vec();
        let of_each = recorded.grid.cells().len() / shape[0].max(1);
        shape[0] = 1;
        let first = recorded.grid.cells()[..of_each].to_vec();
        if let Some(grid) = Grid::of(&shape, first) {
            recorded.grid = grid;
        }
    }
    recording
}

/// Repetitions of the innermost level in all, instances counted once: seconds or iterations, whichever that level is.
fn innermost(levels: &[Level], configuration: &[usize]) -> f64 {
    let counted = configuration.iter().zip(levels).filter(|(_, level)| **level != Level::Instance);
    counted.map(|(n, _)| *n as f64).product()
}

/// Time of a configuration without what forks cost, seconds.
fn measured_s(recorded: &Recorded, levels: &[Level], configuration: &[usize]) -> f64 {
    innermost(levels, configuration) * recorded.cost.innermost_s
}

#[cfg(test)]
mod tests {
    use duetbench_core::recording::{Better, Cost};

    use super::*;

    #[test]
    fn the_published_code_sees_the_first_instance_gaps_included() {
        let levels = vec![Level::Instance, Level::Iteration];
        let cost = Cost { innermost_s: 1.0, overhead_s: vec![0.0; 2] };
        let grid = Grid::of(&[2, 3], vec![1.0, f64::NAN, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let recorded = Recorded {
            benchmark: "A".into(),
            unit: "ns/op".into(),
            better: Better::Lower,
            cost,
            harness_warm_up: None,
            terms: Vec::new(),
            grid,
        };
        let recording = Recording { name: "a-1".into(), levels, benchmarks: vec![recorded], warnings: Vec::new() };
        let settings = |compat| Settings { threshold: 0.01, confidence: 0.99, relevant: 0.03, compat };
        let code = settings(Compat::PaperCode).prepared(recording.clone());
        assert_eq!((code.benchmarks[0].grid.shape(), code.benchmarks[0].grid.values()), (&[1, 3][..], vec![1.0, 3.0]));
        assert_eq!(settings(Compat::Paper).prepared(recording.clone()).benchmarks[0].grid.shape(), [2, 3]);
        assert_eq!(measured_s(&recording.benchmarks[0], &recording.levels, &[2, 3]), 3.0);
    }
}
