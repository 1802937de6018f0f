//! Values that benchmarks of a run reported under units of their own.

use duetbench_core::reported::Readings;

use rusqlite::params;

use super::{RunId, Store, failed, written};
use crate::error::RunError;

impl Store {
    /// Keeps what reading the units of one benchmark came to.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add_readings(&mut self, run: RunId, readings: &Readings) -> Result<(), RunError> {
        let json = written(readings, &format!("what `{}` reported", readings.id.name))?;
        let insert = "INSERT INTO readings (run, readings) VALUES (?1, ?2)";
        self.execute(insert, params![run.0, json], "cannot keep what a benchmark reported")
    }

    /// Values that benchmarks of a run reported, in the order in which they were read.
    ///
    /// # Errors
    /// When an entry is none: a verdict rests on it.
    pub fn readings(&self, run: RunId) -> Result<Vec<Readings>, RunError> {
        let texts = self.texts("SELECT readings FROM readings WHERE run = ?1 ORDER BY id", run.0);
        let texts = texts.map_err(|e| failed(&self.path, "cannot read what benchmarks reported", e))?;
        let understood = |json: String| {
            serde_json::from_str(&json)
                .map_err(|e| RunError::stored_run(format!("what a benchmark reported cannot be understood: {e}")))
        };
        texts.into_iter().map(understood).collect()
    }
}
