//! A run of one version as JSON, written key by key, so that a change inside the tool cannot change the format by accident.
//!
//! Keys are always there: a value that is not known, or that is not finite, is `null`.

use duetbench_core::SoloReport;
use duetbench_core::plan::Repetitions;
use duetbench_core::solo_report::SoloResult;
use serde_json::{Value, json};

use super::document;

/// Version of the format; goes up when a reader of the previous one could misread the next.
const SCHEMA_VERSION: u32 = 1;

/// The report as JSON.
pub fn render(report: &SoloReport) -> String {
    let environment = &report.environment;
    let planned = |result: &SoloResult| report.plan.benchmarks.iter().find(|b| b.id == result.id);
    let benchmark = |result| benchmark(result, planned(result).map(|b| b.repetitions));
    document::json(&json!({
        "schema_version": SCHEMA_VERSION,
        "kind": "run",
        "duet_version": environment.duet_version,
        "run": report.run,
        "started": report.started,
        "complete": report.complete,
        "measured_s": report.measured_s,
        "seed": report.plan.seed,
        "version": report.version,
        "benchmarks": report.benchmarks.iter().map(benchmark).collect::<Vec<_>>(),
        "warnings": report.warnings,
        "environment": document::without(json!(environment), &["smt", "duet_version"]),
    }))
}

fn benchmark(result: &SoloResult, planned: Option<Repetitions>) -> Value {
    let summary = result.summary.as_ref();
    json!({
        "package": result.id.package,
        "name": result.id.name,
        "planned": planned.map(repetitions),
        "median_ns": summary.map(|s| s.median_ns),
        "sd_between": summary.and_then(|s| s.sd_between),
        "sd_within": summary.and_then(|s| s.sd_within),
        "cv": summary.and_then(|s| s.cv),
        "bytes_per_op": summary.and_then(|s| s.bytes_per_op),
        "allocs_per_op": summary.and_then(|s| s.allocs_per_op),
        "failures": result.failures,
        "forks": result.forks,
    })
}

/// Repetitions that a plan has.
pub(super) fn repetitions(planned: Repetitions) -> Value {
    json!({
        "suite_runs": planned.suite_runs,
        "forks": planned.forks,
        "iterations": planned.iterations,
        "warmup": planned.warmup,
        "iteration_s": planned.iteration_ns as f64 * 1e-9,
    })
}
