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

    /// Whether a folder inside of such a project can be measured too.
    fn takes_parts(&self) -> bool {
        false
    }

    /// Whether projects elsewhere in a version's tree can be measured from a folder that is in none.
    fn reaches_from(&self, version: &Source) -> bool {
        let _ = version;
        false
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
pub fn named(name: &str) -> Option<&'static dyn Kind> {
    KINDS.into_iter().find(|kind| kind.name() == name)
}

/// The registries of all harnesses.
pub fn registries() -> Vec<&'static dyn Registry> {
    KINDS.into_iter().filter_map(Kind::registry).collect()
}

/// The adapter for all the versions, as asked for or as told by the last of them.
///
/// # Errors
/// When no harness has the name, its toolchain cannot be used or an argument cannot be passed on.
pub fn open(wish: &Wish<'_>, versions: &[Source], scratch: &Path) -> Result<Box<dyn Adapter>, RunError> {
    let Some(last) = versions.last() else {
        return Err(RunError::nothing_to_measure("no version was named"));
    };
    let kind = match &wish.harness.name {
        Some(name) => named(name).ok_or_else(|| unknown(name))?,
        None => told_by(last, wish.harness)?,
    };
    kind.open(wish, versions, scratch)
}

fn unknown(name: &str) -> RunError {
    let known = KINDS.map(Kind::name).join(", ");
    RunError::nothing_to_measure(format!("this duet knows no harness `{name}`"))
        .hint(format!("`--adapter` takes one of {known}"))
}

/// The harness that a version, the settings or the version's files call for, in this order.
fn told_by(version: &Source, settings: &HarnessSpec) -> Result<&'static dyn Kind, RunError> {
    let find = |is: &dyn Fn(&&dyn Kind) -> bool| KINDS.into_iter().find(|kind| is(kind));
    find(&|kind| kind.runs(version))
        .or_else(|| find(&|kind| kind.asked_by(settings).is_some()))
        .or_else(|| sign(&version.dir).map(|(kind, _)| kind))
        .map_or_else(|| around(version), Ok)
}

/// The harness whose project a folder is, and the file that says so.
fn sign(dir: &Path) -> Option<(&'static dyn Kind, &'static Manifest)> {
    let manifests = KINDS.into_iter().flat_map(|kind| kind.manifests().iter().map(move |manifest| (kind, manifest)));
    manifests.into_iter().find(|(_, manifest)| dir.join(manifest.file).exists())
}

/// The harness of a folder that is no project itself; fails with the nearest project around it, or with all files that would make it one.
fn around(version: &Source) -> Result<&'static dyn Kind, RunError> {
    // Beyond a tree of ours lies our own cache.
    let above = version.dir.ancestors().skip(1).take_while(|dir| !version.is_ours() || dir.starts_with(&version.tree));
    let nearest = above.into_iter().find_map(|dir| Some((dir, sign(dir)?)));
    let here = shown(version, &version.dir);
    let (what, hint) = match nearest {
        Some((_, (kind, _))) if kind.takes_parts() => return Ok(kind),
        Some((dir, (_, manifest))) => {
            let there = shown(version, dir);
            let what = format!("nothing in `{here}` can be measured; `{}` is in `{there}`", manifest.file);
            (what, "run duet there")
        }
        None => {
            if let Some(kind) = KINDS.into_iter().find(|kind| kind.reaches_from(version)) {
                return Ok(kind);
            }
            let files: Vec<&str> =
                KINDS.iter().flat_map(|kind| kind.manifests()).map(|manifest| manifest.file).collect();
            let what = format!("nothing in `{here}` is known to be measurable: no `{}`", files.join("`, `"));
            (what, "run duet where one of them lies, or measure programs: `duet compare --command OLD NEW`")
        }
    };
    Err(RunError::version(what).hint(hint.to_owned()))
}

/// A folder of a version as its user knows it: one of a revision as git writes it, because it lies in a place of ours.
fn shown(version: &Source, dir: &Path) -> String {
    match dir.strip_prefix(&version.tree) {
        Ok(inside) if version.is_ours() => format!("{}:./{}", version.requested, inside.display()),
        _ => dir.display().to_string(),
    }
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
