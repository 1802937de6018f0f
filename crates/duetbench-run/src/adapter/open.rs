//! Choice of the adapter.

use std::path::Path;

use duetbench_core::spec::{HarnessName, HarnessSpec, JmhSpec};

use super::{Adapter, Conditions};
use crate::adapter::command::Commands;
use crate::adapter::go::{Go, GoArguments, Toolchain};
use crate::adapter::jmh::Jmh;
use crate::error::RunError;
use crate::source::Source;

/// The user's wishes for an adapter.
#[derive(Debug, Clone, Copy)]
pub struct Wish<'a> {
    /// The harness, where it was named, and the settings that only it understands.
    pub harness: &'a HarnessSpec,
    /// Arguments for the harness, as typed after `--`.
    pub arguments: &'a [String],
    /// Conditions under which benchmarks run.
    pub conditions: Conditions<'a>,
}

/// The adapter for all the versions, as asked for or as told by what the last of them holds.
///
/// # Errors
/// When its toolchain cannot be used or an argument cannot be passed on.
pub fn open(wish: &Wish<'_>, sources: &[Source], scratch: &Path) -> Result<Box<dyn Adapter>, RunError> {
    let (Some(first), Some(last)) = (sources.first(), sources.last()) else {
        return Err(RunError::NothingToMeasure { what: "no version was named".into(), hint: None });
    };
    Ok(match wish.harness.name.unwrap_or_else(|| told_by(last, wish.harness)) {
        HarnessName::Go => {
            let arguments = GoArguments::parse(wish.arguments)?;
            let toolchain = Toolchain::for_both(first, last, scratch)?;
            Box::new(Go::new(toolchain, arguments, scratch, wish.conditions)?)
        }
        HarnessName::Jmh => Box::new(Jmh::new(wish, scratch)?),
        HarnessName::Command => Box::new(Commands::new(wish, sources)?),
    })
}

/// The harness that a version and the settings call for; Go where nothing does, whose errors then say what is missing.
fn told_by(source: &Source, harness: &HarnessSpec) -> HarnessName {
    let has = |name: &&str| source.dir.join(name).exists();
    let builds_java = || !has(&"go.mod") && ["pom.xml", "build.gradle", "build.gradle.kts"].iter().any(has);
    if source.command().is_some() {
        HarnessName::Command
    } else if source.jar().is_some() {
        HarnessName::Jmh
    } else if !harness.commands.is_empty() {
        HarnessName::Command
    } else if harness.jmh != JmhSpec::default() || builds_java() {
        HarnessName::Jmh
    } else {
        HarnessName::Go
    }
}
