//! Instructions of the benchmarks of a run.

use duetbench_core::instructions::BenchmarkInstructions;

use rusqlite::params;

use super::{RunId, Store, written};
use crate::error::RunError;

impl Store {
    /// Keeps what counting one benchmark came to.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add_instructions(&mut self, run: RunId, counts: &BenchmarkInstructions) -> Result<(), RunError> {
        let json = written(counts, &format!("the instructions of `{}`", counts.id.name))?;
        let insert = "INSERT INTO instructions (run, counts) VALUES (?1, ?2)";
        self.execute(insert, params![run.0, json], "cannot keep counts of instructions")
    }

    /// The instructions of a run's benchmarks, in the order in which they were counted. Counts that another duet wrote so that they cannot be read
    /// are left out, as if they had not been made.
    pub(super) fn instructions(&self, run: i64) -> rusqlite::Result<Vec<BenchmarkInstructions>> {
        let texts = self.texts("SELECT counts FROM instructions WHERE run = ?1 ORDER BY id", run)?;
        Ok(texts.iter().filter_map(|json| serde_json::from_str(json).ok()).collect())
    }
}
