//! pyperf's JSON: each benchmark with its runs, which are processes, and the values of each.

use std::collections::BTreeMap;

use duetbench_core::Recording;
use duetbench_core::recording::Level;
use serde::Serialize;

use super::fit::{BYTES, Fitted, Frame, Units, fit, seconds};
use super::{About, Written, named};
use crate::error::FormatError;

const FRAME: Frame = Frame {
    title: "pyperf's JSON",
    levels: &[Level::Fork, Level::Iteration],
    units: Units::TimesAndBytes,
    gaps: false,
};
/// The version of the format.
const VERSION: &str = "1.0";

#[derive(Serialize)]
struct File<'a> {
    benchmarks: Vec<Benchmark<'a>>,
    metadata: BTreeMap<&'a str, &'a str>,
    version: &'static str,
}

#[derive(Serialize)]
struct Benchmark<'a> {
    metadata: BTreeMap<&'a str, &'a str>,
    runs: Vec<Run>,
}

/// Values of one process.
#[derive(Serialize)]
struct Run {
    values: Vec<f64>,
}

/// The recording as such a file.
pub(super) fn write(recording: &Recording, about: &About) -> Result<Written, FormatError> {
    let (fitted, mut lost) = fit(recording, &FRAME)?;
    let zero = fitted.iter().filter(|benchmark| benchmark.cells.contains(&0.0)).map(Fitted::name);
    if let Some(names) = named(zero) {
        lost.push(format!("values of 0 are left out, since pyperf refuses them: {names}"));
    }
    let known = [("cpu_model_name", "cpu"), ("duet_version", "duet-version"), ("duet_run", "duet-run")];
    let known = known.map(|(key, line)| (key, about.value(line)));
    let metadata =
        known.into_iter().chain([("duet_commit", about.version.as_str())]).filter(|(_, value)| !value.is_empty());
    let benchmarks = fitted.iter().map(Benchmark::of).filter(|benchmark| !benchmark.runs.is_empty()).collect();
    Written::json(&File { benchmarks, metadata: metadata.collect(), version: VERSION }, lost)
}

impl<'a> Benchmark<'a> {
    fn of(benchmark: &'a Fitted<'a>) -> Benchmark<'a> {
        let bytes = benchmark.recorded.unit == BYTES;
        let value = |value: &f64| if bytes { *value } else { seconds(*value) };
        let run = |cells: &[f64]| Run { values: cells.iter().filter(|v| **v > 0.0).map(value).collect() };
        let unit = if bytes { "byte" } else { "second" };
        Benchmark {
            metadata: BTreeMap::from([("name", benchmark.name()), ("unit", unit)]),
            runs: benchmark.groups().map(run).filter(|run| !run.values.is_empty()).collect(),
        }
    }
}
