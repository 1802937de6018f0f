//! pytest-benchmark's JSON (`--benchmark-json`, `.benchmarks/`): each benchmark with its times in seconds, and the statistics that
//! pytest-benchmark makes of them.

use duetbench_core::Recording;
use duetbench_core::recording::Level;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::figures::Figures;
use super::fit::{Fitted, Frame, Units, fit, seconds};
use super::{About, Written};
use crate::error::FormatError;

const FRAME: Frame =
    Frame { title: "pytest-benchmark's JSON", levels: &[Level::Iteration], units: Units::Times, gaps: false };

#[derive(Serialize)]
struct File<'a> {
    machine_info: Value,
    commit_info: Value,
    benchmarks: Vec<Entry<'a>>,
    datetime: &'a str,
    version: &'static str,
}

#[derive(Serialize)]
struct Entry<'a> {
    group: Option<()>,
    name: &'a str,
    fullname: &'a str,
    params: Option<()>,
    param: Option<()>,
    extra_info: Map<String, Value>,
    options: Map<String, Value>,
    stats: Stats,
}

/// The statistics by the names that pytest-benchmark has for them.
#[derive(Serialize)]
struct Stats {
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
pub(super) fn write(recording: &Recording, about: &About) -> Result<Written, FormatError> {
    let (fitted, lost) = fit(recording, &FRAME)?;
    let benchmarks = fitted.iter().filter_map(Entry::of).collect();
    let file = File {
        machine_info: json!({
            "node": "", "system": about.value("goos"), "machine": about.value("goarch"), "cpu": { "brand": about.value("cpu") },
        }),
        commit_info: json!({ "id": about.version, "time": null, "dirty": false, "branch": "(unknown)" }),
        benchmarks,
        datetime: &about.started,
        version: "4.0.0",
    };
    Written::json(&file, lost)
}

impl<'a> Entry<'a> {
    fn of(benchmark: &'a Fitted<'a>) -> Option<Entry<'a>> {
        let data: Vec<f64> = benchmark.values().into_iter().map(seconds).collect();
        let figures = Figures::of(&data)?;
        let name = benchmark.name().rsplit("::").next().unwrap_or(benchmark.name());
        Some(Entry {
            group: None,
            name,
            fullname: benchmark.name(),
            params: None,
            param: None,
            extra_info: Map::new(),
            options: Map::new(),
            stats: Stats::of(&figures, data),
        })
    }
}

impl Stats {
    fn of(figures: &Figures, data: Vec<f64>) -> Stats {
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
        Stats {
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
        let of = Stats::of(&Figures::of(&data).unwrap(), data);
        assert_eq!((of.min, of.max, of.mean, of.median), (1.0, 100.0, 22.0, 3.0));
        assert_eq!((of.q1, of.q3, of.iqr, of.outliers.as_str()), (2.0, 4.0, 2.0, "1;1"));
        assert_eq!((of.ld15iqr, of.hd15iqr, of.total, of.rounds), (1.0, 100.0, 110.0, 5));
    }
}
