//! Our linker: the user's own, with four files added and eight insertions, built once for every release of Go and kept.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use duetbench_core::sources;
use serde::Deserialize;

use super::super::Toolchain;
use super::super::kept::{self, Kept};
use super::super::overlay::{Insertion, insert_all, write, write_replacements};
use crate::error::RunError;

const ANCHORS: &str = include_str!("../../../../../../hooks/go/linker/anchors.json");
/// Files added to the linker, by the names that `anchors.json` uses.
const FILES: [(&str, &str); 4] = sources!("../../../../../../hooks/go/linker/":
    "inventory.go", "plan.go", "place.go", "record.go"
);
/// A file more, for a linker that also writes graphs.
const GRAPH: (&str, &str) = ("graph.go", include_str!("../../../../../../hooks/go/linker/graph.go"));
/// Keeps these files out of what the go command sees where they lie.
const TAG: &str = "//go:build duet_linker\n";

/// Notes that a linker takes of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Notes {
    /// Symbols that can be placed.
    Inventory,
    /// Also what leads from where to where. It needs more of the linker's own parts, so that it fits fewer releases.
    InventoryAndGraph,
}

/// Insertions and files that bring our code into the linker; see `hooks/go/linker/anchors.json`.
#[derive(Debug, Deserialize)]
struct Anchors {
    target: String,
    insertions: Vec<Insertion>,
    files: Vec<String>,
}

/// The sources of our linker for one toolchain.
#[derive(Debug)]
pub(super) struct Sources {
    /// The file of the user's linker that has insertions.
    target: PathBuf,
    /// Text of that file with the insertions.
    patched: String,
    /// Files added beside it, by name.
    added: BTreeMap<String, &'static str>,
    /// The linker, as it is kept.
    kept: Kept,
}

impl Sources {
    /// Reads the toolchain's linker and inserts into it; fails with the reason in words.
    pub(super) fn of(toolchain: &Toolchain, notes: Notes) -> Result<Sources, String> {
        let more = (notes == Notes::InventoryAndGraph).then_some(GRAPH);
        let files: Vec<(&str, &str)> = FILES.into_iter().chain(more).collect();
        let anchors: Anchors =
            serde_json::from_str(ANCHORS).map_err(|e| format!("the built-in anchors are broken: {e}"))?;
        let target = toolchain.root.join(&anchors.target);
        let original = fs::read_to_string(&target).map_err(|e| RunError::file("read", &target, e).to_string())?;
        // Directives would have the place of this toolchain in them, so the key is made of what they are made of.
        let parts = [original.as_str(), ANCHORS].into_iter().chain(files.iter().map(|(_, text)| *text));
        let kept = Kept::of("linkers", toolchain, parts);
        let patched = insert_all(&original, &anchors.insertions, &target).map_err(|anchor| {
            format!(
                "duet's additions do not fit the linker of {}: `{anchor}` is not where it used to be",
                toolchain.version
            )
        })?;
        let file = |name: &String| {
            let text = files.iter().find(|(known, _)| known == name).map_or("", |(_, text)| text);
            (format!("duet_{name}"), text.strip_prefix(TAG).unwrap_or(text))
        };
        let names = anchors.files.into_iter().chain(more.map(|(name, _)| name.to_owned()));
        Ok(Sources { target, patched, added: names.map(|name| file(&name)).collect(), kept })
    }

    /// The linker, if it was built before.
    pub(super) fn kept(&self) -> Option<PathBuf> {
        self.kept.found()
    }

    /// Builds the linker below `place`, and keeps it for later where that is possible.
    pub(super) fn build(&self, toolchain: &Toolchain, place: &Path) -> Result<PathBuf, RunError> {
        let built = place.join("link");
        let overlay = format!("-overlay={}", self.overlay(place)?.display());
        kept::build(toolchain, place, &[&overlay, "-o", &built.to_string_lossy(), "cmd/link"])?;
        Ok(self.kept.keep(&built).unwrap_or(built))
    }

    /// Writes the sources and what names them.
    fn overlay(&self, place: &Path) -> Result<PathBuf, RunError> {
        let mut replace = BTreeMap::new();
        let target = self.target.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let changed = std::iter::once((target, self.patched.as_str()));
        for (name, text) in changed.chain(self.added.iter().map(|(name, text)| (name.clone(), *text))) {
            let file = place.join(&name);
            write(&file, text)?;
            replace.insert(self.target.with_file_name(name), file);
        }
        write_replacements(&replace, place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A toolchain whose linker has this text.
    fn toolchain(root: &Path, text: &str) -> Toolchain {
        let target = root.join("src/cmd/link/internal/ld/data.go");
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::write(target, text).unwrap();
        Toolchain {
            go: root.join("bin/go"),
            root: root.to_owned(),
            version: "go1.99.0".into(),
            flags: String::new(),
            native: Vec::new(),
        }
    }

    #[test]
    fn every_file_that_the_anchors_name_is_built_in_and_nothing_else() {
        let anchors: Anchors = serde_json::from_str(ANCHORS).unwrap();
        assert_eq!(anchors.files, FILES.map(|(name, _)| name));
        assert!(FILES.iter().all(|(_, text)| text.starts_with(TAG)), "the go command would see them");
    }

    #[test]
    fn a_linker_that_the_additions_do_not_fit_is_told_by_its_release() {
        let root = tempfile::tempdir().unwrap();
        let reason = Sources::of(&toolchain(root.path(), "package ld\n"), Notes::Inventory).unwrap_err();
        let expected = "duet's additions do not fit the linker of go1.99.0: `func (ctxt *Link) textaddress() {`";
        assert!(reason.starts_with(expected), "{reason}");
    }

    #[test]
    fn another_linker_has_another_key() {
        let root = tempfile::tempdir().unwrap();
        let anchors: Anchors = serde_json::from_str(ANCHORS).unwrap();
        let text: String = anchors.insertions.iter().map(|i| i.anchor.as_str()).collect();
        let key = |text: &str| Sources::of(&toolchain(root.path(), text), Notes::Inventory).unwrap().kept.key;
        let first = key(&text);
        assert!(first.starts_with("go1.99.0-"), "{first}");
        assert_eq!(first, key(&text));
        let with_graph = Sources::of(&toolchain(root.path(), &text), Notes::InventoryAndGraph).unwrap();
        assert_ne!(first, with_graph.kept.key);
        assert_eq!(with_graph.added.len(), FILES.len() + 1);
        assert_ne!(first, key(&(text + "// changed\n")));
    }
}
