//! Google Benchmark's JSON (`--benchmark_out_format=json`): each repetition of a benchmark is a row, all of them of one process.
//!
//! Wall time is judged, as every row has it. CPU time, rates and the user's counters stand beside it. Aggregates are
//! computed from the repetitions, and left out. Invocations that are written are what the length of an iteration comes to.

use std::collections::{BTreeMap, HashMap, HashSet};

use duetbench_core::Recording;
use duetbench_core::recording::Level;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::error::{FormatError, Wrong, wrong_json};
use crate::reading::keys::Known;
use crate::reading::sheet::{ONE_PROCESS, Series, Sheet};
use crate::reading::unit::{self, Unit};
use crate::reading::{Contents, flattened};
use crate::tool::{More, Reader, Sign, Tool, Writer};
use crate::words::listed;
use crate::writing::fit::{Fitted, Frame, Units, fit, invocations};
use crate::writing::{About, Written};

/// Its entry in the table.
pub(super) static TOOL: Tool = Tool {
    name: "google-benchmark",
    about: "Google Benchmark's JSON",
    reader: Some(Reader {
        more: Some(More::Runs {
            command: "./benchmarks --benchmark_out=base$i.json --benchmark_out_format=json",
            ending: ".json",
        }),
        ..Reader::of(
            "JSON of Google Benchmark",
            Sign::Keys(Known { of_file: &["context"], of_benchmark: &["run_name", "run_type", "real_time"] }),
            parse,
        )
    }),
    writer: Some(Writer::of(write)),
};

/// Numbers of a row that are no counters of the user.
const NO_COUNTERS: [&str; 11] = [
    "per_family_instance_index", "repetitions", "repetition_index", "threads", "cpu_coefficient", "real_coefficient",
    "rms", "net_heap_growth", "total_allocated_bytes", "max_bytes_used", "memory_iterations",
];
/// Name endings of aggregates in files whose rows do not say what they are, as before version 1.5.
const AGGREGATES: [&str; 6] = ["_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS"];

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    context: Value,
    benchmarks: Vec<Row>,
}

/// One row.
#[derive(Default)]
struct Row {
    name: Option<String>,
    family: Option<u64>,
    run_type: Option<String>,
    time_unit: Option<String>,
    failed: bool,
    message: Option<String>,
    iterations: Option<f64>,
    real_time: Option<f64>,
    cpu_time: Option<f64>,
    /// Rates and the user's counters.
    counters: Vec<(String, f64)>,
}

/// Reads such a file.
fn parse(bytes: &[u8]) -> Result<Contents, Wrong> {
    let file: File = serde_json::from_slice(bytes).map_err(|e| wrong_json(&e))?;
    let names = file.benchmarks.iter().filter_map(|row| row.name.clone()).collect();
    let mut gathered = Gathered { names, ..Gathered::default() };
    for row in file.benchmarks {
        gathered.add(row)?;
    }
    let Gathered { mut sheet, failed, aggregates, .. } = gathered;
    if sheet.judged.is_empty() && aggregates > 0 {
        let what = "holds aggregates alone: leave out `--benchmark_report_aggregates_only`";
        return Err(Wrong::in_file(what));
    }
    if aggregates > 0 {
        sheet.warnings.push(format!("{aggregates} aggregates were left out: they are computed from the repetitions"));
    }
    sheet.warnings.extend(listed(failed.into_iter(), "rows of benchmarks that failed or were skipped were left out"));
    sheet.context = flattened(&file.context);
    sheet.contents(&ONE_PROCESS)
}

/// Values of the rows read so far.
#[derive(Default)]
struct Gathered {
    /// Names of all rows.
    names: HashSet<String>,
    sheet: Sheet,
    /// Number of each benchmark, by its name and family: two functions may have one name, of which the sheet tells.
    numbers: HashMap<(String, Option<u64>), usize>,
    /// Number of each benchmark's metrics.
    metrics: HashMap<(usize, String), usize>,
    failed: Vec<(String, String)>,
    aggregates: usize,
}

impl Gathered {
    fn add(&mut self, row: Row) -> Result<(), Wrong> {
        let name = row.name.clone().ok_or_else(|| Wrong::in_file("has a row without `name`"))?;
        if row.is_aggregate(&name, &self.names) {
            self.aggregates += 1;
            return Ok(());
        }
        if row.failed {
            let why = row.message.map_or_else(String::new, |message| format!(" ({message})"));
            if !self.failed.iter().any(|(failed, _)| *failed == name) {
                self.failed.push((name, why));
            }
            return Ok(());
        }
        let lacks = |what: &str| Wrong::in_file(format!("has no `{what}` for `{name}`"));
        let real = row.real_time.ok_or_else(|| lacks("real_time"))?;
        let time_unit = row.time_unit.as_deref().unwrap_or("ns");
        let unit = unit::time_ns(time_unit).ok_or_else(|| {
            Wrong::in_file(format!("has times of `{name}` in `{time_unit}`: expected ns, us, ms or s"))
        })?;
        let number = *self.numbers.entry((name.clone(), row.family)).or_insert_with(|| {
            self.sheet.judged.push(of_one_process(name.clone(), unit::of("ns/op")));
            self.sheet.judged.len() - 1
        });
        let real_ns = real * unit;
        let series = &mut self.sheet.judged[number];
        let values = &mut series.forks[0];
        values.push(real_ns);
        let count = values.len() as f64;
        // The mean so far, with this row's share.
        series.cost.innermost_s += (real_ns * 1e-9 * row.iterations.unwrap_or(1.0) - series.cost.innermost_s) / count;
        if let Some(cpu) = row.cpu_time {
            self.beside(number, "cpu_time", cpu * unit);
        }
        for (metric, value) in row.counters {
            self.beside(number, &metric, value);
        }
        Ok(())
    }

    fn beside(&mut self, number: usize, metric: &str, value: f64) {
        let Sheet { judged, beside, .. } = &mut self.sheet;
        let at = *self.metrics.entry((number, metric.to_owned())).or_insert_with(|| {
            beside.push((metric.to_owned(), of_one_process(judged[number].benchmark.clone(), unit_of(metric))));
            beside.len() - 1
        });
        beside[at].1.forks[0].push(value);
    }
}

/// A series of the only process that there is.
fn of_one_process(benchmark: String, unit: Unit) -> Series {
    Series { forks: vec![Vec::new()], ..Series::new(benchmark, unit) }
}

/// The unit of a metric beside the wall time. Counters have none, so that their name has to do.
fn unit_of(metric: &str) -> Unit {
    match metric {
        "cpu_time" => unit::of("cpu-ns/op"),
        "bytes_per_second" => unit::of("B/s"),
        "items_per_second" => unit::of("items/s"),
        counter => unit::of(counter),
    }
}

impl Row {
    /// Whether it was computed from others of these rows. Where a file does not say, an aggregate stands beside its repetitions, or beside the
    /// other aggregates of them: a function may be called `geo_mean` too.
    fn is_aggregate(&self, name: &str, names: &HashSet<String>) -> bool {
        if let Some(kind) = &self.run_type {
            return kind == "aggregate";
        }
        let Some((of, end)) = AGGREGATES.iter().find_map(|end| Some((name.strip_suffix(end)?, *end))) else {
            return false;
        };
        let others = ["_mean", "_stddev"].map(|other| names.contains(&format!("{of}{other}")));
        matches!(end, "_BigO" | "_RMS") || names.contains(of) || others == [true, true]
    }

    fn set(&mut self, key: String, value: Value) {
        match (key.as_str(), value) {
            ("name", Value::String(text)) => self.name = Some(text),
            ("run_type", Value::String(text)) => self.run_type = Some(text),
            ("time_unit", Value::String(text)) => self.time_unit = Some(text),
            ("error_message" | "skip_message", Value::String(text)) => self.message = Some(text),
            ("error_occurred" | "skipped", Value::Bool(failed)) => self.failed |= failed,
            ("family_index", Value::Number(n)) => self.family = n.as_u64(),
            ("iterations", Value::Number(n)) => self.iterations = n.as_f64(),
            ("real_time", Value::Number(n)) => self.real_time = n.as_f64(),
            ("cpu_time", Value::Number(n)) => self.cpu_time = n.as_f64(),
            (known, _) if NO_COUNTERS.contains(&known) => {}
            (_, Value::Number(n)) => self.counters.extend(n.as_f64().map(|n| (key, n))),
            _ => {}
        }
    }
}

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Row, D::Error> {
        let mut row = Row::default();
        for (key, value) in Map::deserialize(deserializer)? {
            row.set(key, value);
        }
        Ok(row)
    }
}

const FRAME: Frame =
    Frame { title: "Google Benchmark's JSON", levels: &[Level::Iteration], units: Units::Times, gaps: false };

#[derive(Serialize)]
struct OutputFile<'a> {
    context: BTreeMap<&'a str, &'a str>,
    benchmarks: Vec<OutputRow<'a>>,
}

#[derive(Serialize)]
struct OutputRow<'a> {
    name: &'a str,
    family_index: usize,
    per_family_instance_index: usize,
    run_name: &'a str,
    run_type: &'static str,
    repetitions: usize,
    repetition_index: usize,
    threads: u32,
    iterations: u64,
    real_time: f64,
    cpu_time: f64,
    time_unit: &'static str,
}

/// The recording as such a file.
fn write(recording: &Recording, about: &About) -> Result<Written, FormatError> {
    let (fitted, mut lost) = fit(recording, &FRAME)?;
    lost.push(
        "CPU times are not known: `cpu_time` repeats `real_time`, because the format's readers need one".to_owned(),
    );
    let mut context: BTreeMap<&str, &str> = about.lines.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    context.insert("date", &about.started);
    let benchmarks = fitted.iter().enumerate().flat_map(|(number, benchmark)| rows(number, benchmark)).collect();
    Written::json(&OutputFile { context, benchmarks }, lost)
}

/// A row for each value of the benchmark with this number.
fn rows<'a>(number: usize, benchmark: &'a Fitted<'a>) -> Vec<OutputRow<'a>> {
    let values = benchmark.values();
    let row = |(repetition, value): (usize, &f64)| OutputRow {
        name: benchmark.name(),
        family_index: number,
        per_family_instance_index: 0,
        run_name: benchmark.name(),
        run_type: "iteration",
        repetitions: values.len(),
        repetition_index: repetition,
        threads: 1,
        iterations: invocations(benchmark.recorded, *value),
        real_time: *value,
        cpu_time: *value,
        time_unit: "ns",
    };
    values.iter().enumerate().map(row).collect()
}
