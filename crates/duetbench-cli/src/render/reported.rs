//! Metrics that benchmarks report under units of their own, in words and for programs.

use duetbench_core::reported::{Change, ReportedMetric};
use duetbench_core::verdict::Extent;
use duetbench_core::{Report, Verdict};
use serde_json::{Value, json};

use super::format::{change_within, interval, one_line, shortened};
use super::names::Short;
use super::order::{label, rank};

/// One unit of one benchmark, ready to be aligned.
pub(super) struct Row<'a> {
    pub(super) metric: &'a ReportedMetric,
    /// Name of the benchmark, unit, the two medians, and the change with its interval.
    pub(super) cells: [String; 5],
    pub(super) verdict: String,
}

/// Everything that was read, those of which the verdict is worst first.
pub(super) fn rows(report: &Report) -> Vec<Row<'_>> {
    let mut all: Vec<&ReportedMetric> = report.reported.iter().collect();
    all.sort_by_key(|one| rank(&one.verdict));
    let names = Short::of(all.iter().map(|one| &one.id));
    all.into_iter().map(|one| row(one, &names)).collect()
}

fn row<'a>(metric: &'a ReportedMetric, names: &Short) -> Row<'a> {
    let value = |value: Option<f64>| value.map_or_else(String::new, figure);
    let changed = |c: Change| {
        format!("{} {}", change_within(c.ratio, c.ratio_low, c.ratio_high), interval(c.ratio_low, c.ratio_high))
    };
    let (name, unit) = (names.name(&metric.id), one_line(&metric.unit));
    let changed = metric.change.map_or_else(String::new, changed);
    let cells = [name, unit, value(metric.baseline), value(metric.candidate), changed];
    let why = match &metric.verdict {
        Verdict::Failed { reason, .. } => format!(": {}", shortened(&one_line(reason))),
        _ => left_out(metric),
    };
    Row { metric, cells, verdict: format!("{}{why}", word(&metric.verdict)) }
}

/// The verdict in words for people: a unit gets worse where a time gets slower.
fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Slower(Extent::WithinTolerance) => "worse, within tolerance",
        Verdict::Slower(Extent::Open { .. }) => "worse, size open",
        Verdict::Faster(Extent::WithinTolerance) => "better, within tolerance",
        Verdict::Faster(Extent::Open { .. }) => "better, size open",
        other => label(other),
    }
}

/// A remark on pairs that do not count; empty where all do.
fn left_out(metric: &ReportedMetric) -> String {
    let (left_out, all) = (metric.pairs_left_out, metric.pairs + metric.pairs_left_out);
    if left_out == 0 { String::new() } else { format!(" ({left_out} of {all} pairs left out: not reported by both)") }
}

/// A value with as many digits as say something.
pub(super) fn figure(value: f64) -> String {
    let digits = value.abs().log10().floor();
    let decimals = if digits.is_finite() { (3.0 - digits).clamp(0.0, 9.0) as usize } else { 0 };
    format!("{value:.decimals$}")
}

/// The same for programs; absent where nothing was read.
pub(super) fn json(report: &Report) -> Option<Vec<Value>> {
    (!report.reported.is_empty()).then(|| report.reported.iter().map(json_of).collect())
}

fn json_of(metric: &ReportedMetric) -> Value {
    let reason = match &metric.verdict {
        Verdict::Failed { reason, .. } => Some(reason),
        _ => None,
    };
    json!({
        "package": metric.id.package,
        "name": metric.id.name,
        "unit": metric.unit,
        "better": metric.better,
        "threshold": metric.threshold,
        "verdict": metric.verdict.word(),
        "reason": reason,
        "baseline": metric.baseline,
        "candidate": metric.candidate,
        "ratio": metric.change.map(|c| c.ratio),
        "ratio_low": metric.change.map(|c| c.ratio_low),
        "ratio_high": metric.change.map(|c| c.ratio_high),
        "pairs": metric.pairs,
        "pairs_left_out": metric.pairs_left_out,
    })
}
