//! `duet list`: the benchmarks of a version.

use std::collections::BTreeSet;

use duetbench_core::plan::Style;

use super::{Asked, Context, selected};
use crate::args::ListArgs;
use crate::failure::{Failure, code};
use crate::render::format::{first_line, one_line, shortened};

/// Words for the ways in which benchmarks are cut into slices, where their name does not say it.
const STYLES: [(Style, &str); 2] = [
    (Style::Rewritten, "its counting loop is rewritten while building, so that it can be measured in slices"),
    (Style::Recall, "the function is called again for every slice, because its loop cannot be sliced from inside"),
];

/// Builds the version, runs every benchmark once and prints the names; one that fails is listed with its words.
///
/// # Errors
/// When the version cannot be built or has no benchmarks.
pub fn run(args: &ListArgs, context: &Context) -> Result<u8, Failure> {
    let spec = context.settings.spec(0)?;
    let version = super::one_version(args.version.as_deref(), &args.program, &context.cwd)?;
    let asked = Asked::of_one(&spec.selection, &spec.harness, &spec.harness_args);
    let prepared = context.prepare(&[version], &context.cwd, asked)?;
    let mut failed = false;
    let mut styles = BTreeSet::new();
    let mut out = String::new();
    for version in &prepared.versions {
        for found in selected(&version.found, &context.settings)? {
            let (package, name) = (shortened(&one_line(&found.id.package)), shortened(&one_line(&found.id.name)));
            match &found.failure {
                None => {
                    styles.insert(found.style.word());
                    out += &format!("{package}\t{name}\t{}\n", found.style.word());
                }
                Some(words) => {
                    failed = true;
                    out += &format!("{package}\t{name}\tfailed: {}\n", first_line(words));
                }
            }
        }
    }
    context.printer.data(&out)?;
    let explained = STYLES.iter().filter(|(style, _)| styles.contains(style.word()));
    explained.for_each(|(style, words)| context.printer.note(&format!("{}: {words}", style.word())));
    Ok(if failed || out.is_empty() { code::FAILED } else { code::CLEAN })
}
