//! The JSON format, described by `schema/why-v1.schema.json`. Its parts are those of the report's format; keys are always there: a value that
//! is not known is `null`.

use duetbench_core::Report;
use duetbench_core::report::BenchmarkReport;
use serde::Serialize;

use super::{breaches, layout, profiled};
use crate::render::document;
use crate::render::gate::BreachEntry;
use crate::render::instructions::InstructionsEntry;
use crate::render::json::Benchmark;
use crate::render::profile::ProfileEntry;
use crate::render::sarif::Site;
use crate::render::version::VersionsEntry;

/// Version of the format; goes up when a reader of the previous one could misread the next.
const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    duet_version: &'a str,
    run: &'a str,
    versions: VersionsEntry<'a>,
    benchmark: Benchmark<'a>,
    breaches: Vec<BreachEntry<'a>>,
    source: Option<Source<'a>>,
    layout: Option<&'static str>,
    instructions: Option<InstructionsEntry<'a>>,
    profile: Option<ProfileEntry<'a>>,
    lacking: &'a [&'static str],
}

#[derive(Serialize)]
struct Source<'a> {
    path: &'a str,
    line: Option<usize>,
}

/// All that is known of one benchmark, as JSON.
pub(super) fn json(report: &Report, benchmark: &BenchmarkReport, site: Option<&Site>) -> String {
    let lacking = super::lacking(report, benchmark);
    document::json(&Document {
        schema_version: SCHEMA_VERSION,
        duet_version: &report.environment.duet_version,
        run: &report.run,
        versions: VersionsEntry::of(&report.baseline, &report.candidate),
        benchmark: Benchmark::of(benchmark),
        breaches: breaches(report, benchmark).map(BreachEntry::of).collect(),
        source: site.map(|site| Source { path: &site.path, line: site.line }),
        layout: layout(report, benchmark).map(duetbench_core::instructions::LayoutPart::word),
        instructions: InstructionsEntry::of_one(report, benchmark),
        profile: profiled(report, benchmark).map(ProfileEntry::of),
        lacking: &lacking,
    })
}
