//! The places where benchmarks are declared, looked up in the files as they are now.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use duetbench_core::BenchmarkId;
use duetbench_formats::bounded;

use super::modules;

/// The test files that declare benchmarks' functions, and the lines, counted from 1; in the modules around a folder, and in those below
/// it or below the workspace that it belongs to.
pub(super) fn locate(cwd: &Path, wanted: &[&BenchmarkId]) -> BTreeMap<BenchmarkId, (PathBuf, usize)> {
    let workspace = cwd.ancestors().find(|dir| dir.join("go.work").is_file()).unwrap_or(cwd);
    let mut dirs: Vec<PathBuf> = cwd.ancestors().map(Path::to_owned).collect();
    modules::find(workspace, modules::DEPTH_MAX, &mut dirs);
    let named = |dir: PathBuf| Some((module_path(&dir.join("go.mod"))?, dir));
    let mut modules: Vec<(String, PathBuf)> = dirs.into_iter().filter_map(named).collect();
    // A package belongs to the module that has most of its name; of copies the one that is nearest to the folder.
    modules.sort_by_key(|(module, _)| Reverse(module.len()));
    let place = |id: &BenchmarkId| modules.iter().find_map(|module| within(module, id));
    wanted.iter().filter_map(|id| Some(((*id).clone(), place(id)?))).collect()
}

/// The declaration of a benchmark in a module, which has this path and this folder.
fn within((module, dir): &(String, PathBuf), id: &BenchmarkId) -> Option<(PathBuf, usize)> {
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
