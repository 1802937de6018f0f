//! pyperf's JSON (`-o FILE`): the values of every worker process, which is a fork. Those of warming up are left out, and so are
//! processes that only found the number of loops.

use std::collections::BTreeMap;

use duetbench_core::Recording;
use duetbench_core::recording::{HarnessWarmUp, Level};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::{FormatError, Wrong, wrong_json};
use crate::reading::keys::Known;
use crate::reading::sheet::{PROCESSES, Series, Sheet};
use crate::reading::unit::{self, Unit};
use crate::reading::{Contents, flattened};
use crate::tool::{More, Reader, Sign, Tool, Writer};
use crate::words::named;
use crate::writing::fit::{Fitted, Frame, Units, fit, is_bytes, seconds};
use crate::writing::{About, Written};

/// Its entry in the table.
pub(super) static TOOL: Tool = Tool {
    name: "pyperf",
    about: "pyperf's JSON",
    reader: Some(Reader {
        more: Some(More::Once { command: "python3 bench.py --processes 10 -o base.json", ending: ".json" }),
        ..Reader::of(
            "JSON of pyperf",
            Sign::Keys(Known { of_file: &["metadata"], of_benchmark: &["runs", "metadata"] }),
            parse,
        )
    }),
    writer: Some(Writer::of(write)),
};

#[derive(Deserialize)]
struct File {
    benchmarks: Vec<Entry>,
    /// Metadata that all benchmarks have in common.
    #[serde(default)]
    metadata: Value,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    metadata: Metadata,
    runs: Vec<Run>,
}

/// The part of a benchmark's metadata, or of those in common, that is read.
#[derive(Default, Deserialize)]
struct Metadata {
    name: Option<String>,
    unit: Option<String>,
    loops: Option<f64>,
    inner_loops: Option<f64>,
}

/// A worker process.
#[derive(Deserialize)]
struct Run {
    #[serde(default)]
    metadata: RunMetadata,
    values: Option<Vec<f64>>,
    /// Loops and value, as a value would be: by loop.
    warmups: Option<Vec<(f64, f64)>>,
}

#[derive(Default, Deserialize)]
struct RunMetadata {
    /// From its first warm-up to its last value, seconds.
    duration: Option<f64>,
}

/// Reads such a file.
fn parse(bytes: &[u8]) -> Result<Contents, Wrong> {
    let file: File = serde_json::from_slice(bytes).map_err(|e| wrong_json(&e))?;
    let common = Metadata::deserialize(&file.metadata).unwrap_or_default();
    let mut sheet = Sheet { context: flattened(&file.metadata), ..Sheet::default() };
    for entry in file.benchmarks {
        sheet.judged.push(entry.series(&common)?);
    }
    sheet.contents(&PROCESSES)
}

impl Entry {
    fn series(self, common: &Metadata) -> Result<Series, Wrong> {
        let own = &self.metadata;
        let name = own.name.as_ref().or(common.name.as_ref());
        let name = name.ok_or_else(|| Wrong::in_file("has a benchmark without `name` in its `metadata`"))?.clone();
        let word = own.unit.as_deref().or(common.unit.as_deref()).unwrap_or("second");
        let inner_loops = own.inner_loops.or(common.inner_loops).unwrap_or(1.0);
        let loops = own.loops.or(common.loops).unwrap_or(1.0) * inner_loops;
        let mut series = Series::new(name, unit_of(word));
        let measured: Vec<Run> = self.runs.into_iter().filter(|run| run.values.is_some()).collect();
        let first = measured.first().map_or(&[][..], |run| run.warmups.as_deref().unwrap_or_default());
        let warm_up_s: f64 = first.iter().map(|(loops, value)| loops * inner_loops * value).sum();
        series.harness_warm_up = (word == "second" && !first.is_empty()).then(|| HarnessWarmUp {
            iterations: u32::try_from(first.len()).unwrap_or(u32::MAX),
            iteration_s: warm_up_s / first.len() as f64,
            ran: true,
        });
        let durations: Vec<f64> = measured.iter().filter_map(|run| run.metadata.duration).collect();
        series.forks = measured.into_iter().map(|run| run.values.unwrap_or_default()).collect();
        if word == "second" {
            series.cost.innermost_s = series.mean() * loops;
        }
        let inside_s = series.cost.innermost_s * series.forks.first().map_or(0, Vec::len) as f64;
        let fork_s = durations.iter().sum::<f64>() / durations.len().max(1) as f64;
        series.cost.overhead_s = vec![(fork_s - inside_s).max(0.0), 0.0];
        Ok(series)
    }
}

/// Converts pyperf's name of a unit.
fn unit_of(word: &str) -> Unit {
    match word {
        "second" => unit::of("s/op"),
        "byte" => unit::of("B"),
        other => unit::of(other),
    }
}

const FRAME: Frame = Frame {
    title: "pyperf's JSON",
    levels: &[Level::Fork, Level::Iteration],
    units: Units::TimesAndBytes,
    gaps: false,
};
/// The version of the format.
const VERSION: &str = "1.0";

/// The recording as such a file.
fn write(recording: &Recording, about: &About) -> Result<Written, FormatError> {
    let (fitted, mut lost) = fit(recording, &FRAME)?;
    let zero = fitted.iter().filter(|benchmark| benchmark.cells.contains(&0.0)).map(Fitted::name);
    if let Some(names) = named(zero) {
        lost.push(format!("values of 0 are left out, since pyperf refuses them: {names}"));
    }
    let known = [("cpu_model_name", "cpu"), ("duet_version", "duet-version"), ("duet_run", "duet-run")];
    let known = known.map(|(key, line)| (key, about.value(line)));
    let metadata: BTreeMap<&str, &str> = known
        .into_iter()
        .chain([("duet_commit", about.version.as_str())])
        .filter(|(_, value)| !value.is_empty())
        .collect();
    let benchmarks: Vec<Value> = fitted.iter().filter_map(written).collect();
    Written::json(&json!({ "benchmarks": benchmarks, "metadata": metadata, "version": VERSION }), lost)
}

/// A benchmark with the values of its processes; absent without any.
fn written(benchmark: &Fitted<'_>) -> Option<Value> {
    let bytes = is_bytes(&benchmark.recorded.unit);
    let value = |value: &f64| if bytes { *value } else { seconds(*value) };
    let run = |cells: &[f64]| cells.iter().filter(|v| **v > 0.0).map(value).collect::<Vec<f64>>();
    let runs: Vec<Value> =
        benchmark.groups().map(run).filter(|run| !run.is_empty()).map(|values| json!({ "values": values })).collect();
    let unit = if bytes { "byte" } else { "second" };
    let metadata = json!({ "name": benchmark.name(), "unit": unit });
    (!runs.is_empty()).then(|| json!({ "metadata": metadata, "runs": runs }))
}
