//! The files that differ between two source trees.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::source::Source;
use crate::tree;

/// Directories that no benchmark has a business with: the history, and our own store.
const NOT_SOURCE: [&str; 2] = [".git", ".duet"];

/// Names of a path through links that are looked at: where links go round in circles there is no end of them.
const NAMES_MAX: usize = 100;

/// The entry of a tree at one path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    File(u64),
    /// Target of the link, as written.
    Link(PathBuf),
    /// A file, link or directory that could not be read.
    Unreadable,
}

/// Why nothing is proven where there are no [`roots`].
pub(super) const APART: &str = "the two versions' directories do not correspond";

/// The directories whose files are compared; absent when those of the two versions do not correspond.
///
/// They are the trees that the versions belong to. Of one tree they are the two versions' directories, or those around them in which
/// they lie alike: what lies beside them is the same file for both.
pub fn roots<'a>(baseline: &'a Source, candidate: &'a Source) -> Option<[&'a Path; 2]> {
    if baseline.tree == candidate.tree {
        return apart([&baseline.dir, &candidate.dir]);
    }
    let inside = |source: &Source| source.dir.strip_prefix(&source.tree).map(Path::to_owned).ok();
    let corresponding = inside(baseline).is_some() && inside(baseline) == inside(candidate);
    corresponding.then_some([baseline.tree.as_path(), candidate.tree.as_path()])
}

/// The folders around two directories of one tree that lie beside each other, with equal paths from there.
fn apart([mut a, mut b]: [&Path; 2]) -> Option<[&Path; 2]> {
    while a != b && a.parent() != b.parent() {
        if a.file_name() != b.file_name() {
            return None;
        }
        (a, b) = (a.parent()?, b.parent()?);
    }
    Some([a, b])
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
    /// Compares two trees file by file, without what tools keep in folders of these names: those that say of themselves that they are a cache.
    pub(super) fn between(roots: [&Path; 2], aside: &[&str]) -> Changes {
        if roots[0] == roots[1] {
            return Changes::default();
        }
        let [a, b] = roots.map(|root| {
            let mut found = BTreeMap::new();
            walk(root, Path::new(""), aside, &mut found);
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

    /// A differing file that a program may read, by its own path or by one that leads there through a link.
    pub(super) fn first(&self, may_read: impl Fn(&Path) -> bool) -> Option<&Path> {
        let through_links = |path: &Path| self.names_of(path).iter().any(|seen| may_read(seen));
        self.paths.iter().map(PathBuf::as_path).find(|path| may_read(path) || through_links(path))
    }

    /// Paths that lead to this one through links, also through several; not all where links go round in circles.
    fn names_of(&self, path: &Path) -> Vec<PathBuf> {
        let under = |path: &Path| {
            let through = |(from, to): &(PathBuf, PathBuf)| Some(join(from, path.strip_prefix(to).ok()?));
            self.links.iter().filter_map(through).collect::<Vec<PathBuf>>()
        };
        let (mut names, mut next) = (under(path), 0);
        while next < names.len() && names.len() < NAMES_MAX {
            let further = under(&names[next]).into_iter().filter(|name| !names.contains(name));
            let further: Vec<PathBuf> = further.collect();
            names.extend(further);
            next += 1;
        }
        names
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
fn walk(root: &Path, inside: &Path, aside: &[&str], found: &mut BTreeMap<PathBuf, Entry>) {
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
            Ok(what) if what.is_dir() && aside.iter().any(|other| name == *other) && tree::is_cache(&entry.path()) => {}
            Ok(what) if what.is_dir() => walk(root, &path, aside, found),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(links: &[(&str, &str)], wanted: &str) -> bool {
        let links = links.iter().map(|(from, to)| (PathBuf::from(from), PathBuf::from(to))).collect();
        let changes = Changes { paths: BTreeSet::from(["data/corpus/a.txt".into()]), links };
        changes.first(|path| path == Path::new(wanted)).is_some()
    }

    #[test]
    fn a_file_is_found_through_several_links_and_where_they_go_round_in_circles() {
        let links = [("p/testdata", "shared"), ("shared/corpus", "data/corpus")];
        assert!(finds(&links, "data/corpus/a.txt") && finds(&links, "shared/corpus/a.txt"));
        assert!(finds(&links, "p/testdata/corpus/a.txt") && !finds(&links, "p/testdata/a.txt"));
        assert!(finds(&[("loop", "")], "loop/loop/data/corpus/a.txt") && !finds(&[("loop", "")], "loop/a.txt"));
    }
}
