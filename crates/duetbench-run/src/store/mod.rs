//! The store: every sample of every run, in one SQLite database (write-ahead log), written as it arrives.

use std::fs;
use std::path::{Path, PathBuf};

use duetbench_core::{Sample, Trial};
use rusqlite::{Connection, ErrorCode, OptionalExtension, Params, Row, Transaction, params};
use serde::Serialize;

use crate::engine::{RunSummary, TrialOutcome};
use crate::error::RunError;

mod bisections;
mod calibrations;
mod calls;
mod costs;
mod format;
mod guard;
mod head;
mod history;
mod instructions;
mod profiles;
mod provenance;
mod readings;
mod recording;
mod runs;
mod schema;
mod sittings;
mod stored;

pub use bisections::BisectionId;
use format::Unusable;
use guard::{Effort, Kind, Reading};
pub use head::{Head, Origin, RunHead, SoloHead, SoloOrigin, StoredHead};
pub use profiles::{PROFILES, profile_ending};
pub use provenance::{Provenance, machine};
pub use runs::ListedRun;

pub use sittings::Sitting;
pub use stored::StoredRun;

/// An open database.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    /// Effort of reading so far, where the store is only read.
    effort: Effort,
    /// Way of reading, where the store is only read.
    reading: Option<Reading>,
}

/// A run that is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunId(i64);

impl std::fmt::Display for RunId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "r{}", self.0)
    }
}

impl Store {
    /// Opens or makes the database; a new folder for it is made invisible to git.
    ///
    /// # Errors
    /// When it cannot be opened, is no store, or was written by a newer duet.
    pub fn open(path: &Path) -> Result<Store, RunError> {
        if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty() && !p.exists()) {
            fs::create_dir_all(parent).map_err(|e| RunError::file("create", parent, e))?;
            let ignore = parent.join(".gitignore");
            fs::write(&ignore, "*\n").map_err(|e| RunError::file("write", &ignore, e))?;
        }
        // A database that cannot be examined without a change to it is examined below once more.
        guard::examine(path).map_err(|e| refused(path, e))?;
        let connection = Connection::open(path).map_err(|e| failed(path, "cannot be opened", e))?;
        schema::prepare(&connection).map_err(|e| refused(path, e))?;
        Ok(Store { connection, path: path.to_owned(), effort: Effort::default(), reading: None })
    }

    /// Opens a database that must exist, to write on.
    ///
    /// # Errors
    /// When there is none, or as for [`Store::open`].
    pub fn open_existing(path: &Path) -> Result<Store, RunError> {
        exists(path)?;
        Store::open(path)
    }

    /// Opens a database that must exist and may be anybody's, only to read: neither it nor its folder is changed.
    ///
    /// # Errors
    /// When there is none, or as for [`Store::open`].
    pub fn open_to_read(path: &Path) -> Result<Store, RunError> {
        exists(path)?;
        Store::reading(path, Reading::of(path))
    }

    fn reading(path: &Path, reading: Reading) -> Result<Store, RunError> {
        let effort = Effort::default();
        let opened = || -> Result<Connection, Unusable> {
            let connection = guard::open_to_read(path, reading, &effort)?;
            if guard::look(&connection)? == Kind::Empty {
                return Err(Unusable::Foreign("it is empty".into()));
            }
            schema::complete(&connection)?;
            Ok(connection)
        };
        let connection = opened().map_err(|e| refused(path, e))?;
        Ok(Store { connection, path: path.to_owned(), effort, reading: Some(reading) })
    }

    /// Reads something, and once more beside whoever wrote into the store meanwhile.
    fn read<T>(&self, read: impl Fn(&Store) -> Result<T, RunError>) -> Result<T, RunError> {
        self.effort.begin();
        let found = read(self);
        if self.reading.is_some_and(|reading| reading.is_over(&self.path)) {
            return read(&Store::reading(&self.path, Reading::Shared)?);
        }
        found
    }

    /// All rows that a query about all of the database selects.
    fn rows<T>(&self, select: &str, row: fn(&Row<'_>) -> rusqlite::Result<T>) -> Result<Vec<T>, RunError> {
        self.read(|store| {
            let read = || store.connection.prepare(select)?.query_map([], row)?.collect::<rusqlite::Result<_>>();
            read().map_err(|e| failed(&store.path, "cannot be read", e))
        })
    }

    /// Changes the database; `what` says what could not be done.
    fn execute(&self, sql: &str, parameters: impl Params, what: &'static str) -> Result<(), RunError> {
        self.connection.execute(sql, parameters).map(drop).map_err(|e| failed(&self.path, what, e))
    }

    /// The texts that a query about one run selects.
    fn texts(&self, select: &str, run: i64) -> rusqlite::Result<Vec<String>> {
        self.connection.prepare(select)?.query_map([run], |row| row.get(0))?.collect()
    }

    /// Begins a run.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(&mut self, head: &impl StoredHead) -> Result<RunId, RunError> {
        let insert = "INSERT INTO runs (started, head) VALUES (?1 ->> 'started', ?1)";
        self.execute(insert, [written(head, "the run")?], "cannot take a new run")?;
        Ok(RunId(self.connection.last_insert_rowid()))
    }

    /// Writes down anew what is known of a run before its trials, where that has changed since it began.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn amend(&mut self, run: RunId, head: &impl StoredHead) -> Result<(), RunError> {
        let update = "UPDATE runs SET head = ?2 WHERE id = ?1";
        self.execute(update, params![run.0, written(head, "the run")?], "cannot take what is known of a run")
    }

    /// Keeps one trial with all its samples; on return they are in the file.
    ///
    /// # Errors
    /// When it cannot be written; the trial is then not in the store at all.
    pub fn add_trial(&mut self, run: RunId, trial: &Trial, outcome: &TrialOutcome) -> Result<(), RunError> {
        let insert = |connection: &mut Connection| -> rusqlite::Result<()> {
            let transaction = connection.transaction()?;
            insert_trial(&transaction, run, trial, outcome)?;
            transaction.commit()
        };
        insert(&mut self.connection).map_err(|e| failed(&self.path, "cannot keep a trial", e))
    }

    /// Notes how a run ended.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn end(&mut self, run: RunId, summary: &RunSummary, steal_share: Option<f64>) -> Result<(), RunError> {
        let measured_s = summary.measured.as_secs_f64();
        let update = "UPDATE runs SET complete = ?2, measured_s = ?3, steal_share = ?4 WHERE id = ?1";
        let now = params![run.0, summary.complete, measured_s, steal_share];
        self.execute(update, now, "cannot take the end of a run")
    }

    /// Notes that nothing of a run is missing.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn complete(&mut self, run: RunId) -> Result<(), RunError> {
        self.execute("UPDATE runs SET complete = 1 WHERE id = ?1", [run.0], "cannot take the end of a run")
    }

    /// Reads a run by name (`r12`, `12`, or `latest`).
    ///
    /// # Errors
    /// When there is none of that name, or it cannot be read.
    pub fn load(&self, name: &str) -> Result<StoredRun, RunError> {
        self.read(|store| store.load_as_it_is(name))
    }

    fn load_as_it_is(&self, name: &str) -> Result<StoredRun, RunError> {
        let id = self.find(name)?;
        let read = |e| failed(&self.path, "cannot be read", e);
        let (json, complete, measured_s, steal): (String, bool, f64, Option<f64>) = self
            .connection
            .query_row("SELECT head, complete, measured_s, steal_share FROM runs WHERE id = ?1", [id], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })
            .map_err(read)?;
        let mut head = Head::parse(&json, id)?;
        head.environment_mut().steal_share = steal;
        let mut trials = self
            .load_trials(id)
            .map_err(read)?
            .ok_or_else(|| changed(id, "its trials do not have their samples to themselves, as after `VACUUM`"))?;
        // A run that was killed did not write down how long it took.
        let in_trials: f64 = trials.iter().map(|(_, outcome)| outcome.wall.as_secs_f64()).sum();
        // On a fleet trials overlap, so that their times say nothing of it.
        let overlaps = matches!(&head, Head::Comparison(head) if head.fleet.is_some());
        let measured_s = if complete || overlaps { measured_s } else { measured_s.max(in_trials) };
        let fallback_threshold = fallback_threshold(&head);
        let (mut calls, profiles) = (self.calls(id).map_err(read)?, self.profiles(id).map_err(read)?);
        calls::number_instances(&mut trials, &calls);
        calls::count_fork_pairs(&mut calls, &trials);
        let (readings, abandoned) = (self.readings(RunId(id))?, self.abandoned(id)?);
        let instructions = self.instructions(id).map_err(read)?;
        let name = RunId(id).to_string();
        Ok(StoredRun {
            name,
            head,
            complete,
            measured_s,
            trials,
            fallback_threshold,
            calls,
            abandoned,
            profiles,
            instructions,
            readings,
        })
    }

    /// A run that is in the store, to go on with.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn reopen(&self, name: &str) -> Result<RunId, RunError> {
        self.find(name).map(RunId)
    }

    fn find(&self, name: &str) -> Result<i64, RunError> {
        let by_number = name.strip_prefix('r').unwrap_or(name).parse::<i64>().ok();
        let found = match (name, by_number) {
            ("latest", _) => self.connection.query_row("SELECT max(id) FROM runs", [], |row| row.get(0)),
            (_, Some(id)) => self.connection.query_row("SELECT id FROM runs WHERE id = ?1", [id], |row| row.get(0)),
            (_, None) => Ok(None),
        };
        let found: Option<i64> = found.optional().map_err(|e| failed(&self.path, "cannot be read", e))?.flatten();
        found.ok_or_else(|| {
            RunError::stored_run(format!(
                "there is no run `{name}` in `{}`; runs are named like `r1`, the last one is `latest`",
                self.path.display()
            ))
        })
    }

    /// The trials of a run with their samples; none where one claims samples of another: each is written behind those of the one before.
    /// Samples know their trials too: rows have other numbers after `VACUUM`, or in a copy.
    fn load_trials(&self, run: i64) -> rusqlite::Result<Option<Vec<(Trial, TrialOutcome)>>> {
        let mut select_samples = self.connection.prepare(&schema::select_samples(&self.connection)?)?;
        let mut select_trials = self.connection.prepare(schema::SELECT_TRIALS)?;
        let mut rows = select_trials.query([run])?;
        let (mut trials, mut free) = (Vec::new(), 0);
        while let Some(row) = rows.next()? {
            let (trial, mut outcome, (first, number)) = schema::trial(row)?;
            // One without samples lies where those of a run lay that may have been removed since.
            if number != 0 {
                let Some(end) = first.checked_add(number).filter(|_| first >= free && number > 0) else {
                    return Ok(None);
                };
                free = end;
            }
            if outcome.result.is_ok() {
                let id: i64 = row.get("id")?;
                let samples = select_samples.query_map([first, number, id], |row| schema::sample(row, &trial))?;
                let samples: Vec<Sample> = samples.collect::<rusqlite::Result<_>>()?;
                if i64::try_from(samples.len()) != Ok(number) {
                    return Ok(None);
                }
                outcome.result = Ok(samples);
            }
            trials.push((trial, outcome));
        }
        Ok(Some(trials))
    }
}

/// Threshold by which duets of this run fall back while it is measured, where any does.
fn fallback_threshold(head: &Head) -> Option<f64> {
    match head {
        Head::Comparison(head) if head.fleet.is_none() => Some(head.spec.thresholds().suite().threshold),
        Head::Comparison(_) | Head::Solo(_) => None,
    }
}

fn insert_trial(
    transaction: &Transaction<'_>,
    run: RunId,
    trial: &Trial,
    outcome: &TrialOutcome,
) -> rusqlite::Result<()> {
    let failure = outcome.result.as_ref().err();
    let none: &[Sample] = &[];
    let samples = outcome.result.as_deref().unwrap_or(none);
    transaction.prepare_cached(schema::INSERT_TRIAL)?.execute(params![
        run.0,
        u32::try_from(trial.benchmark).unwrap_or(u32::MAX),
        trial.round,
        trial.suite_run,
        trial.fork,
        trial.build,
        schema::role_number(trial.first),
        trial.core,
        trial.seed.cast_signed(),
        i64::try_from(outcome.wall.as_nanos()).unwrap_or(i64::MAX),
        failure.and_then(|f| f.role).map(schema::role_number),
        failure.map(|f| f.reason.as_str()),
        failure.is_some_and(|f| f.discarded),
        outcome.conditions.and_then(|c| serde_json::to_string(&c).ok()),
        outcome.mode.word(),
        i64::try_from(samples.len()).unwrap_or(i64::MAX),
    ])?;
    let id = transaction.last_insert_rowid();
    let mut insert = transaction.prepare_cached(schema::INSERT_SAMPLE)?;
    for s in samples {
        let cycle = s.memory.and_then(|m| m.cycle);
        insert.execute(params![
            id,
            schema::role_number(s.at.role),
            s.at.iteration,
            s.block,
            clamp(s.invocations),
            clamp(s.wall_ns),
            s.cpu_ns.map(clamp),
            clamp(s.start_ns),
            s.warm_up,
            s.memory.and_then(|m| m.allocations.map(clamp)),
            s.memory.map(|m| clamp(m.bytes)),
            s.memory.map(|m| m.collections),
            s.memory.map(|m| clamp(m.invocations)),
            s.cycles,
            cycle.map(|c| clamp(c.cost_ns)),
            cycle.map(|c| clamp(c.period_bytes)),
            cycle.and_then(|c| c.background_ns.map(clamp)),
        ])?;
    }
    Ok(())
}

/// SQLite's integers are signed.
fn clamp(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn exists(path: &Path) -> Result<(), RunError> {
    if path.is_file() {
        return Ok(());
    }
    let what =
        format!("there is no store `{}`: nothing has been measured here, or `--db FILE` names another", path.display());
    Err(RunError::stored_run(what))
}

/// Error for a run that no duet can have written so.
fn changed(run: i64, what: &str) -> RunError {
    RunError::stored_run(format!("the run `{}` cannot be read, it was changed or damaged: {what}", RunId(run)))
}

/// Error for a database that cannot be used.
fn refused(path: &Path, why: Unusable) -> RunError {
    match why {
        Unusable::Format { version } => {
            let age = if format::is_newer(version) { "a newer" } else { "an older" };
            let path = path.display();
            RunError::stored_run(format!(
                "the store `{path}` was written by {age} duet (format {version}): use that one, or `--db`"
            ))
        }
        Unusable::Foreign(why) => RunError::NoStore { path: path.to_owned(), why },
        Unusable::Sqlite(e) => failed(path, "cannot be used", e),
    }
}

/// A value as it is written down; `what` names it where that fails.
fn written(value: &(impl Serialize + ?Sized), what: &str) -> Result<String, RunError> {
    serde_json::to_string(value).map_err(|e| RunError::stored_run(format!("{what} cannot be written down: {e}")))
}

fn failed(path: &Path, what: &'static str, source: rusqlite::Error) -> RunError {
    if source.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) {
        return RunError::NoStore { path: path.to_owned(), why: "reading it has no end".into() };
    }
    RunError::Store { path: path.to_owned(), what, source }
}
