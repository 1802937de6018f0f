//! The JSON form, written key by key; described by `schema/calibrate-v1.schema.json`. Keys are always there: what is not known is
//! `null`.

use duetbench_core::calibrate::{Calibrated, Sources};
use serde_json::{Value, json};

use crate::calibration::CalibrationReport;
use crate::render::document;
use crate::render::json::decision;

/// Version of the format; goes up when a reader of the previous one could misread the next.
const SCHEMA_VERSION: u32 = 1;

/// The calibration as JSON.
pub(super) fn json(report: &CalibrationReport) -> String {
    let (made, calibration) = (&report.made, &report.made.calibration);
    let fact = |(fact, value): (&str, &str)| json!({ "fact": fact, "value": value });
    let has_layout = calibration.has_layout();
    let shares = calibration.shares().map(
        |shares| json!({ "layout": has_layout.then_some(shares.layout), "fork": shares.fork, "slice": shares.slice }),
    );
    let failed =
        report.failed.iter().map(|(id, reason)| json!({ "package": id.package, "name": id.name, "reason": reason }));
    document::json(&json!({
        "schema_version": SCHEMA_VERSION,
        "duet_version": report.duet_version,
        "exit_code": report.exit_code(),
        "run": made.run,
        "made": made.made,
        "measured_s": report.measured_s,
        "version": report.version,
        "machine": made.machine.facts().map(fact).collect::<Vec<_>>(),
        "decision": decision(&calibration.decision),
        "budgets_s": calibration.budgets_s,
        "seen": calibration.suite_sights(),
        "alarms": calibration.alarms,
        "shares": shares,
        "blind": calibration.blind().count(),
        "benchmarks": calibration.benchmarks.iter().map(benchmark).collect::<Vec<_>>(),
        "failed": failed.collect::<Vec<_>>(),
    }))
}

/// A benchmark with its sources of variance and what it would see.
pub(super) fn benchmark(benchmark: &Calibrated) -> Value {
    json!({
        "package": benchmark.id.package,
        "name": benchmark.id.name,
        "mode": benchmark.mode.word(),
        "sources": benchmark.sources.as_ref().map(sources),
        "costs": benchmark.costs,
        "sights": benchmark.sights,
        "blind": benchmark.blind,
    })
}

fn sources(sources: &Sources) -> Value {
    json!({
        "layout": sources.layout,
        "fork": sources.fork,
        "slice": sources.slice,
        "slices": sources.slices,
        "degrees_of_freedom": sources.degrees_of_freedom,
    })
}
