//! The place where a benchmark is declared, looked up in the files as they are now.

use std::fs;
use std::path::{Path, PathBuf};

use duetbench_core::BenchmarkId;
use duetbench_formats::bounded;

/// The test file that declares a benchmark's function, and the line, counted from 1; in the module around a folder.
pub(super) fn locate(cwd: &Path, id: &BenchmarkId) -> Option<(PathBuf, usize)> {
    let (module, dir) = cwd.ancestors().find_map(|dir| Some((module_path(&dir.join("go.mod"))?, dir)))?;
    let rest = id.package.strip_prefix(module.as_str())?;
    let is_inside = rest.is_empty() || rest.starts_with('/');
    is_inside.then(|| declaration(&dir.join(rest.trim_start_matches('/')), &id.name))?
}

/// The module's path in a `go.mod`.
fn module_path(go_mod: &Path) -> Option<String> {
    let text = bounded::read_text(go_mod, bounded::TEXT_MAX).ok()?;
    let named = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
    Some(named.split("//").next()?.trim().trim_matches('"').to_owned())
}

/// The test file in this folder that declares a benchmark's function, and the line, counted from 1.
fn declaration(dir: &Path, name: &str) -> Option<(PathBuf, usize)> {
    // The function's name may be followed by a sub-benchmark, or by the number of processors.
    let function = name.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    let declared = format!("func {function}(");
    let mut files: Vec<PathBuf> = fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.to_string_lossy().ends_with("_test.go"));
    files.sort();
    files.into_iter().find_map(|path| {
        let line =
            bounded::read_text(&path, bounded::TEXT_MAX).ok()?.lines().position(|line| line.starts_with(&declared))?;
        Some((path, line + 1))
    })
}
