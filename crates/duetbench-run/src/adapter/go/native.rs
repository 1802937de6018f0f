//! Sources that the go command does not know, because they lie outside of a package's folder or have an ending of their own: with
//! `-trimpath` it takes what it built of another version's for this one's.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::adapter::hex;
use crate::tree;

/// A flag for the C preprocessor that stands for all that a compiler of a tree's C may read, so that other sources are built anew; absent
/// where no Go file in it asks for C. Whatever C includes may have any ending.
pub(super) fn flag(tree: &Path) -> Option<String> {
    tells_cgo(tree).then(|| {
        let mut digest = Sha256::new();
        tree::visit(tree, &mut |path| {
            if path.extension().is_none_or(|ending| ending != "go") {
                digest.update(path.strip_prefix(tree).unwrap_or(path).as_os_str().as_encoded_bytes());
                digest.update([0]);
                digest.update(Sha256::digest(fs::read(path).unwrap_or_default()));
            }
        });
        format!("-DDUET_TREE_{}", &hex(&digest.finalize())[..16])
    })
}

/// Whether a Go file of a tree asks for C, or is built by whether others may.
pub(crate) fn tells_cgo(tree: &Path) -> bool {
    let mut tells = false;
    tree::visit(tree, &mut |path| {
        if !tells && path.extension().is_some_and(|ending| ending == "go") {
            tells = String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).lines().any(is_about_cgo);
        }
    });
    tells
}

fn is_about_cgo(line: &str) -> bool {
    let imports = line.trim_end().trim_start().trim_start_matches("import").trim_start();
    imports.starts_with("\"C\"") || line.starts_with("//go:build ") && line.contains("cgo")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flag_without(place: &Path, name: &str) -> Option<String> {
        fs::remove_file(place.join(name)).unwrap();
        flag(place)
    }

    #[test]
    fn what_is_built_by_whether_there_is_cgo_is_told() {
        for (text, tells) in [
            ("import \"C\"", true),
            ("import (\n\t\"C\"\n)", true),
            ("//go:build !cgo", true),
            ("//go:build linux", false),
            ("import \"fmt\"\nvar x = \"cgo\"", false),
        ] {
            assert_eq!(text.lines().any(is_about_cgo), tells, "{text}");
        }
    }

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
        assert_eq!(write("q/r.go", "package q\n"), one);
        assert_eq!(write("q/testdata/q.txt", "not compiled"), one);
        assert_ne!(write("native/work.h", "int b;"), one);
        assert_ne!(write("native/table.def", "1,"), flag_without(place.path(), "native/table.def"));
    }
}
