//! The benchmarks of one version on the code of the other: its test files in place of that version's own, package by package, as far as
//! they compile there.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::packages::{self, Package};
use super::{Go, modules};
use crate::adapter::Unfit;
use crate::error::RunError;
use crate::source::Source;
use crate::tree;

/// Ending of the files that only tests are built from.
const TEST_FILE: &str = "_test.go";
/// The folder of what tests read.
const DATA: &str = "testdata";
/// The one that a package had itself, until its tests have compiled with another.
const OWN_DATA: &str = ".duet-testdata";
/// Lines that a compiler's complaint is quoted with.
const COMPLAINT_LINES_MAX: usize = 3;

/// A package whose test files were exchanged.
struct Exchanged {
    /// Its folder in the version whose benchmarks are taken.
    from: PathBuf,
    /// Its folder in the version that gets them.
    onto: PathBuf,
    /// The test files that this one had.
    own: Vec<(PathBuf, Vec<u8>)>,
}

/// Gives a version the test files of another one, wherever it has the package; tells where they do not compile, which is left as it was.
pub(super) fn lay_over(go: &Go, of: &Source, onto: &Source, patterns: &[String]) -> Result<Vec<Unfit>, RunError> {
    let mut exchanged: BTreeMap<String, Exchanged> = BTreeMap::new();
    let mut unfit = Vec::new();
    for package in packages::list(&go.toolchain, &go.arguments.build, of, &go.patterns_of(of, patterns))? {
        if let Some(there) = counterpart(&package, of, onto) {
            exchanged.insert(package.import_path, Exchanged::make(package.dir, there)?);
        } else if has_benchmarks(&package) {
            unfit.push(Unfit { package: package.import_path, words: None });
        }
    }
    // Tests may embed it, and do not compile without.
    exchanged.values().try_for_each(Exchanged::add_data)?;
    for (package, words) in complaints(go, onto, &go.patterns_of(onto, patterns))? {
        if let Some(refused) = exchanged.remove(&package) {
            refused.undo()?;
            unfit.push(Unfit { package, words: Some(words) });
        }
    }
    exchanged.values().try_for_each(|one| remove(&one.onto.join(OWN_DATA)))?;
    Ok(unfit)
}

/// The folder of a package in the other version, where that has it too: as seen from the project's directory, or from a folder around it.
/// One that a link leads to from there is nobody's copy, and its files are not ours to exchange.
fn counterpart(package: &Package, of: &Source, onto: &Source) -> Option<PathBuf> {
    let around = of.dir.ancestors().zip(onto.dir.ancestors());
    let mut inside = around.take_while(|(from, to)| from.starts_with(&of.tree) && to.starts_with(&onto.tree));
    let there = inside.find_map(|(from, to)| Some(to.join(package.dir.strip_prefix(from).ok()?)))?;
    if !there.canonicalize().ok()?.starts_with(onto.tree.canonicalize().ok()?) {
        return None;
    }
    let is_go = |entry: fs::DirEntry| entry.path().extension().is_some_and(|extension| extension == "go");
    fs::read_dir(&there).ok()?.flatten().any(is_go).then_some(there)
}

/// Whether there is a benchmark among a package's tests: others are not missed.
fn has_benchmarks(package: &Package) -> bool {
    let declares =
        |path: PathBuf| fs::read(path).is_ok_and(|text| memchr::memmem::find(&text, b"func Benchmark").is_some());
    package.test_files().any(declares)
}

impl Exchanged {
    fn make(from: PathBuf, onto: PathBuf) -> Result<Exchanged, RunError> {
        let mut own = Vec::new();
        for path in test_files(&onto)? {
            let text = fs::read(&path).map_err(|e| RunError::file("read", &path, e))?;
            fs::remove_file(&path).map_err(|e| RunError::file("remove", &path, e))?;
            own.push((path, text));
        }
        for path in test_files(&from)? {
            let target = onto.join(path.file_name().unwrap_or_default());
            tree::copy_file(&path, &target).map_err(|e| RunError::file("copy", &path, e))?;
        }
        Ok(Exchanged { from, onto, own })
    }

    fn undo(self) -> Result<(), RunError> {
        for path in test_files(&self.onto)? {
            fs::remove_file(&path).map_err(|e| RunError::file("remove", &path, e))?;
        }
        for (path, text) in &self.own {
            fs::write(path, text).map_err(|e| RunError::file("write", path, e))?;
        }
        if self.from.join(DATA).is_dir() {
            remove(&self.onto.join(DATA))?;
            self.move_data(OWN_DATA, DATA)?;
        }
        Ok(())
    }

    /// Files that these benchmarks read come with them, and replace those of the same names.
    fn add_data(&self) -> Result<(), RunError> {
        let (data, onto, own) = (self.from.join(DATA), self.onto.join(DATA), self.onto.join(OWN_DATA));
        if !data.is_dir() {
            return Ok(());
        }
        self.move_data(DATA, OWN_DATA)?;
        if own.is_dir() && !own.is_symlink() {
            tree::copy(&own, &onto, &|_| true)?;
        }
        tree::copy(&data, &onto, &|_| true)
    }

    fn move_data(&self, from: &str, to: &str) -> Result<(), RunError> {
        let (from, to) = (self.onto.join(from), self.onto.join(to));
        if from.symlink_metadata().is_err() {
            return Ok(()); // it has none
        }
        fs::rename(&from, to).map_err(|e| RunError::file("move", &from, e))
    }
}

/// Removes a folder, or a link and not what it leads to; nothing may be there.
fn remove(path: &Path) -> Result<(), RunError> {
    match if path.is_symlink() { fs::remove_file(path) } else { fs::remove_dir_all(path) } {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(RunError::file("remove", path, error)),
        _ => Ok(()),
    }
}

fn test_files(dir: &Path) -> Result<Vec<PathBuf>, RunError> {
    let entries = fs::read_dir(dir).map_err(|e| RunError::file("read", dir, e))?;
    let paths = entries.flatten().map(|entry| entry.path());
    Ok(paths.filter(|path| path.to_string_lossy().ends_with(TEST_FILE) && path.is_file()).collect())
}

/// A package, or its tests, as `go list -export` compiled it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Compiled {
    #[serde(default)]
    import_path: String,
    #[serde(default)]
    for_test: String,
    error: Option<Complaint>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Complaint {
    err: String,
}

/// The compiler's complaints about tests, by package.
fn complaints(go: &Go, source: &Source, patterns: &[String]) -> Result<BTreeMap<String, String>, RunError> {
    let mut found = BTreeMap::new();
    if patterns.is_empty() {
        return Ok(found);
    }
    for place in modules::places(&go.toolchain, source, patterns)? {
        let fixed = ["list", "-e", "-export", "-test", "-json=ImportPath,ForTest,Error"];
        let flags = packages::flags_of_list(&go.arguments.build);
        let args = fixed.into_iter().chain(flags).chain(["--"]).chain(place.patterns.iter().map(String::as_str));
        let text = go.toolchain.command(args, &place.dir).text()?;
        for one in serde_json::Deserializer::from_str(&text).into_iter::<Compiled>().flatten() {
            let package = if one.for_test.is_empty() { one.import_path } else { one.for_test };
            if let Some(error) = one.error {
                found.entry(package).or_insert_with(|| quoted(&error.err));
            }
        }
    }
    Ok(found)
}

/// The beginning of a compiler's complaint, on one line.
fn quoted(complaint: &str) -> String {
    let lines = complaint.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.take(COMPLAINT_LINES_MAX).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_is_quoted_without_the_name_of_the_package() {
        let complaint = "# example.com/p [example.com/p.test]\np/p_test.go:3:60: undefined: G\np/p_test.go:4:1: x\n";
        assert_eq!(quoted(complaint), "p/p_test.go:3:60: undefined: G; p/p_test.go:4:1: x");
    }
}
