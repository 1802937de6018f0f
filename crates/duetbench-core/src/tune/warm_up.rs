//! Finds the iterations of each process that warm up, for every benchmark whose harness has such a thing.

use std::collections::BTreeMap;

use crate::recording::{HarnessWarmUp, Level, Recorded, Recording};
use crate::warmup::ForksWarmUp;

/// Warm-up of one benchmark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TunedWarmUp {
    /// The warm-up that its processes show; absent where there are too few iterations to tell.
    pub found: Option<ForksWarmUp>,
    /// The warm-up of its harness.
    pub harness: HarnessWarmUp,
    /// Length of an iteration of the recording, seconds.
    pub iteration_s: f64,
}

impl TunedWarmUp {
    /// Looks at a benchmark; absent where its harness has no warm-up.
    pub fn of(recorded: &Recorded, levels: &[Level]) -> Option<TunedWarmUp> {
        let harness = recorded.harness_warm_up?;
        Some(TunedWarmUp { found: recorded.warm_up(levels), harness, iteration_s: recorded.cost.innermost_s })
    }

    /// Iterations at the start of every process that are taken for warm-up; none where nothing is known.
    pub fn cut(&self) -> usize {
        self.found.and_then(|found| found.iterations).unwrap_or(0)
    }

    /// Iterations of the recording's length that the harness ran before the first value. Nobody saw whether they were needed, so
    /// they have to be run again.
    pub fn unseen(&self) -> usize {
        let ran = self.harness.ran && self.iteration_s > 0.0;
        if ran { (self.harness.time_s() / self.iteration_s).ceil() as usize } else { 0 }
    }

    /// Iterations that are to warm up in every process.
    pub fn iterations(&self) -> usize {
        self.unseen().saturating_add(self.cut())
    }
}

/// A recording without the warm-up of its processes, and what was found of each benchmark that has one.
pub fn without_warm_up(recording: &Recording) -> (Recording, BTreeMap<String, TunedWarmUp>) {
    let mut found = BTreeMap::new();
    let cut = |recorded: &Recorded| {
        let Some(warm_up) = TunedWarmUp::of(recorded, &recording.levels) else { return recorded.clone() };
        found.insert(recorded.benchmark.clone(), warm_up);
        recorded.without_warm_up(&recording.levels, warm_up.cut()).unwrap_or_else(|| recorded.clone())
    };
    let benchmarks = recording.benchmarks.iter().map(cut).collect();
    (Recording { benchmarks, ..recording.clone() }, found)
}
