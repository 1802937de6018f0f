//! The hook's classes, which the build script has compiled, for a JVM's class path.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::RunError;

include!(concat!(env!("OUT_DIR"), "/java_hook.rs"));

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
