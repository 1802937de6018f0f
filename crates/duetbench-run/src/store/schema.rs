//! The database's tables, format 2.

use std::time::{Duration, Instant};

use duetbench_core::plan::Mode;
use duetbench_core::sample::{Cycle, Memory};
use duetbench_core::{Role, Sample, Trial};
use rusqlite::{Connection, ErrorCode, Row};

use super::format::{APPLICATION, BUSY_MAX, FORMAT, Unusable};
use super::guard::{self, Kind};
use crate::engine::{TrialFailure, TrialOutcome};

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
    round INTEGER NOT NULL,                     -- 0, or one of those that confirm
    suite_run INTEGER NOT NULL,
    fork INTEGER NOT NULL,
    build INTEGER NOT NULL,
    first INTEGER NOT NULL,                     -- role on side 0: 0 baseline, 1 candidate
    core INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    mode TEXT NOT NULL,
    wall_ns INTEGER NOT NULL,
    failed_role INTEGER,
    failure TEXT,
    discarded INTEGER NOT NULL,                 -- 1: it failed because of the machine
    conditions TEXT,                            -- JSON: what the machine did meanwhile
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

/// Columns of `samples` that stores of this format were first made without: collections since the trial began, and on a trial's
/// last sample of a side what one costs. No values in rows of such stores.
const SAMPLE_COLUMNS: [&str; 4] = ["cycles", "cycle_cost_ns", "cycle_bytes", "cycle_background_ns"];

/// The calls of runs on a fleet; added to stores of this format that were made without it.
const CALLS: &str = "
CREATE TABLE IF NOT EXISTS calls (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    benchmark INTEGER NOT NULL,                 -- index into the plan
    first_suite_run INTEGER NOT NULL,
    suite_runs INTEGER NOT NULL,
    sending INTEGER NOT NULL,                   -- the so-manieth of this task, from 1, in its sitting
    end TEXT NOT NULL,                          -- sent: it was never heard of; counted, duplicate, throttled, failed
    words TEXT,
    instance TEXT,                              -- JSON: where it was carried out
    billed_ns INTEGER,
    cold INTEGER
);
CREATE INDEX IF NOT EXISTS calls_by_task ON calls(run, benchmark, first_suite_run);
";

/// The sittings of runs on a fleet; likewise.
const SITTINGS: &str = "
CREATE TABLE IF NOT EXISTS sittings (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    name TEXT NOT NULL,                         -- what it deployed is named after this
    place TEXT NOT NULL,                        -- its coordinator's scratch directory
    removed INTEGER NOT NULL DEFAULT 0,         -- 1: what it deployed is gone
    abandoned TEXT                              -- JSON: whom it left without an answer, and why; none until it has ended
);
";

/// Calibrations from runs of a version against itself; likewise.
const CALIBRATIONS: &str = "
CREATE TABLE IF NOT EXISTS calibrations (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    made TEXT NOT NULL,                         -- RFC 3339
    machine TEXT NOT NULL,                      -- JSON: facts by name
    calibration TEXT NOT NULL                   -- JSON
);
";

/// Where regressions come from; likewise.
const PROFILES: &str = "
CREATE TABLE IF NOT EXISTS profiles (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    profile TEXT NOT NULL                       -- JSON: benchmark, and the difference or a failure
);
CREATE INDEX IF NOT EXISTS profiles_by_run ON profiles(run);
";

/// Instructions that benchmarks execute; likewise.
const INSTRUCTIONS: &str = "
CREATE TABLE IF NOT EXISTS instructions (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    counts TEXT NOT NULL                        -- JSON: benchmark, and the counts or a failure
);
CREATE INDEX IF NOT EXISTS instructions_by_run ON instructions(run);
";

/// Values that benchmarks reported under units of their own; likewise.
const READINGS: &str = "
CREATE TABLE IF NOT EXISTS readings (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    readings TEXT NOT NULL                      -- JSON: benchmark, and values by unit or a failure
);
CREATE INDEX IF NOT EXISTS readings_by_run ON readings(run);
";

/// Searches for a commit; likewise.
const BISECTIONS: &str = "
CREATE TABLE IF NOT EXISTS bisections (
    id INTEGER PRIMARY KEY,
    bisection TEXT NOT NULL                     -- JSON: request, commits, and the run of each comparison
);
";

// Samples are found through their trial's range of row numbers: keeping an index would cost more than all else that is
// done for a sample while measuring.
pub(super) const INSERT_TRIAL: &str = "INSERT INTO trials
    (run, benchmark, round, suite_run, fork, build, first, core, seed, wall_ns, failed_role, failure, discarded, conditions, mode, samples, first_sample)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, (SELECT coalesce(max(rowid), 0) + 1 FROM samples))";

pub(super) const INSERT_SAMPLE: &str =
    "INSERT INTO samples (trial, role, iteration, block, invocations, wall_ns, cpu_ns, start_ns, warm_up, block_allocations,
        block_bytes, block_collections, block_invocations, cycles, cycle_cost_ns, cycle_bytes, cycle_background_ns)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";

pub(super) const SELECT_TRIALS: &str = "SELECT benchmark, round, suite_run, fork, build, first, core, seed, wall_ns,
        failed_role, failure, discarded, first_sample, samples, conditions, mode, id
    FROM trials WHERE run = ?1 ORDER BY id";

const SELECT_SAMPLES: &str = "SELECT role, iteration, block, invocations, wall_ns, cpu_ns, start_ns, warm_up,
        block_allocations, block_bytes, block_collections, block_invocations,
        cycles, cycle_cost_ns, cycle_bytes, cycle_background_ns
    FROM samples WHERE rowid >= ?1 AND rowid < ?1 + ?2 AND trial = ?3 ORDER BY rowid";

/// Makes the tables in a new database and checks the format of an old one.
pub(super) fn prepare(connection: &Connection) -> Result<(), Unusable> {
    connection.busy_timeout(BUSY_MAX)?;
    guard::harden(connection)?;
    // Before anything is written.
    let kind = guard::look(connection)?;
    if kind == Kind::Empty {
        // Must come before there is anything: removing runs then gives room back.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    // SQLite does not wait when two begin this at once, because it cannot tell that they do not wait for each other.
    let begun = Instant::now();
    while let Err(e) = connection.pragma_update(None, "journal_mode", "WAL") {
        if e.sqlite_error_code() != Some(ErrorCode::DatabaseBusy) || begun.elapsed() > BUSY_MAX {
            return Err(e.into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // Moving the log into the database costs processor time while measuring; 16 MB of log are no burden.
    connection.pragma_update(None, "wal_autocheckpoint", 4000)?;
    if kind == Kind::Empty {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        // Another duet may have been faster.
        if guard::look(connection)? == Kind::Empty {
            connection.execute_batch(&format!("{TABLES} PRAGMA user_version = {FORMAT};"))?;
        }
        connection.execute_batch("COMMIT")?;
    }
    let application = connection.pragma_query_value(None, "application_id", |row| row.get::<_, i32>(0))?;
    if application != APPLICATION {
        connection.pragma_update(None, "application_id", APPLICATION)?;
    }
    ADDED.iter().try_for_each(|(_, table)| connection.execute_batch(table))?;
    Ok(add_sample_columns(connection)?)
}

/// Tables that a store may have been made without.
const ADDED: [(&str, &str); 7] = [
    ("calls", CALLS),
    ("sittings", SITTINGS),
    ("calibrations", CALIBRATIONS),
    ("profiles", PROFILES),
    ("instructions", INSTRUCTIONS),
    ("readings", READINGS),
    ("bisections", BISECTIONS),
];

/// Gives a store that is only read the tables that it was made without, beside it and empty.
pub(super) fn complete(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    let there = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1";
    for (name, table) in ADDED {
        if connection.query_row(there, [name], |row| row.get::<_, i64>(0))? == 0 {
            // Without its index, which would be looked for in the store.
            let made = table.split_once("CREATE INDEX").map_or(table, |(made, _)| made);
            connection.execute_batch(&made.replace("CREATE TABLE", "CREATE TEMP TABLE"))?;
        }
    }
    Ok(())
}

/// The query for the samples of a trial, from a store that may have been made without some of their columns.
pub(super) fn select_samples(connection: &Connection) -> rusqlite::Result<String> {
    let absent = absent_columns(connection)?;
    Ok(absent.iter().fold(SELECT_SAMPLES.to_owned(), |select, column| {
        select.replacen(&format!(" {column}"), &format!(" NULL AS {column}"), 1)
    }))
}

/// The columns of samples that a store was made without.
fn absent_columns(connection: &Connection) -> rusqlite::Result<Vec<&'static str>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info('samples')")?;
    let present: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(SAMPLE_COLUMNS.into_iter().filter(|column| !present.iter().any(|p| p == column)).collect())
}

/// Adds the columns that are absent. Looks first, because a store is opened much more often than it lacks any, and looks again
/// when nobody else can write.
fn add_sample_columns(connection: &Connection) -> rusqlite::Result<()> {
    if absent_columns(connection)?.is_empty() {
        return Ok(());
    }
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let added: String =
        absent_columns(connection)?.iter().map(|c| format!("ALTER TABLE samples ADD COLUMN {c} INTEGER;")).collect();
    connection.execute_batch(&format!("{added} COMMIT"))
}

pub(super) fn role_number(role: Role) -> u32 {
    u32::from(role == Role::Candidate)
}

pub(super) fn role(number: u32) -> Role {
    if number == 0 { Role::Baseline } else { Role::Candidate }
}

/// A row of [`SELECT_TRIALS`] as a trial, with what became of it and where its samples are: the first row and their number.
pub(super) fn trial(row: &Row<'_>) -> rusqlite::Result<(Trial, TrialOutcome, (i64, i64))> {
    let trial = Trial {
        benchmark: row.get::<_, u32>(0)? as usize,
        round: row.get(1)?,
        suite_run: row.get(2)?,
        fork: row.get(3)?,
        build: row.get(4)?,
        first: role(row.get(5)?),
        core: row.get(6)?,
        seed: row.get::<_, i64>(7)?.cast_unsigned(),
    };
    let wall = Duration::from_nanos(row.get::<_, i64>(8)?.unsigned_abs());
    let failure = match row.get::<_, Option<String>>(10)? {
        Some(reason) => {
            Some(TrialFailure { role: row.get::<_, Option<u32>>(9)?.map(role), reason, discarded: row.get(11)? })
        }
        None => None,
    };
    // Conditions that cannot be read are not known; the samples do not depend on them.
    let conditions = row.get::<_, Option<String>>(14)?.and_then(|json| serde_json::from_str(&json).ok());
    let mode = Mode::from_word(&row.get::<_, String>(15)?).unwrap_or(Mode::InterleavedOneCore);
    let outcome = TrialOutcome { result: failure.map_or(Ok(Vec::new()), Err), mode, wall, conditions };
    Ok((trial, outcome, (row.get(12)?, row.get(13)?)))
}

/// A row of [`SELECT_SAMPLES`] as a sample of this trial.
pub(super) fn sample(row: &Row<'_>, trial: &Trial) -> rusqlite::Result<Sample> {
    let unsigned = |value: i64| value.unsigned_abs();
    let optional = |index: usize| row.get::<_, Option<i64>>(index).map(|v| v.map(unsigned));
    let cycle = match (optional(13)?, optional(14)?) {
        (Some(cost_ns), Some(period_bytes)) => Some(Cycle { cost_ns, period_bytes, background_ns: optional(15)? }),
        _ => None,
    };
    let memory = match (optional(8)?, optional(9)?, row.get::<_, Option<u32>>(10)?, optional(11)?) {
        (allocations, Some(bytes), Some(collections), Some(invocations)) => {
            Some(Memory { allocations, bytes, collections, invocations, cycle })
        }
        _ => None,
    };
    Ok(Sample {
        at: trial.coordinates(role(row.get(0)?), row.get(1)?),
        block: row.get(2)?,
        invocations: unsigned(row.get(3)?),
        wall_ns: unsigned(row.get(4)?),
        cpu_ns: optional(5)?,
        start_ns: unsigned(row.get(6)?),
        memory,
        cycles: row.get(12)?,
        warm_up: row.get(7)?,
    })
}
