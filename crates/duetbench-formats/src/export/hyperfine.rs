//! hyperfine's JSON (`--export-json`): each command with the time of every run, which is a process.
//!
//! A recording holds nothing else that hyperfine knows (CPU times, memory, exit codes); those keys are left out.

use duetbench_core::Recording;
use duetbench_core::recording::Level;
use serde::Serialize;

use super::Written;
use super::figures::Figures;
use super::fit::{Fitted, Frame, Units, fit, seconds};
use crate::error::FormatError;

const FRAME: Frame = Frame { title: "hyperfine's JSON", levels: &[Level::Fork], units: Units::Times, gaps: true };

#[derive(Serialize)]
struct File<'a> {
    results: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    command: &'a str,
    mean: f64,
    stddev: Option<f64>,
    median: f64,
    min: f64,
    max: f64,
    times: Vec<Option<f64>>,
}

/// The recording as such a file.
pub(super) fn write(recording: &Recording) -> Result<Written, FormatError> {
    let (fitted, lost) = fit(recording, &FRAME)?;
    Written::json(&File { results: fitted.iter().filter_map(Entry::of).collect() }, lost)
}

impl<'a> Entry<'a> {
    fn of(benchmark: &'a Fitted<'a>) -> Option<Entry<'a>> {
        let known: Vec<f64> = benchmark.values().into_iter().map(seconds).collect();
        let figures = Figures::of(&known)?;
        Some(Entry {
            command: benchmark.name(),
            mean: figures.mean,
            stddev: figures.sd,
            median: figures.quantile(0.5),
            min: figures.min(),
            max: figures.max(),
            times: benchmark.cells.iter().map(|v| v.is_finite().then(|| seconds(*v))).collect(),
        })
    }
}
