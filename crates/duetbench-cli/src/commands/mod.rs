//! The commands, one file each.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use duetbench_run::prepare::Stage;

use crate::failure::Failure;
use crate::printer::Printer;
use crate::settings::Settings;

pub mod analyze;
pub mod compare;
pub mod demo;
pub mod doctor;
pub mod list;
pub mod show;

/// What every command works with.
pub struct Context {
    /// The merged settings.
    pub settings: Settings,
    /// Where output goes.
    pub printer: Printer,
    /// The directory in which duet was started.
    pub cwd: PathBuf,
    /// Set by Ctrl-C and by a polite request to end.
    pub interrupted: Arc<AtomicBool>,
}

impl Context {
    /// Where runs are stored: as set, or at the root of the checkout around the current directory.
    #[must_use]
    pub fn db(&self) -> PathBuf {
        self.settings.db().unwrap_or_else(|| project_root(&self.cwd).join(".duet/duet.db"))
    }

    /// Tells people what is being done before measuring.
    fn stage(&self, stage: Stage<'_>) {
        let text = match stage {
            Stage::Fetching(module) => format!("fetching {module}"),
            Stage::Building(version) => format!("building {version}"),
            Stage::Listing(version) => format!("listing the benchmarks of {version}"),
        };
        self.printer.note(&text);
    }
}

fn project_root(cwd: &Path) -> PathBuf {
    let root = cwd.ancestors().find(|dir| dir.join(".git").exists());
    root.unwrap_or(cwd).to_owned()
}

/// A filter over the names of discovered benchmarks.
fn selected(
    found: &[duetbench_core::plan::Discovered],
    settings: &Settings,
) -> Result<Vec<duetbench_core::plan::Discovered>, Failure> {
    let filter = settings.selection().filter()?;
    Ok(found.iter().filter(|d| filter.keeps(&d.id.name)).cloned().collect())
}
