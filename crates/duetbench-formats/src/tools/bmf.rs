//! Bencher Metric Format (<https://bencher.dev/docs/reference/bencher-metric-format/>): for each benchmark its measures, each a value with
//! what it may as well be.
//!
//! A comparison is written as its candidate: its time as the report shows it, with the interval of the change of wall time laid around it;
//! the ratio that its verdict rests on with its interval, for thresholds that shall not depend on the machine; and its allocations. A
//! recording is written as the geometric mean of the outermost repetitions, with Student's t interval of their logarithms at 99 %.

use std::collections::BTreeMap;

use duetbench_core::analysis::Ranged;
use duetbench_core::detect::{Located, Units, by_process};
use duetbench_core::report::BenchmarkReport;
use duetbench_core::spec::defaults;
use duetbench_core::verdict::RatioInterval;
use duetbench_core::{Recording, Report, Verdict};
use serde::Serialize;

use crate::error::FormatError;
use crate::tool::{Tool, Writer};
use crate::words::named;
use crate::writing::fit::{TIME, left_out, plain};
use crate::writing::{About, Written};

/// Its entry in the table.
pub(super) static TOOL: Tool = Tool {
    name: "bmf",
    about: "Bencher Metric Format: one value for each benchmark, with an interval",
    reader: None,
    writer: Some(Writer { report: Some(of_report), ..Writer::of(of_recording) }),
};

/// A measure of a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Measure {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

type Measures = BTreeMap<String, Measure>;

/// Measures of the candidate in a report.
fn of_report(report: &Report) -> Result<Written, FormatError> {
    let mut lost = vec!["Bencher Metric Format holds one value for each measure, and no verdicts".to_owned()];
    let of = |timed: Timed<'_>| (timed.benchmark.id.to_string(), measures(&timed));
    let all: BTreeMap<String, Measures> = timed(report, &mut lost)?.into_iter().map(of).collect();
    Written::json(&all, lost)
}

/// A benchmark of a report whose candidate was measured.
pub(super) struct Timed<'a> {
    pub(super) benchmark: &'a BenchmarkReport,
    /// Time per invocation of its candidate, nanoseconds, with its interval where it has one.
    pub(super) ns: f64,
    pub(super) interval: Option<RatioInterval>,
}

/// The benchmarks of a report whose candidate was measured; the others are named.
pub(super) fn timed<'a>(report: &'a Report, lost: &mut Vec<String>) -> Result<Vec<Timed<'a>>, FormatError> {
    let (mut timed, mut without) = (Vec::new(), Vec::new());
    for benchmark in &report.benchmarks {
        // The processes that survived would pass for the time of a benchmark that failed.
        let measured = !matches!(benchmark.verdict, Verdict::Failed { .. });
        match benchmark.candidate_within().filter(|_| measured) {
            Some((ns, interval)) => timed.push(Timed { benchmark, ns, interval }),
            None => without.push(benchmark.id.name.as_str()),
        }
    }
    lost.extend(named(without).map(|names| format!("left out, since it failed or was not measured: {names}")));
    if timed.is_empty() { Err(FormatError::nothing("no benchmark of the run has a time")) } else { Ok(timed) }
}

fn measures(&Timed { benchmark, ns, interval }: &Timed<'_>) -> Measures {
    let mut measures = Measures::new();
    measures.insert("latency".into(), interval.map_or(Measure::alone(ns), |i| Measure::with(ns, [i.low, i.high])));
    if let Some(Ranged { ratio, interval: RatioInterval { low, high }, .. }) = benchmark.judged() {
        measures.insert("ratio".into(), Measure::with(ratio, [low, high]));
    }
    for (name, counted) in [("allocations", benchmark.allocs), ("allocated-bytes", benchmark.bytes)] {
        measures.extend(counted.map(|counted| (name.to_owned(), Measure::alone(counted.candidate))));
    }
    measures
}

/// Measures of a recording.
fn of_recording(recording: &Recording, _: &About) -> Result<Written, FormatError> {
    let mut lost = vec!["Bencher Metric Format holds one value for each measure".to_owned()];
    let mut all: BTreeMap<&str, Measures> = BTreeMap::new();
    let mut nameless = Vec::new();
    for (name, unit, located) in located(recording, &mut lost)? {
        let measure = located.interval.map_or(Measure::alone(located.value), |i| Measure::with(located.value, i));
        let measures = all.entry(name).or_default();
        match slug(unit) {
            slug if slug.is_empty() || measures.contains_key(&slug) => nameless.push(unit),
            slug => _ = measures.insert(slug, measure),
        }
    }
    lost.extend(named(nameless).map(|units| format!("left out, since their units make no name of their own: {units}")));
    Written::json(&all, lost)
}

/// Where the values of each benchmark lie; without what has no positive value, which is named, as is what has no interval.
pub(super) fn located<'a>(
    recording: &'a Recording,
    lost: &mut Vec<String>,
) -> Result<Vec<(&'a str, &'a str, Located)>, FormatError> {
    let single = by_process(recording);
    let (mut found, mut without) = (Vec::new(), Vec::new());
    for (recorded, shown) in single.benchmarks.iter().zip(&recording.benchmarks) {
        let located = Units::of(recorded, &single.levels).ok().and_then(|u| u.located(defaults::ALPHA).ok());
        match located {
            Some(located) => {
                let Located { value, interval, units } = located;
                let located = Located { value: plain(value), interval: interval.map(|ends| ends.map(plain)), units };
                found.push((shown.benchmark.as_str(), shown.unit.as_str(), located));
            }
            None => without.push(shown),
        }
    }
    let few = found.iter().filter(|(_, _, located)| located.interval.is_none()).map(|(name, _, _)| *name);
    lost.extend(
        named(few)
            .map(|names| format!("without an interval, since there are fewer than 3 processes or suite runs: {names}")),
    );
    lost.extend(left_out(&without).map(|names| format!("left out, since it has no positive value: {names}")));
    if found.is_empty() { Err(FormatError::nothing("no benchmark has a positive value")) } else { Ok(found) }
}

impl Measure {
    fn alone(value: f64) -> Measure {
        Measure { value, lower_value: None, upper_value: None }
    }

    fn with(value: f64, [low, high]: [f64; 2]) -> Measure {
        Measure { value, lower_value: Some(low), upper_value: Some(high) }
    }
}

/// Bencher's own names for the measures that it has by itself, and for others the unit as such a name.
fn slug(unit: &str) -> String {
    match unit {
        TIME => "latency".into(),
        "ops/s" => "throughput".into(),
        "allocs/op" => "allocations".into(),
        "B/op" => "allocated-bytes".into(),
        _ => {
            let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
            unit.chars().map(word).collect::<String>().trim_matches('-').to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_become_names_of_measures() {
        let check = |unit: &str, want: &str| assert_eq!(slug(unit), want);
        check("ns/op", "latency");
        check("ops/s", "throughput");
        check("Hits per op!", "hits-per-op");
    }
}
