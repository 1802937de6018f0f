//! JMH's JSON (`-rf json`): an array of benchmarks, each with its raw values by fork and iteration.
//!
//! Times become `ns/op` and throughputs `ops/s`, so that files whose benchmarks were given other units can be compared. In mode
//! `sample` the value of an iteration is the mean over its histogram. Secondary metrics, as those of profilers, stand beside the score.
//!
//! Where JMH gives an error of 99.9 % of all iterations together, what is written has that of the outermost repetitions, and `"NaN"`, as JMH
//! writes it, where there are fewer than three.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use duetbench_core::Recording;
use duetbench_core::detect::{Units as Repeated, by_process};
use duetbench_core::recording::{Better, Cost, HarnessWarmUp, Level};
use duetbench_core::sample::with_parameters;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{FormatError, Wrong, wrong_json};
use crate::reading::names::unique;
use crate::reading::sheet::{PROCESSES, Series, Sheet};
use crate::reading::{Contents, unit};
use crate::tool::{More, Reader, Sign, Tool, Writer};
use crate::words::{listed, plain};
use crate::writing::figures::Figures;
use crate::writing::fit::{Fitted, Frame, Units, fit};
use crate::writing::{About, Written};

/// Its entry in the table.
pub(super) static TOOL: Tool = Tool {
    name: "jmh",
    about: "JMH's JSON",
    reader: Some(Reader {
        more: Some(More::Once { command: "java -jar benchmarks.jar -f 5 -rf json -rff base.json", ending: ".json" }),
        ..Reader::of("JSON of JMH (`-rf json`)", Sign::Array(&["jmhVersion", "benchmark", "primaryMetric"]), parse)
    }),
    writer: Some(Writer::of(write)),
};

/// One benchmark with one set of parameters, as JMH writes it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    benchmark: String,
    mode: String,
    threads: Option<u64>,
    forks: Option<u64>,
    warmup_iterations: Option<u32>,
    warmup_time: Option<String>,
    warmup_batch_size: Option<u32>,
    measurement_time: Option<String>,
    measurement_batch_size: Option<u32>,
    params: Option<BTreeMap<String, String>>,
    primary_metric: Metric,
    secondary_metrics: Option<BTreeMap<String, Metric>>,
    jmh_version: Option<String>,
    jdk_version: Option<String>,
    vm_name: Option<String>,
    vm_version: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metric {
    #[serde(default)]
    score_unit: String,
    raw_data: Option<Vec<Vec<Number>>>,
    raw_data_histogram: Option<Vec<Vec<Histogram>>>,
}

/// Values with the number of times that each was seen.
type Histogram = Vec<(Number, Number)>;

/// A number, or the words that JMH writes for what is none.
#[derive(Debug, Clone, Copy)]
struct Number(f64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Number;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<Number, E> {
                Ok(Number(value))
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Number, E> {
                Ok(Number(value as f64))
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Number, E> {
                Ok(Number(value as f64))
            }
            fn visit_str<E: Error>(self, value: &str) -> Result<Number, E> {
                let words = ["NaN", "+INF", "INF", "-INF", "Infinity", "-Infinity"];
                if words.contains(&value) {
                    Ok(Number(f64::NAN))
                } else {
                    Err(E::custom(format!("`{value}` is no number")))
                }
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

/// Reads such a file.
fn parse(bytes: &[u8]) -> Result<Contents, Wrong> {
    let entries: Vec<Entry> = serde_json::from_slice(bytes).map_err(|e| wrong_json(&e))?;
    let mut sheet = Sheet::default();
    let (mut fewer_forks, mut without_values) = (Vec::new(), BTreeSet::new());
    for (entry, name) in entries.iter().zip(unique(&entries, &SPELLINGS)?) {
        let what = || Wrong::in_file(format!("has no `rawData` for `{name}`"));
        let mut series = Series::new(name.clone(), unit::of(&entry.primary_metric.score_unit));
        series.forks = entry.primary_metric.iterations().ok_or_else(what)?;
        if entry.forks.is_some_and(|asked| asked > series.forks.len() as u64) {
            fewer_forks.push(name.clone());
        }
        let single_s = typical_s(series.mean() * series.unit.factor, series.unit.better);
        let harness_warm_up = entry.warm_up(single_s);
        series.cost = entry.cost(single_s, harness_warm_up.time_s());
        series.harness_warm_up = Some(harness_warm_up);
        series.terms = vec![("mode", entry.mode.clone())];
        series.terms.extend(entry.threads.map(|threads| ("number of threads", threads.to_string())));
        // A single shot is as long as its batch.
        let batch = entry.measurement_batch_size.filter(|_| entry.mode == "ss");
        series.terms.extend(batch.map(|size| ("batch size", size.to_string())));
        sheet.judged.push(series);
        for (metric, values) in entry.secondary_metrics.iter().flatten() {
            let Some(forks) = values.iterations() else {
                without_values.insert(metric.clone());
                continue;
            };
            let beside = Series { forks, ..Series::new(name.clone(), unit::of(&values.score_unit)) };
            sheet.beside.push((metric.clone(), beside));
        }
    }
    let without_values = without_values.into_iter().map(plain);
    sheet.warnings.extend(listed(without_values, "secondary metrics without `rawData` were left out"));
    sheet.warnings.extend(listed(fewer_forks.into_iter().map(plain), "has fewer forks than were asked for"));
    sheet.context = entries.first().map_or_else(Vec::new, Entry::context);
    sheet.contents(&PROCESSES)
}

impl Metric {
    /// One value for every iteration, by fork.
    fn iterations(&self) -> Option<Vec<Vec<f64>>> {
        let single = |forks: &Vec<Vec<Number>>| forks.iter().map(|fork| fork.iter().map(|n| n.0).collect()).collect();
        let mean = |histogram: &Histogram| {
            let count: f64 = histogram.iter().map(|(_, count)| count.0).sum();
            histogram.iter().map(|(value, count)| value.0 * count.0).sum::<f64>() / count
        };
        let histograms =
            |forks: &Vec<Vec<Histogram>>| forks.iter().map(|fork| fork.iter().map(mean).collect()).collect();
        self.raw_data_histogram.as_ref().map(histograms).or_else(|| self.raw_data.as_ref().map(single))
    }
}

impl Entry {
    /// On what it ran; all benchmarks of a file ran on the same.
    fn context(&self) -> Vec<(String, String)> {
        let all = [
            ("jmhVersion", &self.jmh_version),
            ("jdkVersion", &self.jdk_version),
            ("vmName", &self.vm_name),
            ("vmVersion", &self.vm_version),
        ];
        all.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value.clone()?))).collect()
    }

    /// Time of an iteration, and of a fork before its first. Single shots take as long as they measure, which is a batch: `single_s`.
    fn cost(&self, single_s: f64, warm_up_s: f64) -> Cost {
        let innermost_s = length_s(self.measurement_time.as_deref(), single_s);
        Cost { innermost_s, overhead_s: vec![warm_up_s, 0.0] }
    }

    /// Warm-up that ran before the first value.
    fn warm_up(&self, single_s: f64) -> HarnessWarmUp {
        let invocations = |batch: Option<u32>| f64::from(batch.unwrap_or(1).max(1));
        let batch_s = single_s / invocations(self.measurement_batch_size) * invocations(self.warmup_batch_size);
        HarnessWarmUp {
            iterations: self.warmup_iterations.unwrap_or(0),
            iteration_s: length_s(self.warmup_time.as_deref(), batch_s),
            ran: true,
        }
    }

    /// Its name with its parameters, as JMH prints them.
    fn name(&self) -> String {
        with_parameters(&self.benchmark, self.params.iter().flatten())
    }
}

/// Length of an iteration: as configured, or as long as its single shots take.
fn length_s(span: Option<&str>, single_s: f64) -> f64 {
    span.and_then(unit::span_s).unwrap_or(single_s)
}

/// Seconds of one operation, from the mean of the values.
fn typical_s(mean: f64, better: Better) -> f64 {
    match better {
        Better::Lower => mean * 1e-9,
        Better::Higher if mean > 0.0 => 1.0 / mean,
        Better::Higher => 0.0,
    }
}

/// Names of an entry; mode and threads are part of one only where it would not be unique without.
const SPELLINGS: [fn(&Entry) -> String; 3] = [
    Entry::name,
    |entry| format!("{} ({})", entry.name(), entry.mode),
    |entry| format!("{} ({}, {} threads)", entry.name(), entry.mode, entry.threads.unwrap_or(1)),
];

const FRAME: Frame =
    Frame { title: "JMH's JSON", levels: &[Level::Fork, Level::Iteration], units: Units::One, gaps: true };
/// Error of JMH's intervals.
const ALPHA: f64 = 0.001;
/// Shares whose percentiles JMH gives.
const PERCENTILES: [&str; 10] = ["0.0", "50.0", "90.0", "95.0", "99.0", "99.9", "99.99", "99.999", "99.9999", "100.0"];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OutputEntry<'a> {
    benchmark: &'a str,
    mode: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<u64>,
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

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() { serializer.serialize_f64(self.0) } else { serializer.serialize_str("NaN") }
    }
}

/// The recording as such a file.
fn write(recording: &Recording, _: &About) -> Result<Written, FormatError> {
    let (fitted, lost) = fit(recording, &FRAME)?;
    let entries: Vec<OutputEntry<'_>> = fitted.iter().map(|benchmark| OutputEntry::of(benchmark, recording)).collect();
    Written::json(&entries, lost)
}

impl<'a> OutputEntry<'a> {
    fn of(benchmark: &'a Fitted<'a>, recording: &Recording) -> OutputEntry<'a> {
        let recorded = benchmark.recorded;
        let (name, params) = parameters(benchmark.name());
        let term = |wanted| recorded.terms.iter().find(|(term, _)| *term == wanted).map(|(_, value)| value.as_str());
        let warm_up = recorded.harness_warm_up.filter(|warm_up| warm_up.ran);
        OutputEntry {
            benchmark: name,
            mode: term("mode").unwrap_or(if recorded.better == Better::Higher { "thrpt" } else { "avgt" }),
            threads: term("number of threads").and_then(|threads| threads.parse().ok()),
            forks: benchmark.shape[0],
            warmup_iterations: warm_up.map_or(0, |warm_up| warm_up.iterations),
            warmup_time: span(warm_up.map_or(0.0, |warm_up| warm_up.iteration_s)),
            warmup_batch_size: 1,
            measurement_iterations: benchmark.shape[1],
            measurement_time: span(recorded.cost.innermost_s),
            measurement_batch_size: term("batch size").and_then(|size| size.parse().ok()).unwrap_or(1),
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
            score: Number(figures.as_ref().map_or(f64::NAN, |figures| figures.mean)),
            score_error: Number((interval[1] - interval[0]) / 2.0),
            score_confidence: interval.map(Number),
            score_percentiles: PERCENTILES.into_iter().map(|text| (text, Number(at(text)))).collect(),
            score_unit: &benchmark.recorded.unit,
            raw_data: benchmark.groups().map(|fork| fork.iter().map(|v| Number(*v)).collect()).collect(),
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
