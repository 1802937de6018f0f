//! pytest-benchmark's JSON (`--benchmark-json`, `--benchmark-save` with `--benchmark-save-data`): the rounds of every benchmark in seconds, all of
//! one process, and the statistics that pytest-benchmark makes of them. A round's value is its time by its iterations.

use duetbench_core::Recording;
use duetbench_core::recording::Level;
use serde::Deserialize;
use serde_json::{Value, json};

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
    machine_info: Value,
    #[serde(default)]
    commit_info: Value,
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

/// The recording as such a file.
fn write(recording: &Recording, about: &About) -> Result<Written, FormatError> {
    let (fitted, lost) = fit(recording, &FRAME)?;
    let benchmarks: Vec<Value> = fitted.iter().filter_map(written).collect();
    let file = json!({
        "machine_info": {
            "cpu": { "brand": about.value("cpu") }, "machine": about.value("goarch"), "node": "", "system": about.value("goos"),
        },
        "commit_info": { "branch": "(unknown)", "dirty": false, "id": about.version, "time": null },
        "benchmarks": benchmarks,
        "datetime": about.started,
        "version": "4.0.0",
    });
    Written::json(&file, lost)
}

/// A benchmark with its rounds; absent without any.
fn written(benchmark: &Fitted<'_>) -> Option<Value> {
    let data: Vec<f64> = benchmark.values().into_iter().map(seconds).collect();
    let stats = statistics(&Figures::of(&data)?, &data);
    let name = benchmark.name().rsplit("::").next().unwrap_or(benchmark.name());
    Some(json!({
        "group": null,
        "name": name,
        "fullname": benchmark.name(),
        "params": null,
        "param": null,
        "extra_info": {},
        "options": {},
        "stats": stats,
    }))
}

/// The statistics by the names that pytest-benchmark has for them.
fn statistics(figures: &Figures, data: &[f64]) -> Value {
    // pytest-benchmark writes 0 for a single value too.
    let sd = figures.sd.unwrap_or(0.0);
    let (q1, q3) = (figures.quantile(0.25), figures.quantile(0.75));
    let iqr = q3 - q1;
    let (low, high) = (q1 - 1.5 * iqr, q3 + 1.5 * iqr);
    let outside = |low: f64, high: f64| data.iter().filter(|v| **v < low || **v > high).count();
    let stddev_outliers = outside(figures.mean - sd, figures.mean + sd);
    let iqr_outliers = outside(low, high);
    json!({
        "min": figures.min(),
        "max": figures.max(),
        "mean": figures.mean,
        "stddev": sd,
        "rounds": figures.count(),
        "median": figures.quantile(0.5),
        "iqr": iqr,
        "q1": q1,
        "q3": q3,
        "iqr_outliers": iqr_outliers,
        "stddev_outliers": stddev_outliers,
        "outliers": format!("{stddev_outliers};{iqr_outliers}"),
        "ld15iqr": data.iter().copied().filter(|v| *v >= low).fold(f64::INFINITY, f64::min),
        "hd15iqr": figures.ascending.iter().copied().find(|v| *v > high).unwrap_or(figures.max()),
        "ops": if figures.mean > 0.0 { 1.0 / figures.mean } else { 0.0 },
        "total": data.iter().sum::<f64>(),
        "data": data,
        "iterations": 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_those_of_pytest_benchmark() {
        let data = vec![1.0, 2.0, 3.0, 4.0, 100.0];
        let of = statistics(&Figures::of(&data).unwrap(), &data);
        let known = json!({
            "min": 1.0, "max": 100.0, "mean": 22.0, "median": 3.0, "q1": 2.0, "q3": 4.0, "iqr": 2.0, "outliers": "1;1",
            "ld15iqr": 1.0, "hd15iqr": 100.0, "total": 110.0, "rounds": 5,
        });
        for (name, value) in known.as_object().unwrap() {
            assert_eq!(&of[name], value, "{name}");
        }
    }
}
