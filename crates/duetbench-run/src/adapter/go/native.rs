//! C sources outside of a package's folder: the go command does not know them, and with `-trimpath` takes what it built of another
//! version's for this one's.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::adapter::hex;

/// Endings of what C compilers and assemblers read.
const ENDINGS: [&str; 13] = ["c", "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "inc", "m", "s", "S", "sx"];
/// The line by which a Go file asks for C.
const IMPORT: &[u8] = b"import \"C\"";

/// A flag for the C preprocessor that stands for all C sources of a tree, so that other sources are built anew; absent where no Go file in
/// it asks for C.
pub(super) fn flag(tree: &Path) -> Option<String> {
    let mut found = Found { sources: Sha256::new(), has_sources: false, is_wanted: false };
    found.look(tree, tree);
    (found.has_sources && found.is_wanted).then(|| format!("-DDUET_TREE_{}", &hex(&found.sources.finalize())[..16]))
}

struct Found {
    sources: Sha256,
    has_sources: bool,
    is_wanted: bool,
}

impl Found {
    fn look(&mut self, tree: &Path, dir: &Path) {
        let mut entries: Vec<_> = fs::read_dir(dir).into_iter().flatten().flatten().collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries.iter().filter(|entry| entry.file_name() != ".git") {
            let path = entry.path();
            let ending = path.extension().unwrap_or_default();
            match entry.file_type() {
                Ok(what) if what.is_dir() => self.look(tree, &path),
                Ok(_) if ENDINGS.iter().any(|known| ending == *known) => {
                    self.has_sources = true;
                    self.sources.update(path.strip_prefix(tree).unwrap_or(&path).as_os_str().as_encoded_bytes());
                    self.sources.update([0]);
                    self.sources.update(Sha256::digest(fs::read(&path).unwrap_or_default()));
                }
                Ok(_) if ending == "go" && !self.is_wanted => {
                    let text = fs::read(&path).unwrap_or_default();
                    self.is_wanted = memchr::memmem::find(&text, IMPORT).is_some();
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_sources_count_where_go_asks_for_them() {
        let place = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            fs::create_dir_all(place.path().join(name).parent().unwrap()).unwrap();
            fs::write(place.path().join(name), text).unwrap();
            flag(place.path())
        };
        assert_eq!(write("native/work.h", "int a;"), None);
        assert_eq!(write("p/p.go", "package p\n"), None);
        let one = write("q/q.go", "package q\n\nimport \"C\"\n");
        assert!(one.is_some());
        assert_eq!(write("q/q.txt", "not compiled"), one);
        assert_ne!(write("native/work.h", "int b;"), one);
    }
}
