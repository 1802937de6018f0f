//! Sources that the go command does not know, because they lie outside of a package's folder or have an ending of their own: with
//! `-trimpath` it takes what it built of another version's for this one's.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::adapter::hex;
use crate::tree;

/// Endings of what C compilers and assemblers read.
const ENDINGS: [&str; 13] = ["c", "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "inc", "m", "s", "S", "sx"];
/// Longest name that is looked for in C.
const NAME_MAX: usize = 256;

/// A flag for the C preprocessor that stands for all C sources of a tree, so that other sources are built anew; absent where no Go file in
/// it asks for C. Sources are also those whose names others hold between quotes, whatever their endings.
pub(super) fn flag(tree: &Path) -> Option<String> {
    if !tells_cgo(tree) {
        return None;
    }
    let (mut sources, mut others) = (Vec::new(), Vec::new());
    let mut names = BTreeSet::new();
    tree::visit(tree, &mut |path| match path.extension().and_then(OsStr::to_str) {
        Some("go") => names_in(path, &mut names),
        Some(ending) if ENDINGS.contains(&ending) => sources.push(path.to_owned()),
        _ => others.push(path.to_owned()),
    });
    let mut unread = 0;
    while unread < sources.len() {
        sources[unread..].iter().for_each(|path| names_in(path, &mut names));
        unread = sources.len();
        let is_named = |path: &PathBuf| path.file_name().is_some_and(|name| names.contains(name.as_encoded_bytes()));
        let (named, rest): (Vec<PathBuf>, Vec<PathBuf>) = others.into_iter().partition(is_named);
        sources.extend(named);
        others = rest;
    }
    sources.sort();
    let mut digest = Sha256::new();
    sources.iter().for_each(|path| tree::digest(&mut digest, tree, path));
    (!sources.is_empty()).then(|| format!("-DDUET_TREE_{}", &hex(&digest.finalize())[..16]))
}

/// Takes the last parts of all that a file holds between quotes.
fn names_in(path: &Path, names: &mut BTreeSet<Vec<u8>>) {
    let text = fs::read(path).unwrap_or_default();
    for quoted in text.split(|byte| b"\"<>\n".contains(byte)).filter(|quoted| quoted.len() <= NAME_MAX) {
        let last = quoted.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        if last.contains(&b'.') && !names.contains(last) {
            names.insert(last.to_owned());
        }
    }
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
    let imported = line.trim().trim_start_matches("import").trim_start();
    let is_import =
        imported.strip_prefix("\"C\"").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ';', '\t']));
    is_import || line.starts_with("//go:build ") && line.contains("cgo")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_by_whether_there_is_cgo_is_told() {
        for (text, tells) in [
            ("import \"C\"", true),
            ("import (\n\t\"C\"\n)", true),
            ("//go:build !cgo", true),
            ("//go:build linux", false),
            ("import \"fmt\"\nvar x = \"cgo\"", false),
            ("var grades = []string{\n\t\"C\",\n}", false),
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
        assert_eq!(write("q/q.txt", "not compiled"), one);
        assert_ne!(write("native/work.h", "int b;"), one);
        let included = write("native/work.c", "int t[] = {\n#include \"lists/table.def\"\n};");
        let held = write("native/lists/table.def", "#include <more.def>\n");
        assert_ne!(held, included);
        assert_ne!(write("native/lists/more.def", "1,"), held);
        assert_eq!(write(".git", "gitdir: elsewhere"), flag(place.path()));
    }
}
