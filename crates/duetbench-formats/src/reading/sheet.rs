//! Values as they are met in a file: by benchmark, unit and process, until all are known.

use std::collections::HashSet;

use duetbench_core::Recording;
use duetbench_core::recording::{Cost, HarnessWarmUp, Level};

use super::cells::{self, Cell, Outline, cells_of};
use super::unit::Unit;
use super::{Contents, LeftOut, Metric};
use crate::error::Wrong;

/// The levels of a tool that starts several processes.
pub(crate) const PROCESSES: [Level; 2] = [Level::Fork, Level::Iteration];
/// The levels of a tool that measures in one process: whatever it repeats there is an iteration of the same fork.
pub(crate) const ONE_PROCESS: [Level; 1] = [Level::Iteration];

/// Values of one benchmark in one unit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    pub(crate) benchmark: String,
    pub(crate) unit: Unit,
    pub(crate) cost: Cost,
    pub(crate) harness_warm_up: Option<HarnessWarmUp>,
    pub(crate) terms: Vec<(&'static str, String)>,
    /// Values by process, in the order in which it gave them; in the file's own unit.
    pub(crate) forks: Vec<Vec<f64>>,
}

impl Series {
    /// A series without values, of which nobody knows what it cost.
    pub(crate) fn new(benchmark: impl Into<String>, unit: Unit) -> Series {
        let cost = Cost { innermost_s: 0.0, overhead_s: Vec::new() };
        Series { benchmark: benchmark.into(), unit, cost, harness_warm_up: None, terms: Vec::new(), forks: Vec::new() }
    }

    /// The mean of its values in the file's own unit; 0 without values.
    pub(crate) fn mean(&self) -> f64 {
        let good = || self.forks.iter().flatten().filter(|value| value.is_finite());
        good().sum::<f64>() / good().count().max(1) as f64
    }
}

/// All that was met in a file.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    /// The judged values: one series for every benchmark.
    pub(crate) judged: Vec<Series>,
    /// Further metrics, each with its name.
    pub(crate) beside: Vec<(String, Series)>,
    /// Facts about machine and configuration, keys with values.
    pub(crate) context: Vec<(String, String)>,
    /// Warnings about the file, in words.
    pub(crate) warnings: Vec<String>,
}

impl Sheet {
    /// The recording of these levels, [`PROCESSES`] or [`ONE_PROCESS`], with what stands beside it.
    ///
    /// # Errors
    /// When a benchmark is there twice, or has more values than can be kept.
    pub(crate) fn contents(self, levels: &[Level]) -> Result<Contents, Wrong> {
        let mut names = HashSet::new();
        if let Some(twice) = self.judged.iter().find(|series| !names.insert(series.benchmark.as_str())) {
            return Err(Wrong::in_file(format!("holds `{}` more than once", twice.benchmark)));
        }
        let mut recording = placed(levels, self.judged)?;
        recording.warnings.extend(self.warnings);
        let (metrics, series): (Vec<String>, Vec<Series>) = self.beside.into_iter().unzip();
        let Recording { benchmarks: beside, warnings, .. } = placed(levels, series)?;
        recording.warnings.extend(warnings.into_iter().map(|said| format!("beside the times: {said}")));
        let beside = metrics.into_iter().zip(beside).map(|(name, recorded)| Metric { name, recorded }).collect();
        Ok(Contents { recording, beside, context: self.context })
    }
}

/// Puts the values of all series in their places.
fn placed(levels: &[Level], all: Vec<Series>) -> Result<Recording, Wrong> {
    let mut left_out = LeftOut::default();
    let mut outlines = Vec::with_capacity(all.len());
    let mut values: Vec<Cell> = Vec::new();
    for (number, series) in (0_u32..).zip(all) {
        let longest = series.forks.iter().map(Vec::len).max().unwrap_or(0);
        let shape = if levels.len() == 1 { vec![longest] } else { vec![series.forks.len(), longest] };
        if cells_of(&shape).is_none() {
            return Err(Wrong::in_file(format!("has more values of `{}` than can be kept", series.benchmark)));
        }
        for (fork, iterations) in (0_u32..).zip(&series.forks) {
            for (at, value) in (0_u32..).zip(iterations) {
                let Some(value) = left_out.checked(value * series.unit.factor, 0) else { continue };
                values.push((number, fork * longest as u32 + at, value));
            }
        }
        let Series { benchmark, unit, mut cost, harness_warm_up, terms, .. } = series;
        cost.overhead_s.resize(levels.len(), 0.0);
        outlines.push(Outline { benchmark, unit, cost, harness_warm_up, terms, shape });
    }
    let mut recording = cells::recording(levels, outlines, &values)?;
    recording.warnings.extend(left_out.warning());
    Ok(recording)
}
