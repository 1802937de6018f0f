//! Calibrations: what runs of a version against itself told of the machine, kept for later reports.

use duetbench_core::calibrate::Made;
use rusqlite::{Row, params};

use super::{RunId, Store, written};
use crate::error::RunError;

impl Store {
    /// Keeps a calibration.
    ///
    /// # Errors
    /// When there is no such run, or it cannot be written.
    pub fn add_calibration(&mut self, made: &Made) -> Result<(), RunError> {
        let run = self.find(&made.run)?;
        let what = format!("the calibration of run `{}`", made.run);
        let (machine, calibration) = (written(&made.machine, &what)?, written(&made.calibration, &what)?);
        let insert = "INSERT INTO calibrations (run, made, machine, calibration) VALUES (?1, ?2, ?3, ?4)";
        self.execute(insert, params![run, made.made, machine, calibration], "cannot keep a calibration")
    }

    /// All calibrations, the newest first. One that another duet wrote so that it cannot be read is left out: no verdict depends on it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn calibrations(&self) -> Result<Vec<Made>, RunError> {
        let all = self.rows("SELECT run, made, machine, calibration FROM calibrations ORDER BY id DESC", made)?;
        Ok(all.into_iter().flatten().collect())
    }
}

fn made(row: &Row<'_>) -> rusqlite::Result<Option<Made>> {
    let machine = serde_json::from_str(&row.get::<_, String>(2)?).ok();
    let calibration = serde_json::from_str(&row.get::<_, String>(3)?).ok();
    let (run, made) = (RunId(row.get(0)?).to_string(), row.get(1)?);
    Ok(machine.zip(calibration).map(|(machine, calibration)| Made { run, made, machine, calibration }))
}
