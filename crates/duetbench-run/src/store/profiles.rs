//! CPU profiles of the regressions of a run.

use std::path::PathBuf;

use duetbench_core::hotspot::BenchmarkProfile;
use rusqlite::params;

use super::{RunId, Store, failed};
use crate::error::RunError;

impl Store {
    /// The folder for the profiles of the run of this name: beside the database.
    #[must_use]
    pub fn profiles_dir(&self, run: &str) -> PathBuf {
        self.path.with_file_name("profiles").join(run)
    }

    /// Keeps what profiling one benchmark came to.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add_profile(&mut self, run: RunId, profile: &BenchmarkProfile) -> Result<(), RunError> {
        let json = serde_json::to_string(profile).map_err(|e| RunError::StoredRun {
            what: format!("the profile of `{}` cannot be written down: {e}", profile.id.name),
        })?;
        self.connection
            .execute("INSERT INTO profiles (run, profile) VALUES (?1, ?2)", params![run.0, json])
            .map(drop)
            .map_err(|e| failed(&self.path, "cannot keep a profile", e))
    }

    /// The profiles of a run, in the order in which they were made. One that another duet wrote so that it cannot be read is left out: no verdict
    /// depends on it.
    pub(super) fn profiles(&self, run: i64) -> rusqlite::Result<Vec<BenchmarkProfile>> {
        let texts = self.texts("SELECT profile FROM profiles WHERE run = ?1 ORDER BY id", run)?;
        Ok(texts.iter().filter_map(|json| serde_json::from_str(json).ok()).collect())
    }
}
