//! The sittings of a run on a fleet: what they deployed, and whom they left without an answer.

use std::path::{Path, PathBuf};

use duetbench_core::fleet::Abandoned;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::{RunId, Store, changed, failed, written};
use crate::engine::RunSummary;
use crate::error::RunError;
use crate::scratch::is_held;

/// A sitting whose functions may be there still.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sitting {
    /// The name after which everything is named that it deployed.
    pub name: String,
    /// The scratch directory of its coordinator, who holds it while alive.
    pub place: PathBuf,
}

impl Sitting {
    /// Whether its coordinator lives.
    pub fn goes_on(&self) -> bool {
        is_held(&self.place)
    }
}

impl Store {
    /// Notes that a sitting is about to deploy something, so that whoever goes on after its death knows the names. Gives the
    /// sittings of this run that are left; none, and nothing is noted, where one of them goes on. Nobody can begin another between
    /// the look and the note.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin_sitting(&mut self, run: RunId, name: &str, place: &Path) -> Result<Option<Vec<Sitting>>, RunError> {
        let begin = |connection: &mut Connection| -> rusqlite::Result<Option<Vec<Sitting>>> {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let left = left(&transaction, run)?;
            if left.iter().any(Sitting::goes_on) {
                return Ok(None);
            }
            let insert = "INSERT INTO sittings (run, name, place) VALUES (?1, ?2, ?3)";
            transaction.execute(insert, params![run.0, name, place.to_string_lossy()])?;
            transaction.commit()?;
            Ok(Some(left))
        };
        begin(&mut self.connection).map_err(|e| failed(&self.path, "cannot note a sitting", e))
    }

    /// Sittings of a run that did not write down that what they deployed is gone.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn sittings_left(&self, run: RunId) -> Result<Vec<Sitting>, RunError> {
        left(&self.connection, run).map_err(|e| failed(&self.path, "cannot read the sittings of a run", e))
    }

    /// Notes that what this sitting deployed is gone.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn sitting_removed(&mut self, run: RunId, name: &str) -> Result<(), RunError> {
        let update = "UPDATE sittings SET removed = 1 WHERE run = ?1 AND name = ?2";
        self.execute(update, params![run.0, name], "cannot note what was removed")
    }

    /// Notes how the last sitting of a run ended, and the benchmarks that it left without an answer for reasons of the fleet. They
    /// take the place of those of earlier sittings.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn end_sitting(&mut self, run: RunId, summary: &RunSummary, abandoned: &[Abandoned]) -> Result<(), RunError> {
        let json = written(abandoned, "the end of a sitting")?;
        let update = "UPDATE sittings SET abandoned = ?2 WHERE id = (SELECT max(id) FROM sittings WHERE run = ?1)";
        self.execute(update, params![run.0, json], "cannot take the end of a sitting")?;
        self.end(run, summary, None)
    }

    /// Benchmarks that the last sitting that ended left without an answer for reasons of the fleet.
    ///
    /// # Errors
    /// When what is there is none: a verdict rests on it.
    pub(super) fn abandoned(&self, run: i64) -> Result<Vec<Abandoned>, RunError> {
        let select = "SELECT abandoned FROM sittings WHERE run = ?1 AND abandoned IS NOT NULL ORDER BY id DESC LIMIT 1";
        let json: Option<String> = self
            .connection
            .query_row(select, [run], |row| row.get(0))
            .optional()
            .map_err(|e| failed(&self.path, "cannot read the sittings of a run", e))?;
        let read = |json: String| serde_json::from_str(&json).map_err(|e| changed(run, &e.to_string()));
        json.map_or(Ok(Vec::new()), read)
    }
}

fn left(connection: &Connection, run: RunId) -> rusqlite::Result<Vec<Sitting>> {
    let select = "SELECT name, place FROM sittings WHERE run = ?1 AND removed = 0 ORDER BY id";
    let sitting = |row: &rusqlite::Row<'_>| Ok(Sitting { name: row.get(0)?, place: row.get::<_, String>(1)?.into() });
    connection.prepare(select)?.query_map([run.0], sitting)?.collect()
}
