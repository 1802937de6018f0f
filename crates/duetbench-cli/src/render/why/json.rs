//! The JSON format, described by `schema/why-v1.schema.json`. Its parts are those of the report's format; keys are always there: a value that
//! is not known is `null`.

use duetbench_core::Report;
use duetbench_core::instructions::LayoutPart;
use duetbench_core::report::BenchmarkReport;
use serde_json::json;

use super::{breaches, layout};
use crate::render::sarif::Site;
use crate::render::{document, gate, instructions, json, profile};

/// Version of the format; goes up when a reader of the previous one could misread the next.
const SCHEMA_VERSION: u32 = 1;

/// All that is known of one benchmark, as JSON.
pub(super) fn json(report: &Report, benchmark: &BenchmarkReport, site: Option<&Site>) -> String {
    document::json(&json!({
        "schema_version": SCHEMA_VERSION,
        "duet_version": report.environment.duet_version,
        "run": report.run,
        "versions": { "baseline": report.baseline, "candidate": report.candidate },
        "benchmark": json::benchmark(benchmark),
        "breaches": breaches(report, benchmark).map(gate::breach_json).collect::<Vec<_>>(),
        "source": site.map(|site| json!({ "path": site.path, "line": site.line })),
        "layout": layout(report, benchmark).map(LayoutPart::word),
        "instructions": instructions::json_of_one(report, benchmark),
        "profile": report.profile(&benchmark.id).map(profile::json_of),
        "lacking": super::lacking(report, benchmark),
    }))
}
