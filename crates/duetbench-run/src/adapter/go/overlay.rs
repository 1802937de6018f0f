//! The overlay: which files the compiler is to see in another form, and the making of these forms.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use duetbench_core::{BenchmarkId, sources};
use serde::{Deserialize, Serialize};

use super::Toolchain;
use super::kept::{self, Kept};
use super::packages::Package;
use crate::adapter::Declared;
use crate::error::RunError;
use crate::tool::shorten;

/// The hook's sources, by the names that `anchors.json` uses.
const HOOK_FILES: [(&str, &str); 17] = sources!("../../../../../hooks/go/hook/":
    "page.go", "agree.go", "system.go", "link.go", "hook.go", "trial.go", "probe.go", "whole.go", "cycles.go", "list.go",
    "clock_wrapped.go", "clock_plain.go", "loop_field.go", "loop_count.go", "loop_none.go", "context_field.go",
    "context_none.go"
);
const ANCHORS: &str = include_str!("../../../../../hooks/go/anchors.json");
/// The program that rewrites counting loops.
const REWRITER_FILES: [(&str, &str); 8] = sources!("../../../../../hooks/go/rewrite/":
    "go.mod", "main.go", "definitions.go", "unit.go", "callers.go", "loop.go", "parallel.go", "rest.go"
);

/// Insertions and files that bring the hook into package `testing`; see `hooks/go/anchors.json`.
#[derive(Debug, Deserialize)]
struct Anchors {
    target: String,
    insertions: Vec<Insertion>,
    files: Vec<String>,
    variants: Vec<Vec<Variant>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Insertion {
    pub(super) anchor: String,
    insert: String,
    #[serde(default)]
    optional: bool,
}

#[derive(Debug, Deserialize)]
struct Variant {
    if_contains: Option<String>,
    file: String,
}

/// An overlay on disk.
#[derive(Debug)]
pub(super) struct Overlay {
    /// File for `-overlay`.
    pub(super) file: PathBuf,
    /// Import paths of the packages that have benchmarks, or test files that do not parse.
    pub(super) packages: BTreeSet<String>,
    /// Functions whose loop could not be rewritten.
    pub(super) not_rewritten: Vec<NotRewritten>,
    /// The declared benchmarks.
    pub(super) declared: BTreeMap<BenchmarkId, Declared>,
}

/// A function whose loop could not be rewritten: a benchmark's own, or one that benchmarks call.
#[derive(Debug)]
pub(super) struct NotRewritten {
    pub(super) id: BenchmarkId,
    /// Its name with place and reason.
    pub(super) words: String,
}

impl Overlay {
    /// Makes the overlay for one version below `place`.
    pub(super) fn write(toolchain: &Toolchain, packages: &[Package], place: &Path) -> Result<Overlay, RunError> {
        let mut replace = BTreeMap::new();
        hook_testing(toolchain, place, &mut replace)?;
        let answer = rewrite_loops(toolchain, packages, place)?;
        let mut with_benchmarks = BTreeSet::new();
        let mut not_rewritten = Vec::new();
        let owner: BTreeMap<PathBuf, &str> =
            packages.iter().flat_map(|p| p.test_files().map(|f| (f, p.import_path.as_str()))).collect();
        for file in answer.files {
            if file.may_have_benchmarks()
                && let Some(package) = owner.get(&file.path)
            {
                with_benchmarks.insert((*package).to_owned());
            }
            let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let package = owner.get(&file.path).copied().unwrap_or_default();
            not_rewritten.extend(file.refused.iter().map(|r| NotRewritten {
                id: BenchmarkId { package: package.to_owned(), name: r.function.clone() },
                words: format!("{} ({name}:{}, {})", r.function, r.line, r.reason),
            }));
            if file.changed {
                replace.insert(file.path, file.out);
            }
        }
        let file = write_replacements(&replace, place)?;
        let mut by_folder = answer.definitions;
        let of_package = |p: &Package| {
            let package = p.import_path.clone();
            let id = move |name: String| BenchmarkId { package: package.clone(), name };
            by_folder.remove(&p.dir).unwrap_or_default().into_iter().map(move |one| (id(one.benchmark), one.declared))
        };
        let declared = packages.iter().flat_map(of_package).collect();
        Ok(Overlay { file, packages: with_benchmarks, not_rewritten, declared })
    }

    /// The declared benchmarks, with paths as they are in the version's tree.
    pub(super) fn declared_within(mut self, tree: &Path) -> BTreeMap<BenchmarkId, Declared> {
        for part in self.declared.values_mut().flat_map(|one| &mut one.parts) {
            if let Ok(path) = Path::new(&part.path).strip_prefix(tree) {
                part.path = path.to_string_lossy().into_owned();
            }
        }
        self.declared
    }
}

/// Writes the file for `-overlay` that says which files are seen in place of others.
pub(super) fn write_replacements(replace: &BTreeMap<PathBuf, PathBuf>, place: &Path) -> Result<PathBuf, RunError> {
    let file = place.join("overlay.json");
    write(&file, serde_json::json!({ "Replace": replace }).to_string())?;
    Ok(file)
}

/// Writes a file anew; an error names it.
pub(super) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), RunError> {
    fs::write(path, content).map_err(|e| RunError::file("write", path, e))
}

/// Adds the hooked `testing/benchmark.go` and the hook's own files.
fn hook_testing(toolchain: &Toolchain, place: &Path, replace: &mut BTreeMap<PathBuf, PathBuf>) -> Result<(), RunError> {
    let anchors: Anchors = serde_json::from_str(ANCHORS)
        .map_err(|e| RunError::toolchain(format!("the built-in anchors are broken: {e}")))?;
    let target = toolchain.root.join(&anchors.target);
    let original = fs::read_to_string(&target).map_err(|e| RunError::file("read", &target, e))?;
    let hooked = insert_all(&original, &anchors.insertions, &target).map_err(|anchor| {
        RunError::toolchain(format!(
            "duet's hook does not fit {}: `{anchor}` is not where it used to be",
            toolchain.version
        ))
        .hint("a newer duet may know this release; an older Go works, for instance with `GOTOOLCHAIN=go1.26.0`")
    })?;
    let patched = place.join("benchmark.go");
    write(&patched, &hooked)?;
    replace.insert(target.clone(), patched);
    let chosen = anchors.variants.iter().filter_map(|list| {
        list.iter().find(|v| v.if_contains.as_ref().is_none_or(|text| original.contains(text))).map(|v| &v.file)
    });
    for name in anchors.files.iter().chain(chosen) {
        let source = HOOK_FILES.iter().find(|(known, _)| known == name).map_or("", |(_, text)| text);
        let added = place.join(format!("duet_{name}"));
        write(&added, installed(source))?;
        replace.insert(target.with_file_name(format!("duet_{name}")), added);
    }
    Ok(())
}

/// A hook source as a part of package `testing`.
fn installed(source: &str) -> String {
    let source = source.strip_prefix("//go:build duet_hook\n").unwrap_or(source);
    source.replacen("package duethook\n", "package testing\n", 1)
}

/// Applies the insertions; fails with the first anchor that is missing or ambiguous.
pub(super) fn insert_all(original: &str, insertions: &[Insertion], target: &Path) -> Result<String, String> {
    let mut text = original.to_owned();
    for insertion in insertions {
        match original.matches(&insertion.anchor).count() {
            0 if insertion.optional => continue,
            1 => {}
            _ => return Err(insertion.anchor.trim().to_owned()),
        }
        let end = original.find(&insertion.anchor).unwrap_or(0) + insertion.anchor.len();
        let line = original[..end].matches('\n').count() + 1;
        let with = format!("{}{}//line {}:{line}\n", insertion.anchor, insertion.insert, target.display());
        text = text.replacen(&insertion.anchor, &with, 1);
    }
    Ok(text)
}

#[derive(Debug, Serialize)]
struct RewriteFile {
    path: PathBuf,
    out: PathBuf,
}

#[derive(Debug, Deserialize)]
struct RewriteAnswer {
    files: Vec<Rewritten>,
    /// Definitions by folder.
    definitions: BTreeMap<PathBuf, Vec<Definition>>,
}

#[derive(Debug, Deserialize)]
struct Rewritten {
    path: PathBuf,
    out: PathBuf,
    #[serde(default)]
    benchmarks: Vec<String>,
    #[serde(default)]
    refused: Vec<Refused>,
    #[serde(default)]
    changed: bool,
    /// Why it could not be parsed.
    #[serde(default)]
    error: String,
}

impl Rewritten {
    /// A file that does not parse may have benchmarks: the compiler has the better words for what is wrong with it.
    fn may_have_benchmarks(&self) -> bool {
        !self.benchmarks.is_empty() || !self.error.is_empty()
    }
}

#[derive(Debug, Deserialize)]
struct Definition {
    benchmark: String,
    #[serde(flatten)]
    declared: Declared,
}

#[derive(Debug, Deserialize)]
struct Refused {
    function: String,
    line: u32,
    reason: String,
}

/// Rewrites the counting loops of all test files where that is safe. Go code is parsed by Go's own parser, in a small
/// program that the toolchain at hand builds.
fn rewrite_loops(toolchain: &Toolchain, packages: &[Package], place: &Path) -> Result<RewriteAnswer, RunError> {
    let program = rewriter(toolchain, place)?;
    let outputs = place.join("rewritten");
    fs::create_dir_all(&outputs).map_err(|e| RunError::file("create", &outputs, e))?;
    let files: Vec<RewriteFile> = packages
        .iter()
        .flat_map(Package::test_files)
        .enumerate()
        .map(|(n, path)| RewriteFile { path, out: outputs.join(format!("{n}_test.go")) })
        .collect();
    let failed = |what: String| RunError::toolchain(format!("rewriting benchmark loops failed: {what}"));
    let start = |source| RunError::Start { program: program.display().to_string(), source };
    let mut child = Command::new(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(start)?;
    let request = serde_json::json!({ "files": files }).to_string();
    if let Some(mut input) = child.stdin.take() {
        // A rewriter that died early says why on standard error.
        let _ = input.write_all(request.as_bytes());
    }
    let output = child.wait_with_output().map_err(start)?;
    if !output.status.success() {
        return Err(failed(shorten(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|e| failed(e.to_string()))
}

/// The rewriter, built unless an earlier run has kept it.
fn rewriter(toolchain: &Toolchain, place: &Path) -> Result<PathBuf, RunError> {
    let kept = Kept::of("rewriters", toolchain, REWRITER_FILES.iter().map(|(_, text)| *text));
    if let Some(program) = kept.found() {
        return Ok(program);
    }
    let dir = place.join("rewriter");
    fs::create_dir_all(&dir).map_err(|e| RunError::file("create", &dir, e))?;
    for (name, text) in REWRITER_FILES {
        write(&dir.join(name), text)?;
    }
    kept::build(toolchain, &dir, &["-o", "rewriter", "."])?;
    let built = dir.join("rewriter");
    Ok(kept.keep(&built).unwrap_or(built))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_that_the_anchors_name_is_built_in() {
        let anchors: Anchors = serde_json::from_str(ANCHORS).unwrap();
        let named = anchors.files.iter().chain(anchors.variants.iter().flatten().map(|v| &v.file));
        let named: BTreeSet<&str> = named.map(String::as_str).collect();
        let known: BTreeSet<&str> = HOOK_FILES.iter().map(|(name, _)| *name).collect();
        assert_eq!(named, known);
    }

    #[test]
    fn insertions_keep_upstream_line_numbers() {
        let insertions = [Insertion { anchor: "func b() {\n".into(), insert: "\tx()\n".into(), optional: false }];
        let text = insert_all("line1\nfunc b() {\nline3\n", &insertions, Path::new("/r/b.go")).unwrap();
        assert_eq!(text, "line1\nfunc b() {\n\tx()\n//line /r/b.go:3\nline3\n");
        assert!(insert_all("nothing\n", &insertions, Path::new("/r/b.go")).is_err());
        assert!(insert_all("func b() {\nfunc b() {\n", &insertions, Path::new("/r/b.go")).is_err());
    }

    #[test]
    fn installed_sources_belong_to_testing() {
        for (name, text) in HOOK_FILES {
            let installed = installed(text);
            assert!(installed.contains("package testing\n") && !installed.contains("go:build"), "{name}");
        }
    }
}
