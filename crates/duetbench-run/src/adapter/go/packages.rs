//! Packages of a version, and whether it can be built away from its place.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Toolchain, matching, modules};
use crate::error::RunError;
use crate::source::Source;
use crate::tool::Tool;
use crate::tree;

/// A package with test files, as `go list` describes it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Package {
    pub(super) dir: PathBuf,
    pub(super) import_path: String,
    test_go_files: Vec<String>,
    #[serde(rename = "XTestGoFiles")]
    external_test_go_files: Vec<String>,
    error: Option<PackageError>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PackageError {
    err: String,
}

impl Default for Package {
    fn default() -> Package {
        Package {
            dir: PathBuf::new(),
            import_path: String::new(),
            test_go_files: Vec::new(),
            external_test_go_files: Vec::new(),
            error: None,
        }
    }
}

impl Package {
    /// Its test files, absolute.
    pub(super) fn test_files(&self) -> impl Iterator<Item = PathBuf> + '_ {
        self.test_go_files.iter().chain(&self.external_test_go_files).map(|name| self.dir.join(name))
    }
}

/// The packages with test files that match the patterns.
pub(super) fn list(
    toolchain: &Toolchain,
    build_flags: &[String],
    source: &Source,
    patterns: &[String],
) -> Result<Vec<Package>, RunError> {
    let mut found = Vec::new();
    if patterns.is_empty() {
        return Ok(found);
    }
    for place in modules::places(toolchain, source, patterns)? {
        let fixed = ["list", "-e", "-json=Dir,ImportPath,TestGoFiles,XTestGoFiles,Error"];
        let args = fixed.into_iter().chain(flags_of_list(build_flags)).chain(["--"]);
        let args = args.chain(place.patterns.iter().map(String::as_str));
        found.extend(with_tests(&toolchain.command(args, &place.dir).text()?)?);
    }
    told_apart(&found)?;
    Ok(found)
}

/// Fails where packages of two folders have one name, as those of modules that are called alike.
fn told_apart(packages: &[Package]) -> Result<(), RunError> {
    let mut folders: BTreeMap<&str, &Path> = BTreeMap::new();
    for Package { import_path, dir, .. } in packages {
        match folders.insert(import_path, dir) {
            Some(other) if other != dir => {
                let [one, other] = [other, dir].map(Path::display);
                return Err(RunError::version(format!("`{import_path}` is in `{one}` and in `{other}`"))
                    .hint("measure them one after the other, with `--packages`"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The user's flags that decide which files belong to a package: the sanitisers are build tags as well.
pub(super) fn flags_of_list(build_flags: &[String]) -> impl Iterator<Item = &str> {
    let chooses = |flag: &&str| ["-tags", "-mod", "-race", "-msan", "-asan"].iter().any(|name| flag.starts_with(name));
    build_flags.iter().map(String::as_str).filter(chooses)
}

/// The packages with test files in an answer of `go list`.
pub(super) fn with_tests(text: &str) -> Result<Vec<Package>, RunError> {
    let mut packages = Vec::new();
    for package in serde_json::Deserializer::from_str(text).into_iter::<Package>() {
        let package =
            package.map_err(|e| RunError::toolchain(format!("`go list` answered something unexpected: {e}")))?;
        let has_tests = package.test_files().next().is_some();
        // `go test` goes on without a folder of examples that is no package; one that is not there was asked for.
        if let Some(error) = package.error.as_ref().filter(|_| has_tests || !package.dir.is_dir()) {
            return Err(RunError::Tool {
                command: "go list".into(),
                output: format!("{}: {}", package.import_path, error.err),
            });
        }
        if has_tests {
            packages.push(package);
        }
    }
    Ok(packages)
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Replacing {
    replace: Option<Vec<Replace>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Replace {
    old: ModulePath,
    new: ModulePath,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ModulePath {
    path: String,
    version: Option<String>,
}

/// Refuses local replacements that lead out of the version's tree: both versions would silently share that code, or
/// the path would lead nowhere. What is vendored is in the tree, whatever it replaces.
pub(super) fn check_replacements(
    toolchain: &Toolchain,
    build_flags: &[String],
    source: &Source,
    patterns: &[String],
) -> Result<(), RunError> {
    let roots = modules::Roots::of(toolchain, source, patterns)?;
    let chosen = matching::in_force("mod", build_flags, &toolchain.flags).ok().flatten();
    let may_vendor = chosen.is_none_or(|chosen| chosen == "vendor");
    let is_vendored = |root: &Path| may_vendor && root.join("vendor/modules.txt").is_file();
    if let Some(workspace) = roots.workspace {
        if is_vendored(&workspace) {
            return Ok(());
        }
        check_replacements_in(toolchain.command(["work", "edit", "-json"], &workspace), source, &workspace)?;
        return roots.modules.iter().try_for_each(|root| check_replacements_of(toolchain, source, root));
    }
    let mut own = roots.modules.iter().filter(|root| !is_vendored(root));
    own.try_for_each(|root| check_replacements_of(toolchain, source, root))
}

fn check_replacements_of(toolchain: &Toolchain, source: &Source, module: &Path) -> Result<(), RunError> {
    check_replacements_in(toolchain.command(["mod", "edit", "-json"], module), source, module)
}

/// Checks the replacements that a go command tells of a file in this directory.
fn check_replacements_in(asked: Tool, source: &Source, module: &Path) -> Result<(), RunError> {
    let Ok(text) = asked.text() else { return Ok(()) };
    let Ok(go_mod) = serde_json::from_str::<Replacing>(&text) else { return Ok(()) };
    for replace in go_mod.replace.unwrap_or_default().into_iter().filter(|r| r.new.version.is_none()) {
        let (why, hint) = match std::fs::canonicalize(module.join(&replace.new.path)) {
            Ok(target) if target.starts_with(&source.tree) => continue,
            _ if source.is_published() => {
                ("is no part of what is published", "clone the repository, and compare its tags")
            }
            Err(_) if tree::without_parents(&module.join(&replace.new.path)).starts_with(&source.tree) => {
                ("is not there", "if it is generated, make it in two directories, and compare these")
            }
            _ => (
                "lies outside of it",
                "check both versions out next to what they need, and compare the two directories with a `go.work`",
            ),
        };
        let (old, new) = (&replace.old.path, &replace.new.path);
        let what = format!("`{}` replaces `{old}` by `{new}`, which {why}", source.requested);
        return Err(RunError::version(what).hint(hint));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::flags_of_list;

    #[test]
    fn files_are_listed_with_the_flags_that_choose_them() {
        let flags = ["-tags=slow", "-race", "-msan", "-asan=true", "-mod=vendor", "-gcflags=-N", "-a", "-trimpath"];
        let flags = flags.map(String::from);
        assert_eq!(
            flags_of_list(&flags).collect::<Vec<_>>(),
            ["-tags=slow", "-race", "-msan", "-asan=true", "-mod=vendor"]
        );
    }
}
