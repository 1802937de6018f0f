//! The database's tables, format 1.

use duetbench_core::sample::{Coordinates, Memory};
use duetbench_core::{Role, Sample};
use rusqlite::{Connection, Row};

/// Format of the tables, kept in `user_version`.
const FORMAT: i64 = 1;

const TABLES: &str = "
CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    started TEXT NOT NULL,
    head TEXT NOT NULL,                         -- JSON: request, plan, versions, environment
    complete INTEGER NOT NULL DEFAULT 0,
    measured_s REAL NOT NULL DEFAULT 0,
    steal_share REAL
);
CREATE TABLE trials (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    benchmark INTEGER NOT NULL,                 -- index into the plan
    suite_run INTEGER NOT NULL,
    fork INTEGER NOT NULL,
    build INTEGER NOT NULL,
    first INTEGER NOT NULL,                     -- role on side 0: 0 baseline, 1 candidate
    wall_ns INTEGER NOT NULL,
    failed_role INTEGER,
    failure TEXT,
    first_sample INTEGER NOT NULL,              -- its samples are the rows of `samples` from this number on
    samples INTEGER NOT NULL
);
CREATE INDEX trials_by_run ON trials(run);
CREATE TABLE samples (
    trial INTEGER NOT NULL,
    role INTEGER NOT NULL,
    iteration INTEGER NOT NULL,
    block INTEGER NOT NULL,
    invocations INTEGER NOT NULL,
    wall_ns INTEGER NOT NULL,
    cpu_ns INTEGER,
    start_ns INTEGER NOT NULL,
    warm_up INTEGER NOT NULL,
    block_allocations INTEGER,
    block_bytes INTEGER,
    block_collections INTEGER,
    block_invocations INTEGER
);
";

// Samples are found through their trial's range of row numbers: keeping an index would cost more than all else that is
// done for a sample while measuring.
pub(super) const INSERT_TRIAL: &str = "INSERT INTO trials
    (run, benchmark, suite_run, fork, build, first, wall_ns, failed_role, failure, samples, first_sample)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, (SELECT coalesce(max(rowid), 0) + 1 FROM samples))";

pub(super) const INSERT_SAMPLE: &str =
    "INSERT INTO samples VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";

pub(super) const SELECT_SAMPLES: &str = "SELECT t.benchmark, t.suite_run, t.fork, t.build, s.role, s.iteration, s.block, s.invocations,
        s.wall_ns, s.cpu_ns, s.start_ns, s.warm_up, s.block_allocations, s.block_bytes, s.block_collections, s.block_invocations
    FROM trials t JOIN samples s ON s.rowid BETWEEN t.first_sample AND t.first_sample + t.samples - 1
    WHERE t.run = ?1 ORDER BY t.id, s.rowid";

/// Why a database cannot be used.
pub(super) enum SchemaError {
    /// It was written by a newer duet.
    Newer {
        /// Its format.
        version: i64,
    },
    /// SQLite refuses.
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for SchemaError {
    fn from(e: rusqlite::Error) -> Self {
        SchemaError::Sqlite(e)
    }
}

/// Makes the tables in a new database and checks the format of an old one.
pub(super) fn prepare(connection: &Connection) -> Result<(), SchemaError> {
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // Moving the log into the database costs processor time while measuring; 16 MB of log are no burden.
    connection.pragma_update(None, "wal_autocheckpoint", 4000)?;
    match connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))? {
        0 => {
            connection.execute_batch(&format!("BEGIN IMMEDIATE; {TABLES} PRAGMA user_version = {FORMAT}; COMMIT;"))?;
            Ok(())
        }
        FORMAT => Ok(()),
        version => Err(SchemaError::Newer { version }),
    }
}

pub(super) fn role_number(role: Role) -> u32 {
    u32::from(role == Role::Candidate)
}

pub(super) fn role(number: u32) -> Role {
    if number == 0 { Role::Baseline } else { Role::Candidate }
}

/// A row of [`SELECT_SAMPLES`] as a sample.
pub(super) fn sample(row: &Row<'_>) -> rusqlite::Result<Sample> {
    let unsigned = |value: i64| value.unsigned_abs();
    let optional = |index: usize| row.get::<_, Option<i64>>(index).map(|v| v.map(unsigned));
    let memory = match (optional(12)?, optional(13)?, row.get::<_, Option<u32>>(14)?, optional(15)?) {
        (Some(allocations), Some(bytes), Some(collections), Some(invocations)) => {
            Some(Memory { allocations, bytes, collections, invocations })
        }
        _ => None,
    };
    Ok(Sample {
        at: Coordinates {
            role: role(row.get(4)?),
            instance: 0,
            build: row.get(3)?,
            suite_run: row.get(1)?,
            fork: row.get(2)?,
            iteration: row.get(5)?,
        },
        block: row.get(6)?,
        invocations: unsigned(row.get(7)?),
        wall_ns: unsigned(row.get(8)?),
        cpu_ns: optional(9)?,
        start_ns: unsigned(row.get(10)?),
        memory,
        warm_up: row.get(11)?,
    })
}
