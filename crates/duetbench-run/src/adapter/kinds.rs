//! The table of harnesses. A new one is a folder beside this file and a line in [`KINDS`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use duetbench_core::BenchmarkId;
use duetbench_core::spec::HarnessSpec;

use super::{Adapter, Conditions, command, go, jmh, rust};
use crate::error::RunError;
use crate::source::{Registry, Source};

/// Every harness, in the order in which they are asked.
pub const KINDS: [&dyn Kind; 4] = [&go::Kind, &command::Kind, &jmh::Kind, &rust::Kind];

/// A harness before a version is opened: the facts by which one is chosen, and those that concern the user's checkout.
pub trait Kind: Sync {
    /// The word after `--adapter` and in machine formats.
    fn name(&self) -> &'static str;

    /// Files that say that a folder is a project of this harness, each with the name of such a project.
    fn manifests(&self) -> &'static [Manifest] {
        &[]
    }

    /// The registry with the published versions of its projects.
    fn registry(&self) -> Option<&'static dyn Registry> {
        None
    }

    /// Whether the version itself is something that only this harness runs, as a jar is.
    fn runs(&self, version: &Source) -> bool {
        let _ = version;
        false
    }

    /// Name of the settings that only this harness understands, where some are set.
    fn asked_by(&self, settings: &HarnessSpec) -> Option<&'static str> {
        let _ = settings;
        None
    }

    /// Variables of the environment that its benchmarks may see, beside those that every program needs.
    fn variables(&self) -> &'static [&'static str] {
        &[]
    }

    /// The files that declare benchmarks, and the lines from 1, in the checkout around a folder; those that are found.
    fn locate(&self, cwd: &Path, wanted: &[&BenchmarkId]) -> BTreeMap<BenchmarkId, (PathBuf, usize)> {
        let _ = (cwd, wanted);
        BTreeMap::new()
    }

    /// The adapter for all the versions.
    ///
    /// # Errors
    /// When its toolchain cannot be used or an argument cannot be passed on.
    fn open(&self, wish: &Wish<'_>, versions: &[Source], scratch: &Path) -> Result<Box<dyn Adapter>, RunError>;
}

/// A file by which a project is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manifest {
    /// Name of the file.
    pub file: &'static str,
    /// Name of such a project.
    pub project: &'static str,
}

/// The user's wishes for an adapter.
#[derive(Debug, Clone, Copy)]
pub struct Wish<'a> {
    /// The harness, where it was named, and the settings that only one understands.
    pub harness: &'a HarnessSpec,
    /// Arguments for the harness, as typed after `--`.
    pub arguments: &'a [String],
    /// Conditions under which benchmarks run.
    pub conditions: Conditions<'a>,
}

/// The harness of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static dyn Kind> {
    KINDS.into_iter().find(|kind| kind.name() == name)
}

/// The registries of all harnesses.
#[must_use]
pub fn registries() -> Vec<&'static dyn Registry> {
    KINDS.into_iter().filter_map(Kind::registry).collect()
}

/// The adapter for all the versions, as asked for or as told by the last of them.
///
/// # Errors
/// When no harness has the name, its toolchain cannot be used or an argument cannot be passed on.
pub fn open(wish: &Wish<'_>, versions: &[Source], scratch: &Path) -> Result<Box<dyn Adapter>, RunError> {
    let Some(last) = versions.last() else {
        return Err(RunError::NothingToMeasure { what: "no version was named".into(), hint: None });
    };
    let kind = match &wish.harness.name {
        Some(name) => named(name).ok_or_else(|| unknown(name))?,
        None => told_by(last, wish.harness),
    };
    kind.open(wish, versions, scratch)
}

fn unknown(name: &str) -> RunError {
    let known = KINDS.map(Kind::name).join(", ");
    RunError::NothingToMeasure {
        what: format!("this duet knows no harness `{name}`"),
        hint: Some(format!("`--adapter` takes one of {known}")),
    }
}

/// The harness that a version, the settings or the version's files call for, in this order; the first where nothing does, whose errors
/// then say what is missing.
fn told_by(version: &Source, settings: &HarnessSpec) -> &'static dyn Kind {
    let has = |kind: &&dyn Kind| kind.manifests().iter().any(|manifest| version.dir.join(manifest.file).exists());
    let find = |is: &dyn Fn(&&dyn Kind) -> bool| KINDS.into_iter().find(|kind| is(kind));
    find(&|kind| kind.runs(version))
        .or_else(|| find(&|kind| kind.asked_by(settings).is_some()))
        .or_else(|| find(&has))
        .unwrap_or(KINDS[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harnesses_have_names_and_manifests_of_their_own() {
        let mut names = KINDS.map(Kind::name).to_vec();
        names.extend(KINDS.iter().flat_map(|kind| kind.manifests()).map(|manifest| manifest.file));
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(KINDS.iter().all(|kind| named(kind.name()).is_some()));
    }
}
