//! The modules that package patterns are about: the one around a version's directory, those of a workspace, or several that the
//! patterns lead into.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Toolchain;
use crate::error::RunError;
use crate::source::Source;

/// Depth to which modules are looked for, where their names or their benchmarks' places help somebody.
pub(super) const DEPTH_MAX: u32 = 4;
/// All packages of the module around a directory.
const ALL: &str = "./...";

/// A directory in which the go command is run, and the patterns that it is given there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) dir: PathBuf,
    pub(super) patterns: Vec<String>,
}

/// The places in which a version's packages are asked for.
pub(super) fn places(toolchain: &Toolchain, source: &Source, patterns: &[String]) -> Result<Vec<Place>, RunError> {
    let around = Around::of(toolchain, source)?;
    let mut places: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    for pattern in patterns {
        // Where the workspace's own folder is a module, the go command would see that one alone.
        let of_workspace = around.module.is_none() || around.workspace.as_ref() == Some(&source.dir);
        if around.workspace.is_some() && of_workspace && pattern == ALL {
            let of_all = workspace(toolchain, source)?.into_iter().filter_map(|dir| below(&source.dir, &dir, true));
            places.entry(source.dir.clone()).or_default().extend(of_all);
        } else {
            let (dir, pattern) = around.place(source, pattern)?;
            places.entry(dir).or_default().push(pattern);
        }
    }
    let known = |(dir, patterns): (PathBuf, Vec<String>)| Place { dir, patterns };
    let places: Vec<Place> = places.into_iter().filter(|(_, patterns)| !patterns.is_empty()).map(known).collect();
    if places.is_empty() { Err(outside(source)) } else { Ok(places) }
}

/// The modules whose packages a version's places ask for.
#[derive(Debug)]
pub(super) struct Roots {
    /// Their directories.
    pub(super) modules: Vec<PathBuf>,
    /// The directory of the workspace that applies.
    pub(super) workspace: Option<PathBuf>,
}

impl Roots {
    pub(super) fn of(toolchain: &Toolchain, source: &Source, patterns: &[String]) -> Result<Roots, RunError> {
        let around = Around::of(toolchain, source)?;
        let own = around.module.as_ref().unwrap_or(&source.dir);
        let root_of = |dir: PathBuf| if dir == source.dir { own.clone() } else { dir };
        let places = places(toolchain, source, patterns)?.into_iter();
        let mut modules: Vec<PathBuf> = places.map(|place| root_of(place.dir)).collect();
        if around.workspace.is_some() {
            modules.extend(workspace(toolchain, source)?);
        }
        Ok(Roots { modules, workspace: around.workspace })
    }
}

/// Facts about a version's directory, as the go command sees it.
struct Around {
    /// The module that it lies in.
    module: Option<PathBuf>,
    /// The directory of the `go.work` that applies.
    workspace: Option<PathBuf>,
}

impl Around {
    fn of(toolchain: &Toolchain, source: &Source) -> Result<Around, RunError> {
        let answer = toolchain.command(["env", "GOMOD", "GOWORK"], &source.dir).text()?;
        let mut lines = answer.lines().map(str::trim);
        let mut dir_of_next = || {
            let file = lines.next().filter(|path| !["", "off", "/dev/null"].contains(path))?;
            Path::new(file).parent().map(Path::to_owned)
        };
        Ok(Around { module: dir_of_next(), workspace: dir_of_next() })
    }

    /// Where the go command understands a pattern: in the version's directory, or where there is no workspace in the module that it leads into.
    fn place(&self, source: &Source, pattern: &str) -> Result<(PathBuf, String), RunError> {
        let here = || (source.dir.clone(), pattern.to_owned());
        if self.workspace.is_some() {
            return Ok(here());
        }
        let (start, all) = beginning(pattern);
        let leads_to = start.map(|start| source.dir.join(start)).and_then(|dir| module_around(&dir, &source.tree));
        match (leads_to, &self.module) {
            (Some((root, dir)), module) if module.as_ref() != Some(&root) => {
                let pattern = below(&root, &dir, all).ok_or_else(|| outside(source))?;
                Ok((root, pattern))
            }
            (_, Some(_)) => Ok(here()),
            (_, None) => Err(outside(source)),
        }
    }
}

/// The folder with which a local pattern begins, and whether everything below it is meant.
fn beginning(pattern: &str) -> (Option<&str>, bool) {
    let folder = pattern.strip_suffix("...").map(|folder| folder.trim_end_matches('/'));
    let start = folder.unwrap_or(pattern);
    let is_local = start == "." || start.starts_with("./") || start.starts_with("../");
    ((is_local && !start.contains("...")).then_some(start), folder.is_some())
}

/// Whether a pattern may match something from a directory on: that of a folder needs packages there. Of others only the go command knows.
pub(super) fn may_match(dir: &Path, pattern: &str) -> bool {
    let (start, all) = beginning(pattern);
    let is_go = |entry: std::fs::DirEntry| entry.path().extension().is_some_and(|extension| extension == "go");
    let has_go = |folder: PathBuf| std::fs::read_dir(folder).is_ok_and(|entries| entries.flatten().any(is_go));
    start.is_none_or(|start| if all { dir.join(start).is_dir() } else { has_go(dir.join(start)) })
}

/// The module around a folder inside of a tree, and the folder; both as they really are.
fn module_around(dir: &Path, tree: &Path) -> Option<(PathBuf, PathBuf)> {
    let dir = std::fs::canonicalize(dir).ok().filter(|dir| dir.starts_with(tree))?;
    let inside = dir.ancestors().take_while(|folder| folder.starts_with(tree));
    let root = inside.into_iter().find(|folder| folder.join("go.mod").is_file())?.to_owned();
    Some((root, dir))
}

/// The pattern of a folder, or of everything below it, as it is typed in another one around it.
fn below(around: &Path, dir: &Path, all: bool) -> Option<String> {
    let inside = dir.strip_prefix(around).ok()?.to_string_lossy().into_owned();
    let folder = if inside.is_empty() { ".".to_owned() } else { format!("./{inside}") };
    Some(if all { format!("{folder}/...") } else { folder })
}

/// The directories of a workspace's modules that belong to the version.
fn workspace(toolchain: &Toolchain, source: &Source) -> Result<Vec<PathBuf>, RunError> {
    let listed = toolchain.command(["list", "-m", "-f", "{{.Dir}}"], &source.dir).text()?;
    let dirs = listed.lines().filter_map(|line| std::fs::canonicalize(line.trim()).ok());
    Ok(dirs.filter(|dir| dir.starts_with(&source.dir)).collect())
}

/// Refuses a directory without a module, and says where the modules are.
fn outside(source: &Source) -> RunError {
    let mut modules = Vec::new();
    find(&source.dir, DEPTH_MAX, &mut modules);
    let inside: Vec<String> = modules.iter().filter_map(|dir| below(&source.dir, dir, false)).collect();
    let hint = if inside.is_empty() {
        "run duet where `go test` works".to_owned()
    } else {
        let named: Vec<&str> = inside.iter().map(|dir| dir.trim_start_matches("./")).collect();
        let options: Vec<String> = inside.iter().map(|dir| format!("--packages {dir}/...")).collect();
        format!("run duet in one of its modules (`{}`), or in all of them: `{}`", named.join("`, `"), options.join(" "))
    };
    RunError::version(format!("`{}` is not inside a Go module", source.requested)).hint(hint)
}

/// The folders of modules below a folder, added in order.
pub(super) fn find(dir: &Path, depth: u32, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if path.join("go.mod").is_file() {
            found.push(path.clone());
        }
        let hidden = entry.file_name().to_string_lossy().starts_with(['.', '_']);
        if depth > 0 && !hidden && entry.file_type().is_ok_and(|t| t.is_dir()) {
            find(&path, depth - 1, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_begins_with_a_folder_where_it_is_local() {
        let check = |pattern: &str, want| assert_eq!(beginning(pattern), want, "{pattern}");
        check("./...", (Some("."), true));
        check("./a/...", (Some("./a"), true));
        check("./a/b", (Some("./a/b"), false));
        check("../a/...", (Some("../a"), true));
        check("example.com/a/...", (None, true));
        check("./.../b", (None, false));
    }

    #[test]
    fn a_pattern_of_a_folder_matches_where_the_folder_has_packages() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(place.path().join("a/empty")).unwrap();
        std::fs::write(place.path().join("a/a.go"), "package a").unwrap();
        let check = |pattern: &str, want| assert_eq!(may_match(place.path(), pattern), want, "{pattern}");
        for (pattern, want) in
            [("./a", true), ("./a/empty", false), ("./a/...", true), ("./b", false), ("./b/...", false)]
        {
            check(pattern, want);
        }
        check("example.com/b", true);
    }

    #[test]
    fn a_folder_is_named_from_one_around_it() {
        let check = |dir: &str, all, want: Option<&str>| {
            assert_eq!(below(Path::new("/r"), Path::new(dir), all).as_deref(), want);
        };
        check("/r", true, Some("./..."));
        check("/r/a/b", true, Some("./a/b/..."));
        check("/r/a", false, Some("./a"));
        check("/s", true, None);
    }
}
