//! Whether two builds of a program can behave differently.

use std::path::Path;

use crate::adapter::changes::Changes;
use crate::adapter::{Artifact, Identity};

/// The folder of what cargo makes.
pub(super) const MADE: &str = "target";
/// Endings of what is compiled in, or written for people.
const ENDINGS: [&str; 3] = ["rs", "md", "lock"];
/// Files that only cargo reads.
const MANIFEST: &str = "Cargo.toml";

/// Compares two programs, and where those are equal all that lies around them.
pub(super) fn compare<'c>([a, b]: [&Artifact; 2], changes: impl Fn() -> &'c Changes) -> Identity {
    if a.digest != b.digest {
        return Identity::Different("the programs differ".to_owned());
    }
    match changes().first(may_be_read) {
        None => Identity::Identical,
        Some(path) => Identity::Different(format!("`{}` differs, which they may read", path.display())),
    }
}

fn may_be_read(path: &Path) -> bool {
    let aside = path.extension().is_some_and(|ending| ENDINGS.iter().any(|other| ending == *other));
    !aside && path.file_name().is_none_or(|name| name != MANIFEST)
}
