//! Whether two builds of a program can behave differently.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::adapter::{Artifact, Identity};
use crate::source::Source;

/// Folders that no benchmark has a business with.
const ASIDE: [&str; 3] = [".git", ".duet", "target"];
/// Endings of what is compiled in, or written for people.
const ENDINGS: [&str; 3] = ["rs", "md", "lock"];
/// Files that only cargo reads.
const MANIFEST: &str = "Cargo.toml";

/// Files of a tree that a program may read, by their path inside of it.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// The data files of two trees.
pub(super) struct Trees(Option<[Files; 2]>);

impl Trees {
    /// Reads both trees, unless they are the same one.
    pub(super) fn of([a, b]: [&Source; 2]) -> Trees {
        Trees((a.tree != b.tree).then(|| [files(&a.tree), files(&b.tree)]))
    }

    /// Compares two programs, and all that lies around them.
    pub(super) fn compare(&self, [a, b]: [&Artifact; 2]) -> Identity {
        if a.digest != b.digest {
            return Identity::Different("the programs differ".to_owned());
        }
        let Some([a, b]) = &self.0 else { return Identity::Identical };
        let differing = a.iter().find(|(path, digest)| b.get(*path) != Some(*digest));
        match differing.or_else(|| b.iter().find(|(path, _)| !a.contains_key(*path))) {
            None => Identity::Identical,
            Some((path, _)) => Identity::Different(format!("`{}` differs, which they may read", path.display())),
        }
    }
}

fn files(tree: &Path) -> Files {
    let mut found = Files::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(tree.join(&folder)).into_iter().flatten().flatten() {
            let (name, path) = (entry.file_name(), folder.join(entry.file_name()));
            let aside = path.extension().is_some_and(|ending| ENDINGS.iter().any(|other| ending == *other));
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !ASIDE.iter().any(|other| name == *other) => folders.push(path),
                Ok(kind) if kind.is_file() && !aside && name != MANIFEST => {
                    // What cannot be read differs from everything, itself included in another tree.
                    let unread = || tree.join(&path).into_os_string().into_encoded_bytes();
                    let digest = fs::read(tree.join(&path)).map_or_else(|_| unread(), |b| Sha256::digest(b).to_vec());
                    found.insert(path, digest);
                }
                _ => {}
            }
        }
    }
    found
}
