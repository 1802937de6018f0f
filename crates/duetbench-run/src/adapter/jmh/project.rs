//! From a source tree to a jar with benchmarks, by the project's own build.

use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use duetbench_core::spec::JmhSpec;

use super::jar;
use crate::adapter::Subject;
use crate::error::RunError;
use crate::source::Source;
use crate::tool::{Tool, shorten};
use crate::tree;

/// Folders that a build writes to.
const MADE: [&str; 3] = ["target", "build", "out"];
/// Files that tell a build how to go.
const BUILD_FILES: [&str; 5] =
    ["pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"];
/// Folders that tools keep for themselves.
const KEPT_BY_TOOLS: [&str; 3] = [".gradle", ".duet", "node_modules"];
/// The file that marks a folder as a cache (Cache Directory Tagging Specification, 0.6).
const CACHE_TAG: &str = "CACHEDIR.TAG";
/// Greatest depth below a version's directory at which a module with benchmarks is looked for.
const DEPTH_MAX: usize = 6;

/// Builds a version and gives the jar with its benchmarks.
///
/// The user's checkout is left as it is: a tree that is not ours is copied first.
///
/// # Errors
/// When the version does not build (the build tool's words), or when there is not exactly one jar with benchmarks after it.
pub(super) fn build(source: &Source, spec: &JmhSpec, place: &Path, subject: Subject<'_>) -> Result<PathBuf, RunError> {
    let tree = if source.is_ours() { source.tree.clone() } else { place.join("tree") };
    if !source.is_ours() {
        tree::copy(&source.tree, &tree, &is_source)?;
    }
    let dir = tree.join(source.dir.strip_prefix(&source.tree).unwrap_or(Path::new("")));
    let command = if spec.build.is_empty() { usual_command(&dir)? } else { spec.build.clone() };
    let (program, args) = command.split_first().ok_or_else(|| RunError::Toolchain {
        what: "`build` in `[jmh]` is empty".into(),
        hint: Some("as in `build = [\"mvn\", \"-q\", \"-DskipTests\", \"package\"]`, or leave it out".into()),
    })?;
    let output = Tool::new(program, args, &dir).output().map_err(|e| RunError::Toolchain {
        what: format!("{} (`{}`) cannot be built: {e}", subject.role.side(), subject.version),
        hint: Some("install the build tool, or set `build` in `[jmh]` of duet.toml".into()),
    })?;
    if !output.status.success() {
        // Maven writes its errors where others write their results.
        let said = [&output.stdout[..], &output.stderr[..]].concat();
        let (role, version) = (subject.role, subject.version.to_owned());
        return Err(RunError::Build { role, version, output: shorten(&said) });
    }
    match &spec.jar {
        Some(name) => Ok(dir.join(name)),
        None => find(&dir, subject),
    }
}

/// The build command that fits the project's build file.
fn usual_command(dir: &Path) -> Result<Vec<String>, RunError> {
    let has = |name: &str| dir.join(name).exists();
    let words: &[&str] = match () {
        () if has("mvnw") => &["./mvnw", "-B", "-q", "-DskipTests", "package"],
        () if has("pom.xml") => &["mvn", "-B", "-q", "-DskipTests", "package"],
        () if has("gradlew") => &["./gradlew", "-q", "--no-daemon", "jmhJar"],
        () if has("build.gradle") || has("build.gradle.kts") => &["gradle", "-q", "--no-daemon", "jmhJar"],
        () => {
            return Err(RunError::NothingToMeasure {
                what: format!("`{}` has neither a `pom.xml` nor a `build.gradle`", dir.display()),
                hint: Some("name two jars, or set `build` and `jar` in `[jmh]` of duet.toml".into()),
            });
        }
    };
    Ok(words.iter().map(|word| (*word).to_owned()).collect())
}

/// The one jar below a directory that holds benchmarks: of several the one that also holds JMH, as what `java -jar` runs does.
fn find(dir: &Path, subject: Subject<'_>) -> Result<PathBuf, RunError> {
    let mut jars = Vec::new();
    collect(dir, DEPTH_MAX, &mut jars);
    jars.sort();
    // A jar that cannot be read is a build's leftover and none of ours.
    let kinds = jars.into_iter().filter_map(|path| jar::kind(&path).ok().map(|kind| (path, kind)));
    let mut found: Vec<(PathBuf, jar::Kind)> = kinds.filter(|(_, kind)| kind.has_benchmarks).collect();
    if found.iter().any(|(_, kind)| kind.has_jmh) {
        found.retain(|(_, kind)| kind.has_jmh);
    }
    let version = format!("{} (`{}`)", subject.role.side(), subject.version);
    match &found[..] {
        [(only, _)] => Ok(only.clone()),
        [] => Err(RunError::NothingToMeasure {
            what: format!("{version} was built, but no jar of it holds JMH benchmarks"),
            hint: Some("a jar made by the shade plugin or `jmhJar` holds them; `build` and `jar` in `[jmh]` of duet.toml choose what is built".into()),
        }),
        several => {
            let inside = |path: &PathBuf| path.strip_prefix(dir).unwrap_or(path).display().to_string();
            let names: Vec<String> = several.iter().map(|(path, _)| inside(path)).collect();
            Err(RunError::NothingToMeasure {
                what: format!("{version} has benchmarks in several jars: {}", names.join(", ")),
                hint: Some("choose one with `jar` in `[jmh]` of duet.toml".into()),
            })
        }
    }
}

/// Jars in folders that builds write to; links are not followed.
fn collect(dir: &Path, depth: usize, jars: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.filter_map(Result::ok) {
        let (path, is_dir) = (entry.path(), entry.file_type().is_ok_and(|t| t.is_dir()));
        if is_dir && depth > 0 && entry.file_name() != ".git" {
            collect(&path, depth - 1, jars);
        } else if !is_dir && path.extension() == Some(OsStr::new("jar")) {
            jars.push(path);
        }
    }
}

/// Whether a folder of a tree may hold sources: it is none that tools keep or mark as a cache, as Cargo does, and none that a build
/// writes, which stands beside the build's file. A package of a language may have any name.
fn is_source(folder: &DirEntry) -> bool {
    let name = folder.file_name();
    let beside = |file: &&str| folder.path().with_file_name(file).exists();
    let is_made = MADE.iter().any(|made| name == *made) && BUILD_FILES.iter().any(beside);
    !is_made && !folder.path().join(CACHE_TAG).exists() && !KEPT_BY_TOOLS.iter().any(|kept| name == *kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_may_be_called_what_builds_call_their_folders() {
        let place = tempfile::tempdir().unwrap();
        let tree = place.path();
        let sources = "core/src/main/java/org/x";
        let folders = [
            "target",
            "core/build",
            ".gradle",
            "native/target",
            &format!("{sources}/build"),
            &format!("{sources}/target"),
        ];
        folders.iter().for_each(|folder| fs::create_dir_all(tree.join(folder)).unwrap());
        for file in ["pom.xml", "core/build.gradle", "native/target/CACHEDIR.TAG"] {
            fs::write(tree.join(file), "").unwrap();
        }
        let entry = |path: &str| {
            let path = tree.join(path);
            let beside = fs::read_dir(path.parent().unwrap()).unwrap();
            beside.flatten().find(|entry| entry.path() == path).unwrap()
        };
        assert_eq!(folders.map(|folder| is_source(&entry(folder))), [false, false, false, false, true, true]);
    }
}
