//! The files that differ between two source trees, and which of them a package's benchmarks may read.
//!
//! No tool can tell what a program is going to open. The rules here assume that it comes by a path in one of three ways: the path
//! or a part of it is a constant, the file lies around the package, or it is test data.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::program::Program;

/// Directories that no benchmark has a business with: the history, and our own store.
const NOT_SOURCE: [&str; 2] = [".git", ".duet"];
/// Files that only the Go command reads, beside those with Go in them.
const BUILD_FILES: [&str; 4] = ["go.mod", "go.sum", "go.work", "go.work.sum"];
/// Endings of what is compiled in, or written for people.
const ASIDE_ENDINGS: [&str; 11] = ["md", "s", "S", "c", "h", "cc", "cpp", "cxx", "hpp", "m", "syso"];
/// Documents, by the part of the name before the first dot.
const DOCUMENTS: [&str; 9] =
    ["README", "CHANGELOG", "CHANGES", "CONTRIBUTING", "LICENSE", "LICENCE", "AUTHORS", "SECURITY", "CODEOWNERS"];

/// The entry of a tree at one path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    File(u64),
    /// Target of the link, as written.
    Link(PathBuf),
    /// A file, link or directory that could not be read.
    Unreadable,
}

/// The differing files of two trees.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Relative to the roots: changed, added or removed.
    paths: BTreeSet<PathBuf>,
    /// Symbolic links to places inside of the tree: from, to.
    links: Vec<(PathBuf, PathBuf)>,
}

impl Changes {
    /// Compares two trees file by file.
    pub(super) fn between(roots: [&Path; 2]) -> Changes {
        if roots[0] == roots[1] {
            return Changes::default();
        }
        let [a, b] = roots.map(|root| {
            let mut found = BTreeMap::new();
            walk(root, Path::new(""), &mut found);
            found
        });
        let mut changes = Changes::default();
        for path in a.keys().chain(b.keys()) {
            if !same(path, roots, [a.get(path), b.get(path)]) {
                changes.paths.insert(path.clone());
            }
        }
        for (root, found) in [(roots[0], &a), (roots[1], &b)] {
            for (path, entry) in found {
                let Entry::Link(_) = entry else { continue };
                match fs::canonicalize(root.join(path)).map(|target| target.strip_prefix(root).map(Path::to_owned)) {
                    Ok(Ok(target)) => changes.links.push((path.clone(), target)),
                    // A target outside of the trees is the same for both only if both links lead to the same place.
                    Ok(Err(_)) if !leads_alike(path, roots) => drop(changes.paths.insert(path.clone())),
                    _ => {}
                }
            }
        }
        changes
    }

    /// A differing file that the benchmarks of the package in this directory may read.
    pub(super) fn readable(&self, dir: &Path, program: &Program<'_>) -> Option<&Path> {
        // A program that reads Go, or starts others that may.
        let reads_go = ["go/parser.Parse", "os/exec.Command"].iter().any(|function| program.links(function));
        let reads_go = reads_go || program.data_hold(b"*.go");
        let may_read = |path: &Path| counts(path, dir, program, reads_go);
        let through_links = |path: &Path| {
            let under = |(from, to): &(PathBuf, PathBuf)| Some(join(from, path.strip_prefix(to).ok()?));
            self.links.iter().filter_map(under).any(|seen| may_read(&seen))
        };
        self.paths.iter().map(PathBuf::as_path).find(|path| may_read(path) || through_links(path))
    }
}

fn join(dir: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { dir.to_owned() } else { dir.join(rest) }
}

fn leads_alike(path: &Path, roots: [&Path; 2]) -> bool {
    let [a, b] = roots.map(|root| fs::canonicalize(root.join(path)));
    matches!((a, b), (Ok(a), Ok(b)) if a == b)
}

/// Everything below `root/inside`, by its path relative to the root.
fn walk(root: &Path, inside: &Path, found: &mut BTreeMap<PathBuf, Entry>) {
    let Ok(entries) = fs::read_dir(join(root, inside)) else {
        found.insert(inside.to_owned(), Entry::Unreadable);
        return;
    };
    for entry in entries {
        let Ok(entry) = entry else {
            found.insert(inside.to_owned(), Entry::Unreadable);
            continue;
        };
        let (name, path) = (entry.file_name(), inside.join(entry.file_name()));
        if NOT_SOURCE.iter().any(|not| name == *not) {
            continue;
        }
        match entry.metadata() {
            Ok(what) if what.is_dir() => walk(root, &path, found),
            Ok(what) if what.is_symlink() => {
                let entry = fs::read_link(entry.path()).map_or(Entry::Unreadable, Entry::Link);
                found.insert(path, entry);
            }
            Ok(what) if what.is_file() => drop(found.insert(path, Entry::File(what.len()))),
            // Pipes and sockets hold nothing.
            Ok(_) => {}
            Err(_) => drop(found.insert(path, Entry::Unreadable)),
        }
    }
}

fn same(path: &Path, roots: [&Path; 2], entries: [Option<&Entry>; 2]) -> bool {
    match entries {
        [Some(Entry::File(a)), Some(Entry::File(b))] => {
            a == b && same_bytes(&roots[0].join(path), &roots[1].join(path)).unwrap_or(false)
        }
        [Some(Entry::Unreadable), _] => false,
        [a, b] => a == b,
    }
}

fn same_bytes(a: &Path, b: &Path) -> std::io::Result<bool> {
    let (mut a, mut b) = (fs::File::open(a)?, fs::File::open(b)?);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    loop {
        left.clear();
        right.clear();
        a.by_ref().take(1 << 16).read_to_end(&mut left)?;
        b.by_ref().take(1 << 16).read_to_end(&mut right)?;
        if left != right || left.is_empty() {
            return Ok(left == right);
        }
    }
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
    let is_named = || way.iter().any(|dir| holds(dir)) || ending.is_some_and(|end| holds(&format!("*{end}")));
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
