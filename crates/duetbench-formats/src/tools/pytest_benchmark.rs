//! pytest-benchmark's JSON (`--benchmark-json`, `--benchmark-save` with `--benchmark-save-data`): the rounds of every benchmark in seconds, all of
//! one process, and the statistics that pytest-benchmark makes of them. A round's value is its time by its iterations.

use duetbench_core::Recording;
use duetbench_core::recording::Level;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::error::{FormatError, Wrong, wrong_json};
use crate::reading::keys::Known;
use crate::reading::sheet::{ONE_PROCESS, Series, Sheet};
use crate::reading::{Contents, flattened, unit};
use crate::tool::{More, Reader, Sign, Tool, Writer};
use crate::writing::figures::Figures;
use crate::writing::fit::{Fitted, Frame, Units, fit, seconds};
use crate::writing::{About, Written};

/// Its entry in the table.
pub(super) static TOOL: Tool = Tool {
    name: "pytest-benchmark",
    about: "pytest-benchmark's JSON",
    reader: Some(Reader {
        more: Some(More::Runs { command: "pytest --benchmark-only --benchmark-json=base$i.json", ending: ".json" }),
        ..Reader::of(
            "JSON of pytest-benchmark",
            Sign::Keys(Known {
                of_file: &["machine_info", "commit_info", "datetime"],
                of_benchmark: &["stats", "fullname"],
            }),
            parse,
        )
    }),
    writer: Some(Writer::of(write)),
};

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    machine_info: serde_json::Value,
    #[serde(default)]
    commit_info: serde_json::Value,
    datetime: Option<String>,
    benchmarks: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    fullname: String,
    stats: Stats,
}

#[derive(Deserialize)]
struct Stats {
    data: Option<Vec<f64>>,
    /// Iterations of each round.
    iterations: Option<f64>,
}

/// Reads such a file.
fn parse(bytes: &[u8]) -> Result<Contents, Wrong> {
    let file: File = serde_json::from_slice(bytes).map_err(|e| wrong_json(&e))?;
    let mut sheet = Sheet::default();
    for Entry { fullname, stats } in file.benchmarks {
        let data = stats.data.ok_or_else(|| {
            let what = format!("has no `data` for `{fullname}`: save with `--benchmark-save-data`");
            Wrong::in_file(what)
        })?;
        let mut series = Series::new(fullname, unit::of("s/op"));
        series.forks = vec![data];
        series.cost.innermost_s = series.mean() * stats.iterations.unwrap_or(1.0);
        sheet.judged.push(series);
    }
    sheet.context = file.datetime.into_iter().map(|day| ("datetime".to_owned(), day)).collect();
    sheet.context.extend(flattened(&file.machine_info));
    sheet.context.extend(flattened(&file.commit_info).into_iter().map(|(key, value)| (format!("commit.{key}"), value)));
    sheet.contents(&ONE_PROCESS)
}

const FRAME: Frame =
    Frame { title: "pytest-benchmark's JSON", levels: &[Level::Iteration], units: Units::Times, gaps: false };

#[derive(Serialize)]
struct OutputFile<'a> {
    machine_info: Value,
    commit_info: Value,
    benchmarks: Vec<OutputEntry<'a>>,
    datetime: &'a str,
    version: &'static str,
}

#[derive(Serialize)]
struct OutputEntry<'a> {
    group: Option<()>,
    name: &'a str,
    fullname: &'a str,
    params: Option<()>,
    param: Option<()>,
    extra_info: Map<String, Value>,
    options: Map<String, Value>,
    stats: OutputStats,
}

/// The statistics by the names that pytest-benchmark has for them.
#[derive(Serialize)]
struct OutputStats {
    min: f64,
    max: f64,
    mean: f64,
    stddev: f64,
    rounds: usize,
    median: f64,
    iqr: f64,
    q1: f64,
    q3: f64,
    iqr_outliers: usize,
    stddev_outliers: usize,
    outliers: String,
    ld15iqr: f64,
    hd15iqr: f64,
    ops: f64,
    total: f64,
    data: Vec<f64>,
    iterations: u32,
}

/// The recording as such a file.
fn write(recording: &Recording, about: &About) -> Result<Written, FormatError> {
    let (fitted, lost) = fit(recording, &FRAME)?;
    let benchmarks = fitted.iter().filter_map(OutputEntry::of).collect();
    let file = OutputFile {
        machine_info: json!({
            "cpu": { "brand": about.value("cpu") }, "machine": about.value("goarch"), "node": "", "system": about.value("goos"),
        }),
        commit_info: json!({ "branch": "(unknown)", "dirty": false, "id": about.version, "time": null }),
        benchmarks,
        datetime: &about.started,
        version: "4.0.0",
    };
    Written::json(&file, lost)
}

impl<'a> OutputEntry<'a> {
    fn of(benchmark: &'a Fitted<'a>) -> Option<OutputEntry<'a>> {
        let data: Vec<f64> = benchmark.values().into_iter().map(seconds).collect();
        let figures = Figures::of(&data)?;
        let name = benchmark.name().rsplit("::").next().unwrap_or(benchmark.name());
        Some(OutputEntry {
            group: None,
            name,
            fullname: benchmark.name(),
            params: None,
            param: None,
            extra_info: Map::new(),
            options: Map::new(),
            stats: OutputStats::of(&figures, data),
        })
    }
}

impl OutputStats {
    fn of(figures: &Figures, data: Vec<f64>) -> OutputStats {
        // pytest-benchmark writes 0 for a single value too.
        let sd = figures.sd.unwrap_or(0.0);
        let (q1, q3) = (figures.quantile(0.25), figures.quantile(0.75));
        let iqr = q3 - q1;
        let (low, high) = (q1 - 1.5 * iqr, q3 + 1.5 * iqr);
        let outside = |low: f64, high: f64| data.iter().filter(|v| **v < low || **v > high).count();
        let stddev_outliers = outside(figures.mean - sd, figures.mean + sd);
        let iqr_outliers = outside(low, high);
        let first_inside = data.iter().copied().filter(|v| *v >= low).fold(f64::INFINITY, f64::min);
        let last_inside = figures.ascending.iter().copied().find(|v| *v > high).unwrap_or(figures.max());
        OutputStats {
            min: figures.min(),
            max: figures.max(),
            mean: figures.mean,
            stddev: sd,
            rounds: figures.count(),
            median: figures.quantile(0.5),
            iqr,
            q1,
            q3,
            iqr_outliers,
            stddev_outliers,
            outliers: format!("{stddev_outliers};{iqr_outliers}"),
            ld15iqr: first_inside,
            hd15iqr: last_inside,
            ops: if figures.mean > 0.0 { 1.0 / figures.mean } else { 0.0 },
            total: data.iter().sum(),
            data,
            iterations: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_those_of_pytest_benchmark() {
        let data = vec![1.0, 2.0, 3.0, 4.0, 100.0];
        let of = OutputStats::of(&Figures::of(&data).unwrap(), data);
        assert_eq!((of.min, of.max, of.mean, of.median), (1.0, 100.0, 22.0, 3.0));
        assert_eq!((of.q1, of.q3, of.iqr, of.outliers.as_str()), (2.0, 4.0, 2.0, "1;1"));
        assert_eq!((of.ld15iqr, of.hd15iqr, of.total, of.rounds), (1.0, 100.0, 110.0, 5));
    }
}
