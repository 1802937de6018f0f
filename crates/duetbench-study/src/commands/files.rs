//! Files that studies leave in a folder.

use std::fs;
use std::path::Path;

use duetbench_cli::commands::Context;
use duetbench_cli::failure::Failure;
use duetbench_run::RunError;

/// Why a study cannot be written in a form that holds one table.
pub(super) fn several_tables() -> Failure {
    Failure::usage("a study has several tables: `--out DIR` writes them as CSV")
}

/// Writes tables and figures into a folder, and says so.
///
/// # Errors
/// When one cannot be written.
pub(super) fn write(
    dir: &Path,
    context: &Context,
    files: impl Iterator<Item = (impl AsRef<Path>, String)>,
) -> Result<(), Failure> {
    fs::create_dir_all(dir).map_err(|e| RunError::file("create", dir, e))?;
    for (name, text) in files {
        let path = dir.join(name);
        fs::write(&path, text).map_err(|e| RunError::file("write", &path, e))?;
    }
    context.printer.note(&format!("tables and figures are in `{}`", dir.display()));
    Ok(())
}
