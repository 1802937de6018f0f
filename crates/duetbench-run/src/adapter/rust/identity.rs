//! Whether two builds of a program can behave differently.

use std::path::Path;

use crate::adapter::changes::Changes;
use crate::adapter::{Artifact, Identity};

/// The folder of what cargo makes.
pub(super) const MADE: &str = "target";
/// Files that only cargo reads.
const OF_CARGO: [&str; 2] = ["Cargo.toml", "Cargo.lock"];

/// Compares two programs that were built in the folder `made`, and where those are equal all that lies around them.
pub(super) fn compare<'c>([a, b]: [&Artifact; 2], made: &Path, changes: impl Fn() -> &'c Changes) -> Identity {
    if a.digest != b.digest {
        return Identity::Different("the programs differ".to_owned());
    }
    let program = std::fs::read(&a.program);
    if program.as_ref().map_or(true, |bytes| names_files_in(bytes, made)) {
        return Identity::Different("they name files that the build makes (`OUT_DIR`), which may differ".to_owned());
    }
    let program = program.unwrap_or_default();
    match changes().first(|path| may_be_read(path, &program)) {
        None => Identity::Identical,
        Some(path) => Identity::Different(format!("`{}` differs, which they may read", path.display())),
    }
}

/// Whether a program has a path in this folder in it: what lies there is made anew for each version, and is not compared.
fn names_files_in(program: &[u8], folder: &Path) -> bool {
    memchr::memmem::find(program, folder.as_os_str().as_encoded_bytes()).is_some()
}

/// Whether a file may be data for a program. Names of sources stand in every program, for its panics; the others that are no data stand in
/// those that read them.
fn may_be_read(path: &Path, program: &[u8]) -> bool {
    let Some(name) = path.file_name() else { return true };
    let is_source = path.extension().is_some_and(|ending| ending == "rs");
    let is_aside = path.extension().is_some_and(|ending| ending == "md") || OF_CARGO.iter().any(|other| name == *other);
    !is_source && (!is_aside || memchr::memmem::find(program, name.as_encoded_bytes()).is_some())
}
