//! `duet list`: the benchmarks of a version.

use duetbench_core::plan::{Discovered, Style};
use serde_json::json;

use super::{Asked, Context, selected};
use crate::args::ListArgs;
use crate::failure::{Failure, code};
use crate::options::Format;
use crate::render::document;
use crate::render::format::{first_line, one_line, shortened};

/// Version of the JSON; goes up when a reader of the previous one could misread the next.
const SCHEMA_VERSION: u32 = 1;

/// Words for the ways in which benchmarks are cut into slices, where their name does not say it.
const STYLES: [(Style, &str); 2] = [
    (Style::Rewritten, "its counting loop is rewritten while building, so that it can be measured in slices"),
    (Style::Recall, "the function is called again for every slice, because its loop cannot be sliced from inside"),
];

/// Builds the version, runs every benchmark once and prints the names; one that fails is listed with its words.
///
/// # Errors
/// When the version cannot be built or has no benchmarks, or in another form than text and JSON.
pub fn run(args: &ListArgs, context: &Context) -> Result<u8, Failure> {
    let format = context.settings.format();
    if !matches!(format, Format::Text | Format::Json) {
        return Err(format.unfit("a list of benchmarks"));
    }
    let spec = context.settings.spec(0)?;
    let version = super::one_version(args.version.as_deref(), &args.program, &context.cwd)?;
    let asked = Asked::of_one(&spec.selection, &spec.harness, &spec.harness_args);
    let prepared = context.prepare(&[version], &context.cwd, asked)?;
    let mut all = Vec::new();
    for version in &prepared.versions {
        all.extend(selected(&version.found, &context.settings)?);
    }
    prepared.warnings().iter().for_each(|words| context.printer.note(&one_line(words)));
    if all.is_empty() {
        return Err(super::nothing_selected(context).into());
    }
    context.printer.data(&if format == Format::Json { json(&all) } else { all.iter().map(line).collect() })?;
    let is_met = |style: Style| all.iter().any(|found| found.failure.is_none() && found.style == style);
    let explained = STYLES.iter().filter(|(style, _)| is_met(*style));
    explained.for_each(|(style, words)| context.printer.note(&format!("{}: {words}", style.word())));
    let failed = all.is_empty() || all.iter().any(|found| found.failure.is_some());
    Ok(if failed { code::FAILED } else { code::CLEAN })
}

/// A benchmark as text, separated by tabs.
fn line(found: &Discovered) -> String {
    let (package, name) = (shortened(&one_line(&found.id.package)), shortened(&one_line(&found.id.name)));
    let failed = found.failure.as_ref().map(|words| format!("failed: {}", first_line(words)));
    format!("{package}\t{name}\t{}\n", failed.as_deref().unwrap_or(found.style.word()))
}

/// All benchmarks as JSON, described by `schema/list-v1.schema.json`.
fn json(all: &[Discovered]) -> String {
    let benchmark = |found: &Discovered| {
        json!({
            "package": found.id.package,
            "name": found.id.name,
            "style": found.failure.is_none().then(|| found.style.word()),
            "failed": found.failure,
        })
    };
    document::json(&json!({
        "schema_version": SCHEMA_VERSION,
        "duet_version": env!("CARGO_PKG_VERSION"),
        "benchmarks": all.iter().map(benchmark).collect::<Vec<_>>(),
    }))
}
