//! Whether two builds of a program can behave differently.

use std::ffi::OsStr;
use std::path::Path;

use crate::adapter::changes::Changes;
use crate::adapter::{Artifact, Identity};

/// The folder of what cargo makes.
pub(super) const MADE: &str = "target";
/// Folders whose Rust files are cargo's targets. Those in folders below may be modules of them, or data.
const TARGETS: [&str; 3] = ["benches", "tests", "examples"];
/// Folders of files for people.
const PROSE: [&str; 3] = [".github", "doc", "docs"];
/// Files that only cargo reads.
const OF_CARGO: [&str; 2] = ["Cargo.toml", "Cargo.lock"];

/// Compares two programs that were built in the folder `made`, and where those are equal all that lies around them.
pub(super) fn compare<'c>([a, b]: [&Artifact; 2], made: &Path, changes: impl Fn() -> &'c Changes) -> Identity {
    if a.digest != b.digest {
        return Identity::Different("the programs differ".to_owned());
    }
    let program = std::fs::read(&a.program).ok().filter(|bytes| !names_files_in(bytes, made));
    let Some(program) = program else {
        return Identity::Different("they name files that the build makes (`OUT_DIR`), which may differ".to_owned());
    };
    match changes().first(|path| may_be_read(path, &program)) {
        None => Identity::Identical,
        Some(path) => Identity::Different(format!("`{}` differs, which they may read", path.display())),
    }
}

/// Whether a program has a path in this folder in it: what lies there is made anew for each version, and is not compared.
fn names_files_in(program: &[u8], folder: &Path) -> bool {
    memchr::memmem::find(program, folder.as_os_str().as_encoded_bytes()).is_some()
}

/// Whether a file may be data for a program. Names of sources stand in every program, for its panics; other Rust files, and those that are
/// seldom data, stand in programs that read them, or their folders do.
fn may_be_read(path: &Path, program: &[u8]) -> bool {
    let Some(name) = path.file_name() else { return true };
    let folder = path.parent().and_then(Path::file_name);
    let ends_in = |wanted: &str| path.extension().is_some_and(|ending| ending == wanted);
    let is_source = path.iter().any(|part| part == "src")
        || name == "build.rs"
        || folder.is_some_and(|folder| TARGETS.iter().any(|of_targets| folder == *of_targets));
    if ends_in("rs") && is_source {
        return false;
    }
    let is_aside = ends_in("rs") || ends_in("md") || OF_CARGO.iter().any(|other| name == *other);
    let folder = folder.filter(|folder| !PROSE.iter().any(|prose| folder == prose));
    let is_named = |part: &OsStr| memchr::memmem::find(program, part.as_encoded_bytes()).is_some();
    !is_aside || is_named(name) || folder.is_some_and(is_named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_no_data_and_what_the_program_names_may_be() {
        let read = |path: &str| may_be_read(Path::new(path), b"..corpus..left.rs..README.md..docs..");
        for path in [
            "src/parse/mod.rs", "a/src/corpus/x.rs", "benches/left.rs", "a/tests/it.rs", "build.rs", "Cargo.toml",
            "docs/a.md",
        ] {
            assert!(!read(path), "{path}");
        }
        for path in
            ["corpus/x.rs", "benches/corpus/x.rs", "corpus/x.md", "left.rs", "README.md", "data.json", "docs/x.json"]
        {
            assert!(read(path), "{path}");
        }
    }
}
