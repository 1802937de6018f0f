//! Files that a package's benchmarks may read.
//!
//! No tool can tell what a program is going to open. The rules here assume that it comes by a path in one of three ways: the path
//! or a part of it is a constant, the file lies around the package, or it is test data.

use std::path::Path;

use super::program::Program;
use crate::adapter::changes::Changes;

/// Files that only the Go command reads, beside those with Go in them.
const BUILD_FILES: [&str; 4] = ["go.mod", "go.sum", "go.work", "go.work.sum"];
/// Endings of what is compiled in, or written for people.
const ASIDE_ENDINGS: [&str; 11] = ["md", "s", "S", "c", "h", "cc", "cpp", "cxx", "hpp", "m", "syso"];
/// Documents, by the part of the name before the first dot.
const DOCUMENTS: [&str; 9] =
    ["README", "CHANGELOG", "CHANGES", "CONTRIBUTING", "LICENSE", "LICENCE", "AUTHORS", "SECURITY", "CODEOWNERS"];

/// Functions by which a program reads Go, or starts others.
const READS_GO: [&str; 6] = [
    "go/parser.Parse", "os.StartProcess", "os/exec.Command", "os/exec.(*Cmd).Start", "syscall.ForkExec", "syscall.Exec",
];

/// Whether a program reads Go, or starts others that may.
pub(super) fn reads_go(program: &Program<'_>) -> bool {
    READS_GO.iter().any(|function| program.links(function))
}

/// A differing file that the benchmarks of the package in this directory may read.
pub(super) fn readable<'c>(
    changes: &'c Changes,
    dir: &Path,
    program: &Program<'_>,
    reads_go: bool,
) -> Option<&'c Path> {
    let reads_go = reads_go || program.data_hold(b"*.go");
    changes.first(|path| counts(path, dir, program, reads_go))
}

/// Whether benchmarks of the package in `dir` may read the file.
fn counts(path: &Path, dir: &Path, program: &Program<'_>, reads_go: bool) -> bool {
    let names: Option<Vec<&str>> = path.iter().map(|name| name.to_str()).collect();
    let Some((&base, dirs)) = names.as_deref().and_then(|names| names.split_last()) else {
        // A name that is no text cannot be looked for; no name stands for a tree that cannot be read.
        return true;
    };
    let holds = |text: &str| program.data_hold(text.as_bytes());
    let ending = base.rfind('.').filter(|&dot| dot > 0).map(|dot| &base[dot..]);
    if dirs.contains(&"testdata") || holds(base) {
        return true;
    }
    // Seen from the package, where benchmarks run, the way leads up to what both have in common and down through these.
    let common = path.iter().zip(dir).take_while(|(a, b)| a == b).count();
    let way = dirs.get(common..).unwrap_or_default();
    // Every program has names of packages, so that `.github` would be found in `T.github.com/m.T` wherever there are such.
    let is_dir_named = |dir: &str| program.data_hold_but_before(dir.as_bytes(), b".com/");
    let is_named = || way.iter().any(|dir| is_dir_named(dir)) || ending.is_some_and(|end| holds(&format!("*{end}")));
    match (kind(base, dirs), path.starts_with(dir)) {
        (Kind::BuildInput, _) => reads_go && base.ends_with(".go"),
        (Kind::Other, true) => true,
        (Kind::Aside, true) => is_named() || ending.is_some_and(holds),
        (Kind::Aside | Kind::Other, false) => is_named(),
    }
}

/// Purpose of a file, as far as its name tells.
enum Kind {
    /// For the Go command alone: it shows in the binary if it matters.
    BuildInput,
    /// Compiled in, hidden, or for people: not likely to be read by a program.
    Aside,
    Other,
}

fn kind(base: &str, dirs: &[&str]) -> Kind {
    let (stem, extension) = (base.split('.').next().unwrap_or_default(), base.rsplit_once('.').map_or("", |(_, e)| e));
    // The Go command passes over these directories, so that Go in them is data.
    let is_passed_over = dirs.iter().any(|dir| dir.starts_with(['_', '.']));
    let is_document = DOCUMENTS.contains(&stem.to_ascii_uppercase().as_str()) || ASIDE_ENDINGS.contains(&extension);
    let is_hidden = dirs.iter().chain([&base]).any(|name| name.starts_with('.'));
    if !is_passed_over && (extension == "go" || BUILD_FILES.contains(&base)) {
        Kind::BuildInput
    } else if is_document || is_hidden {
        Kind::Aside
    } else {
        Kind::Other
    }
}
