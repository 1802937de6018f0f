//! The hook's classes for a JVM's class path. They are compiled and kept beside their sources, so that nobody needs a JDK to build duet;
//! `tests/hooks/java_hook.rs` holds them against the sources.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::RunError;

/// The path of each class below the class path, and its bytes.
macro_rules! classes {
    ($($name:literal)*) => {
        &[$((
            concat!("duetbench/hook/", $name, ".class"),
            include_bytes!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../hooks/java/classes/duetbench/hook/",
                $name,
                ".class"
            )),
        )),*]
    };
}

/// Every class of the hook: its path below the class path, and its bytes.
pub const CLASSES: &[(&str, &[u8])] = classes! {
    "Bell"
    "Clock"
    "Cpu$Task"
    "Cpu"
    "Duet"
    "DuetProfiler"
    "Entry"
    "ListFile"
    "Lister"
    "Lockstep"
    "Memory"
    "Order"
    "Page"
    "Score"
    "Slice"
    "Stopwatch"
    "Watch"
};

/// Writes the classes below `dir`, and says what to put on the class path.
///
/// # Errors
/// When they cannot be written.
pub(super) fn write(dir: &Path) -> Result<PathBuf, RunError> {
    let place = dir.join("java-hook");
    for (name, bytes) in CLASSES {
        let file = place.join(name);
        let folder = file.parent().unwrap_or(&place);
        fs::create_dir_all(folder).map_err(|e| RunError::file("create", folder, e))?;
        fs::write(&file, bytes).map_err(|e| RunError::file("write", &file, e))?;
    }
    Ok(place)
}
