//! Packages of a version, and whether it can be built away from its place.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Toolchain;
use crate::error::RunError;
use crate::source::Source;

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
    check_module(toolchain, source)?;
    // Flags that only `go test` knows do not reach `go list`.
    let flags = build_flags.iter().map(String::as_str).filter(|f| f.starts_with("-tags") || f.starts_with("-mod"));
    let fixed = ["list", "-e", "-json=Dir,ImportPath,TestGoFiles,XTestGoFiles,Error"];
    let args = fixed.into_iter().chain(flags).chain(["--"]).chain(patterns.iter().map(String::as_str));
    with_tests(&toolchain.command(args, &source.dir).text()?)
}

/// The packages with test files in an answer of `go list`.
pub(super) fn with_tests(text: &str) -> Result<Vec<Package>, RunError> {
    let mut packages = Vec::new();
    for package in serde_json::Deserializer::from_str(text).into_iter::<Package>() {
        let package = package.map_err(|e| RunError::Toolchain {
            what: format!("`go list` answered something unexpected: {e}"),
            hint: None,
        })?;
        if let Some(error) = &package.error {
            return Err(RunError::Tool {
                command: "go list".into(),
                output: format!("{}: {}", package.import_path, error.err),
            });
        }
        if package.test_files().next().is_some() {
            packages.push(package);
        }
    }
    Ok(packages)
}

/// Refuses a directory without a module, and says where the modules are.
fn check_module(toolchain: &Toolchain, source: &Source) -> Result<(), RunError> {
    let go_mod = toolchain.command(["env", "GOMOD"], &source.dir).text()?;
    if !go_mod.is_empty() && go_mod != "/dev/null" {
        return Ok(());
    }
    let mut modules = Vec::new();
    find_modules(&source.dir, 4, &mut modules);
    let inside: Vec<String> =
        modules.iter().filter_map(|m| m.strip_prefix(&source.dir).ok()).map(|m| format!("`{}`", m.display())).collect();
    Err(RunError::Source {
        what: format!("`{}` is not inside a Go module", source.requested),
        hint: Some(if inside.is_empty() {
            "run duet where `go test` works".into()
        } else {
            format!("run duet in one of its modules: {}", inside.join(", "))
        }),
    })
}

fn find_modules(dir: &Path, depth: u32, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.join("go.mod").is_file() {
            found.push(path.clone());
        }
        let hidden = entry.file_name().to_string_lossy().starts_with(['.', '_']);
        if depth > 0 && !hidden && entry.file_type().is_ok_and(|t| t.is_dir()) {
            find_modules(&path, depth - 1, found);
        }
    }
    found.sort();
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GoMod {
    #[serde(default)]
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
    #[serde(default)]
    version: Option<String>,
}

/// Refuses local replacements that lead out of the version's tree: both versions would silently share that code, or
/// the path would lead nowhere.
pub(super) fn check_replacements(toolchain: &Toolchain, source: &Source) -> Result<(), RunError> {
    let Ok(text) = toolchain.command(["mod", "edit", "-json"], &source.dir).text() else { return Ok(()) };
    let Ok(go_mod) = serde_json::from_str::<GoMod>(&text) else { return Ok(()) };
    for replace in go_mod.replace.unwrap_or_default().into_iter().filter(|r| r.new.version.is_none()) {
        let target = std::fs::canonicalize(source.dir.join(&replace.new.path));
        if !target.is_ok_and(|t| t.starts_with(&source.tree)) {
            return Err(RunError::Source {
                what: format!(
                    "`{}` replaces `{}` by `{}`, which lies outside of it",
                    source.requested, replace.old.path, replace.new.path
                ),
                hint: Some(
                    "check both versions out next to what they need, and compare the two directories with a `go.work`"
                        .into(),
                ),
            });
        }
    }
    Ok(())
}
