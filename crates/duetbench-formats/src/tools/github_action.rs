//! The JSON that github-action-benchmark takes from tools that it does not know (`customSmallerIsBetter`, `customBiggerIsBetter`).
//!
//! A file has one direction. Values are those of [`super::bmf`].

use duetbench_core::analysis::Ranged;
use duetbench_core::detect::Located;
use duetbench_core::recording::{Better, Recorded};
use duetbench_core::verdict::RatioInterval;
use duetbench_core::{Recording, Report};
use serde::Serialize;

use super::bmf::{Timed, located, timed};
use crate::error::FormatError;
use crate::tool::{Tool, Writer};
use crate::words::named;
use crate::writing::fit::TIME;
use crate::writing::{About, Written};

/// Its entry in the table.
pub(super) static TOOL: Tool = Tool {
    name: "github-action-benchmark",
    about: "github-action-benchmark's own JSON, likewise",
    reader: None,
    writer: Some(Writer { report: Some(of_report), ..Writer::of(of_recording) }),
};

#[derive(Debug, PartialEq, Serialize)]
struct Entry {
    name: String,
    unit: String,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<String>,
}

/// Entries for the candidate of a report.
fn of_report(report: &Report) -> Result<Written, FormatError> {
    let mut lost = vec![note(Better::Lower)];
    let entries: Vec<Entry> = timed(report, &mut lost)?.into_iter().flat_map(entries).collect();
    Written::json(&entries, lost)
}

/// The time of a benchmark with what was found about it, and what it allocates.
fn entries(Timed { benchmark, ns: value, interval }: Timed<'_>) -> Vec<Entry> {
    let name = benchmark.id.to_string();
    let interval = interval.map(|RatioInterval { low, high }| [low, high]);
    let verdict = benchmark.verdict.word().replace('_', " ");
    let change = benchmark.judged().map(|Ranged { ratio, interval: RatioInterval { low, high }, .. }| {
        let percent = |ratio: f64| format!("{:+.2}%", 100.0 * (ratio - 1.0));
        format!(": {} vs base [{}, {}]", percent(ratio), percent(low), percent(high))
    });
    let extra = Some(verdict + &change.unwrap_or_default());
    let time = Entry { name: name.clone(), unit: TIME.into(), value, range: range(value, interval), extra };
    let counted = [("allocs/op", benchmark.allocs), ("B/op", benchmark.bytes)];
    let counted = counted.into_iter().filter_map(|(unit, counted)| {
        let (name, value) = (format!("{name} - {unit}"), counted?.candidate);
        Some(Entry { name, unit: unit.into(), value, range: None, extra: None })
    });
    [time].into_iter().chain(counted).collect()
}

/// Entries for a recording.
fn of_recording(recording: &Recording, _: &About) -> Result<Written, FormatError> {
    let mut lost = Vec::new();
    let higher = recording.benchmarks.iter().all(|recorded| recorded.better == Better::Higher);
    let better = if higher { Better::Higher } else { Better::Lower };
    let (kept, other) = recording.benchmarks.iter().cloned().partition(|recorded| recorded.better == better);
    let other: Vec<Recorded> = other;
    if let Some(names) = named(other.iter().map(|recorded| recorded.benchmark.as_str())) {
        lost.push(format!("left out, since a file has one direction and more of these is better: {names}"));
    }
    let kept = Recording { benchmarks: kept, ..recording.clone() };
    let entry = |(name, unit, at): (&str, &str, Located)| Entry {
        name: if unit == TIME { name.to_owned() } else { format!("{name} - {unit}") },
        unit: unit.to_owned(),
        value: at.value,
        range: range(at.value, at.interval),
        extra: None,
    };
    let entries: Vec<Entry> = located(&kept, &mut lost)?.into_iter().map(entry).collect();
    lost.push(note(better));
    Written::json(&entries, lost)
}

/// Distance from a value to the farther end of its interval.
fn range(value: f64, interval: Option<[f64; 2]>) -> Option<String> {
    interval.map(|[low, high]| format!("± {}", significant((high - value).max(value - low))))
}

/// Four significant digits.
fn significant(value: f64) -> String {
    let before_point = if value > 0.0 { value.log10().floor() + 1.0 } else { 1.0 };
    let decimals = (4.0 - before_point).clamp(0.0, 12.0) as usize;
    format!("{value:.decimals$}")
}

/// The input that the action needs to read the file, as a note.
fn note(better: Better) -> String {
    let tool = if better == Better::Higher { "customBiggerIsBetter" } else { "customSmallerIsBetter" };
    format!("github-action-benchmark reads the file with `tool: {tool}`; it holds one value for each benchmark")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_reach_to_the_farther_side() {
        assert_eq!(range(100.0, Some([97.5, 103.456])).as_deref(), Some("± 3.456"));
        assert_eq!(range(12_345.6, Some([2_345.6, 12_346.0])).as_deref(), Some("± 10000"));
        assert_eq!(range(1.0, None), None);
    }
}
