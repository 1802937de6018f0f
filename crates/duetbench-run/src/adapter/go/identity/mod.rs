//! Identical code is proven, not measured: whether a package's benchmarks run the same program on the same files in both
//! versions.
//!
//! A proof errs on one side only. Anything that cannot be read, is not known, or could matter counts as a difference, and a
//! package that differs is measured like any other.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::adapter::changes::{APART, Changes};
use crate::adapter::{Artifact, Build, Identity};

pub use crate::adapter::changes::roots;

mod files;
mod lines;
mod program;

use program::Program;

/// Compares every package that both versions have. `roots` are the directories of the two versions, as [`roots`] gives them.
pub fn compare_packages(baseline: &Build, candidate: &Build, roots: Option<[&Path; 2]>) -> BTreeMap<String, Identity> {
    let both = baseline.common(candidate);
    let Some(roots) = roots else {
        let apart = || Identity::Different(APART.to_owned());
        return both.map(|(package, _)| (package.clone(), apart())).collect();
    };
    // Large trees take a while, and are of no interest while no binary is equal.
    let changes = LazyCell::new(|| Changes::between(roots, &[]));
    let identity = |artifacts| match check(artifacts, roots, || &changes) {
        Ok(()) => Identity::Identical,
        Err(reason) => Identity::Different(reason),
    };
    both.map(|(package, artifacts)| (package.clone(), identity(artifacts))).collect()
}

/// Fails with the first difference.
fn check<'c>(artifacts: [&Artifact; 2], roots: [&Path; 2], changes: impl Fn() -> &'c Changes) -> Result<(), String> {
    let dir = common_dir(artifacts, roots)?;
    let bytes = [read(artifacts[0])?, read(artifacts[1])?];
    let baseline = Program::parse(&bytes[0])?;
    if bytes[0] != bytes[1] {
        program::compare(&baseline, &Program::parse(&bytes[1])?)?;
    }
    no_readable(changes(), dir, &baseline, files::reads_go(&baseline))
}

/// Fails where a file differs that the benchmarks of a package may read, if they neither parse Go nor start other programs.
pub(super) fn check_files(artifacts: [&Artifact; 2], roots: [&Path; 2], changes: &Changes) -> Result<(), String> {
    let dir = common_dir(artifacts, roots)?;
    for artifact in artifacts {
        no_readable(changes, dir, &Program::parse(&read(artifact)?)?, false)?;
    }
    Ok(())
}

/// The directory of a package in both versions.
fn common_dir<'a>(artifacts: [&'a Artifact; 2], roots: [&Path; 2]) -> Result<&'a Path, String> {
    let inside = |side: usize| artifacts[side].dir.strip_prefix(roots[side]).ok();
    inside(0).filter(|dir| inside(1) == Some(dir)).ok_or_else(|| "the package lies in another directory".to_owned())
}

fn read(artifact: &Artifact) -> Result<Vec<u8>, String> {
    fs::read(&artifact.program).map_err(|e| format!("`{}` cannot be read: {e}", artifact.program.display()))
}

fn no_readable(changes: &Changes, dir: &Path, program: &Program<'_>, reads_go: bool) -> Result<(), String> {
    match files::readable(changes, dir, program, reads_go) {
        Some(path) => Err(format!("`{}` differs", path.display())),
        None => Ok(()),
    }
}

/// Reads a program and compares it with itself, for `fuzz/`.
#[cfg(any(fuzzing, debug_assertions))]
pub fn fuzz(bytes: &[u8]) {
    if let Ok(program) = Program::parse(bytes) {
        let _ = program::compare(&program, &program);
    }
}
