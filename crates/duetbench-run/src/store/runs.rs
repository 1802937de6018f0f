//! All runs of a store: listed, and removed.

use std::fs;

use duetbench_core::Role;
use rusqlite::{Connection, params};

use super::{Head, RunId, Store, failed, profile_ending};
use crate::error::RunError;

/// A run as a list of all has it.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedRun {
    /// Its name.
    pub name: String,
    /// Its head; absent where another duet wrote it so that it cannot be read.
    pub head: Option<Head>,
    /// Whether it was measured to its end.
    pub complete: bool,
    /// Number of its trials that are kept.
    pub trials: u64,
}

/// Tables whose rows belong to a run, beside `samples`, which belong to its trials.
const OF_A_RUN: [&str; 7] = ["trials", "calls", "sittings", "calibrations", "profiles", "instructions", "readings"];

impl Store {
    /// All runs, the oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn runs(&self) -> Result<Vec<ListedRun>, RunError> {
        let select =
            "SELECT id, head, complete, (SELECT count(*) FROM trials WHERE run = runs.id) FROM runs ORDER BY id";
        self.rows(select, |row| {
            let (id, head, trials): (i64, String, i64) = (row.get(0)?, row.get(1)?, row.get(3)?);
            Ok(ListedRun {
                name: RunId(id).to_string(),
                head: Head::parse(&head, id).ok(),
                complete: row.get(2)?,
                trials: trials.unsigned_abs(),
            })
        })
    }

    /// The name of a comparison: `latest` is the last one, whatever was measured since.
    ///
    /// # Errors
    /// When there is none, or the store cannot be read.
    pub fn comparison_named(&self, name: &str) -> Result<String, RunError> {
        self.named(name, "SELECT max(id) FROM runs WHERE head ->> 'kind' IS NULL", "comparison")
    }

    /// The same of a run of one version.
    ///
    /// # Errors
    /// As for [`Store::comparison_named`].
    pub fn run_of_one_named(&self, name: &str) -> Result<String, RunError> {
        self.named(name, "SELECT max(id) FROM runs WHERE head ->> 'kind' = 'solo'", "run of one version")
    }

    /// The name as it is, or for `latest` that of the run which a query for the last one of this kind gives.
    fn named(&self, name: &str, select: &str, kind: &str) -> Result<String, RunError> {
        if name != "latest" {
            return Ok(name.to_owned());
        }
        let last: Option<i64> = self
            .connection
            .query_row(select, [], |row| row.get(0))
            .map_err(|e| failed(&self.path, "cannot be read", e))?;
        let none = || RunError::stored_run(format!("there is no {kind} in `{}`", self.path.display()));
        last.map(|id| RunId(id).to_string()).ok_or_else(none)
    }

    /// Removes a run with everything that was kept of it: samples, profiles, a calibration. Its name is not given again.
    ///
    /// # Errors
    /// When there is none of that name, or it cannot be removed; it is then there as it was.
    pub fn remove(&mut self, run: RunId) -> Result<(), RunError> {
        let cannot = |e| failed(&self.path, "cannot remove a run", e);
        remove(&mut self.connection, run).map_err(cannot)?;
        let dir = self.profiles_dir(&run.to_string());
        let is_profile = |name: &str| Role::BOTH.iter().any(|role| name.ends_with(&profile_ending(*role)));
        let entries = fs::read_dir(&dir).into_iter().flatten().flatten();
        for path in entries.filter(|entry| entry.file_name().to_str().is_some_and(is_profile)).map(|entry| entry.path())
        {
            fs::remove_file(&path).map_err(|e| RunError::file("remove", &path, e))?;
        }
        // The folder stays if other files lie in it.
        let _ = fs::remove_dir(dir);
        Ok(())
    }
}

fn remove(connection: &mut Connection, run: RunId) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    transaction.execute(
        "DELETE FROM samples WHERE rowid IN (
            SELECT s.rowid FROM trials JOIN samples s ON s.rowid >= first_sample AND s.rowid < first_sample + samples AND s.trial = trials.id
            WHERE run = ?1)",
        params![run.0],
    )?;
    for table in OF_A_RUN {
        transaction.execute(&format!("DELETE FROM {table} WHERE run = ?1"), params![run.0])?;
    }
    transaction.execute("DELETE FROM runs WHERE id = ?1", params![run.0])?;
    transaction.commit()?;
    // The run is gone; room that is not given back is the next one's.
    let _ = give_room_back(connection);
    Ok(())
}

/// Makes the file shorter where the store was made so; rows keep their numbers, which `VACUUM` would not promise.
fn give_room_back(connection: &Connection) -> rusqlite::Result<()> {
    let mut vacuum = connection.prepare("PRAGMA incremental_vacuum")?;
    let mut pages = vacuum.query([])?;
    // Each row is a page that was given back.
    while pages.next()?.is_some() {}
    // Until the log is in it, the file is as it was.
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}
