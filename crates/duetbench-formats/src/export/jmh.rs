//! JMH's JSON (`-rf json`): an array of benchmarks, each with its raw values by fork and iteration.
//!
//! Where JMH gives an error of 99.9 % of all iterations together, it is given here of the outermost repetitions, and `"NaN"`, as JMH writes it,
//! where there are fewer than three.

use std::collections::BTreeMap;

use duetbench_core::Recording;
use duetbench_core::detect::{Units as Repeated, by_process};
use duetbench_core::recording::{Better, Level};
use duetbench_core::sample::with_parameters;
use serde::Serialize;

use super::Written;
use super::figures::Figures;
use super::fit::{Fitted, Frame, Units, fit};
use crate::error::FormatError;

const FRAME: Frame =
    Frame { title: "JMH's JSON", levels: &[Level::Fork, Level::Iteration], units: Units::One, gaps: true };
/// Error of JMH's intervals.
const ALPHA: f64 = 0.001;
/// Shares whose percentiles JMH gives.
const PERCENTILES: [&str; 10] = ["0.0", "50.0", "90.0", "95.0", "99.0", "99.9", "99.99", "99.999", "99.9999", "100.0"];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    benchmark: &'a str,
    mode: &'static str,
    forks: usize,
    warmup_iterations: u32,
    warmup_time: String,
    warmup_batch_size: u32,
    measurement_iterations: usize,
    measurement_time: String,
    measurement_batch_size: u32,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    params: BTreeMap<String, String>,
    primary_metric: Primary<'a>,
    secondary_metrics: BTreeMap<String, ()>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Primary<'a> {
    score: Number,
    score_error: Number,
    score_confidence: [Number; 2],
    score_percentiles: BTreeMap<&'static str, Number>,
    score_unit: &'a str,
    raw_data: Vec<Vec<Number>>,
}

/// A number, or JMH's word for what is none.
#[derive(Serialize)]
#[serde(untagged)]
enum Number {
    Known(f64),
    Unknown(&'static str),
}

impl Number {
    fn of(value: f64) -> Number {
        if value.is_finite() { Number::Known(value) } else { Number::Unknown("NaN") }
    }
}

/// The recording as such a file.
pub(super) fn write(recording: &Recording) -> Result<Written, FormatError> {
    let (fitted, lost) = fit(recording, &FRAME)?;
    let entries: Vec<Entry<'_>> = fitted.iter().map(|benchmark| Entry::of(benchmark, recording)).collect();
    Written::json(&entries, lost)
}

impl<'a> Entry<'a> {
    fn of(benchmark: &'a Fitted<'a>, recording: &Recording) -> Entry<'a> {
        let recorded = benchmark.recorded;
        let (name, params) = parameters(benchmark.name());
        let warm_up = recorded.harness_warm_up.filter(|warm_up| warm_up.ran);
        Entry {
            benchmark: name,
            mode: if recorded.better == Better::Higher { "thrpt" } else { "avgt" },
            forks: benchmark.shape[0],
            warmup_iterations: warm_up.map_or(0, |warm_up| warm_up.iterations),
            warmup_time: span(warm_up.map_or(0.0, |warm_up| warm_up.iteration_s)),
            warmup_batch_size: 1,
            measurement_iterations: benchmark.shape[1],
            measurement_time: span(recorded.cost.innermost_s),
            measurement_batch_size: 1,
            params,
            primary_metric: Primary::of(benchmark, recording),
            secondary_metrics: BTreeMap::new(),
        }
    }
}

impl<'a> Primary<'a> {
    fn of(benchmark: &'a Fitted<'a>, recording: &Recording) -> Primary<'a> {
        let figures = Figures::of(&benchmark.values());
        let interval = interval(benchmark, recording).unwrap_or([f64::NAN; 2]);
        let at = |text: &str| {
            let share = text.parse::<f64>().unwrap_or(f64::NAN) / 100.0;
            figures.as_ref().map_or(f64::NAN, |figures| figures.quantile(share))
        };
        Primary {
            score: Number::of(figures.as_ref().map_or(f64::NAN, |figures| figures.mean)),
            score_error: Number::of((interval[1] - interval[0]) / 2.0),
            score_confidence: interval.map(Number::of),
            score_percentiles: PERCENTILES.into_iter().map(|text| (text, Number::of(at(text)))).collect(),
            score_unit: &benchmark.recorded.unit,
            raw_data: benchmark.groups().map(|fork| fork.iter().map(|v| Number::of(*v)).collect()).collect(),
        }
    }
}

/// The interval of the outermost repetitions, where there are enough of them.
fn interval(benchmark: &Fitted<'_>, recording: &Recording) -> Option<[f64; 2]> {
    let benchmarks = vec![benchmark.recorded.clone()];
    let (name, levels) = (String::new(), recording.levels.clone());
    let single = by_process(&Recording { name, levels, benchmarks, warnings: Vec::new() });
    Repeated::of(single.benchmarks.first()?, &single.levels).ok()?.located(ALPHA).ok()?.interval
}

/// A span as JMH writes it.
fn span(seconds: f64) -> String {
    format!("{seconds} s")
}

/// A name without its parameters, and these, where putting them together again gives the same name.
fn parameters(full: &str) -> (&str, BTreeMap<String, String>) {
    let split = full.split_once(':').and_then(|(name, rest)| {
        let pairs = rest.split(',').map(|pair| pair.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned())));
        Some((name, pairs.collect::<Option<BTreeMap<String, String>>>()?))
    });
    split.filter(|(name, params)| with_parameters(name, params) == full).unwrap_or((full, BTreeMap::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_split_off_only_where_they_come_back() {
        let check = |full: &str, name: &str, count: usize| {
            let (found, params) = parameters(full);
            assert_eq!((found, params.len()), (name, count), "{full}");
        };
        check("p.C.m:kind=a,size=10", "p.C.m", 2);
        check("p.C.m:size=10,kind=a", "p.C.m:size=10,kind=a", 0);
        check("p.C.m:x", "p.C.m:x", 0);
        check("p.C.m:a=1,a=2", "p.C.m:a=1,a=2", 0);
        check("p.C.m (avgt)", "p.C.m (avgt)", 0);
    }
}
