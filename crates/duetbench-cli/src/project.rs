//! Where a project lies around a folder: its root, its settings, and its other files that decide.

use std::path::{Path, PathBuf};

/// The root of the git checkout around a folder; the folder itself where there is none.
pub fn root(dir: &Path) -> &Path {
    dir.ancestors().find(|dir| is_root(dir)).unwrap_or(dir)
}

/// Name of the file of settings.
pub const SETTINGS: &str = "duet.toml";

/// The nearest `duet.toml`, not beyond the root of the git checkout.
pub fn settings_file(dir: &Path) -> Option<PathBuf> {
    for dir in dir.ancestors() {
        let path = dir.join(SETTINGS);
        if path.is_file() {
            return Some(path);
        }
        if is_root(dir) {
            return None;
        }
    }
    None
}

/// The folder of the files by which changes are judged: beside `duet.toml`, or the root.
pub fn policy_dir(dir: &Path) -> PathBuf {
    let beside = settings_file(dir).and_then(|path| Some(path.parent()?.to_owned()));
    beside.unwrap_or_else(|| root(dir).to_owned())
}

fn is_root(dir: &Path) -> bool {
    dir.join(".git").exists()
}
