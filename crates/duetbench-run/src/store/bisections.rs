//! Searches for a commit: what was asked for, what was compared in which run, and whether it came to its end.

use std::fs::{File, TryLockError};
use std::path::Path;

use rusqlite::params;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Store, written};
use crate::error::RunError;

/// A search in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BisectionId(i64);

impl Store {
    /// Begins to keep a search.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add_bisection(&mut self, bisection: &impl Serialize) -> Result<BisectionId, RunError> {
        let json = written(bisection, "a search")?;
        self.execute("INSERT INTO bisections (bisection) VALUES (?1)", [json], "cannot keep a search")?;
        Ok(BisectionId(self.connection.last_insert_rowid()))
    }

    /// Keeps others from searching with the stores of this folder for as long as what it gives is there: two who go on with one search
    /// would overwrite each other's record of it. Absent where the file system has no locks.
    ///
    /// # Errors
    /// When somebody else searches.
    pub fn hold_searches(&self) -> Result<Option<File>, RunError> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Ok(file) = File::open(folder) else { return Ok(None) };
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => {
                let what = format!("another `duet bisect` is searching with the store in `{}`", folder.display());
                Err(RunError::stored_run(what).hint("wait for its end, or name another store with `--db`"))
            }
            Err(TryLockError::Error(_)) => Ok(None),
        }
    }

    /// Keeps a search as it is now.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep_bisection(&mut self, id: BisectionId, bisection: &impl Serialize) -> Result<(), RunError> {
        let json = written(bisection, "a search")?;
        let update = "UPDATE bisections SET bisection = ?2 WHERE id = ?1";
        self.execute(update, params![id.0, json], "cannot keep a search")
    }

    /// All searches, the newest first. One that another duet wrote so that it cannot be read is left out: it is begun anew.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn bisections<B: DeserializeOwned>(&self) -> Result<Vec<(BisectionId, B)>, RunError> {
        let select = "SELECT id, bisection FROM bisections ORDER BY id DESC";
        let rows = self.rows(select, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let known = |(id, json): (i64, String)| Some((BisectionId(id), serde_json::from_str(&json).ok()?));
        Ok(rows.into_iter().filter_map(known).collect())
    }
}
