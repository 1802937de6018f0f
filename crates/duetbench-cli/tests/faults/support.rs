//! Runs that can be disturbed, what is in their store, and the book of what was done to them.

use std::cell::RefCell;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};
use rustix::process::{Pid, Signal};

use crate::common::{HANGS, Place, Ran};

/// Kinds of faults that are injected into a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    KillDuet,
    Interrupt,
    KillWorker,
    StopWorker,
    StopDuet,
    Starve,
    DiskFull,
    /// The store is not what it was left as.
    Damage,
    /// A call of the C library fails or does half.
    Call,
    Clock,
    /// Limits, directories, the toolchain.
    Surroundings,
}

const KINDS: [Kind; 11] = [
    Kind::KillDuet,
    Kind::Interrupt,
    Kind::KillWorker,
    Kind::StopWorker,
    Kind::StopDuet,
    Kind::Starve,
    Kind::DiskFull,
    Kind::Damage,
    Kind::Call,
    Kind::Clock,
    Kind::Surroundings,
];
static DONE: [AtomicUsize; KINDS.len()] = [const { AtomicUsize::new(0) }; KINDS.len()];

/// Number of injected faults of each kind, in words.
pub fn summary() -> String {
    let counts = KINDS.iter().zip(&DONE).map(|(kind, n)| (kind, n.load(Ordering::Relaxed)));
    let total: usize = counts.clone().map(|(_, n)| n).sum();
    let words: Vec<String> = counts.map(|(kind, n)| format!("{n} {kind:?}")).collect();
    format!("{total} injections: {}", words.join(", "))
}

/// Log of the faults, in order; printed when a test fails.
pub struct Log {
    title: String,
    lines: RefCell<Vec<String>>,
    injections: RefCell<usize>,
}

impl Log {
    pub fn new(title: &str, seed: u64) -> Log {
        Log { title: format!("{title}, seed {seed:#x}"), lines: RefCell::new(Vec::new()), injections: RefCell::new(0) }
    }

    pub fn note(&self, line: impl Into<String>) {
        self.lines.borrow_mut().push(line.into());
    }

    pub fn injected(&self, kind: Kind, line: impl Into<String>) {
        self.note(format!("{kind:?} {}", line.into()));
        DONE[kind as usize].fetch_add(1, Ordering::Relaxed);
        *self.injections.borrow_mut() += 1;
    }

    pub fn injections(&self) -> usize {
        *self.injections.borrow()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- {}:\n{}", self.title, self.lines.borrow().join("\n"));
        }
    }
}

/// Random numbers that are the same every time (SplitMix64).
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From `low` up to, not including, `high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low)
    }
}

/// A running `duet` whose output goes to files, so that nobody has to read it meanwhile.
pub struct Sitting {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Sitting {
    pub fn start(place: &Place, command: &mut Command) -> Sitting {
        static SITTINGS: AtomicUsize = AtomicUsize::new(0);
        let n = SITTINGS.fetch_add(1, Ordering::Relaxed);
        let [stdout, stderr] = ["out", "err"].map(|stream| place.path().join(format!("sitting-{n}.{stream}")));
        let child =
            command.stdout(File::create(&stdout).unwrap()).stderr(File::create(&stderr).unwrap()).spawn().unwrap();
        Sitting { child, stdout, stderr }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its exit status, if it has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Sends a signal, unless it has ended; whether it was sent.
    pub fn signal(&mut self, signal: Signal) -> bool {
        self.ended().is_none() && rustix::process::kill_process(Pid::from_child(&self.child), signal).is_ok()
    }

    pub fn stderr(&self) -> String {
        fs::read_to_string(&self.stderr).unwrap()
    }

    /// Waits for its end, which must come.
    pub fn end(mut self) -> (ExitStatus, Ran) {
        let deadline = Instant::now() + HANGS;
        let status = loop {
            match self.ended() {
                Some(status) => break status,
                None if Instant::now() > deadline => {
                    let _ = self.child.kill();
                    panic!("it hangs:\n{}", self.stderr());
                }
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        let stdout = fs::read_to_string(&self.stdout).unwrap();
        let ran = Ran { code: status.code().unwrap_or(-1), stdout, stderr: self.stderr() };
        (status, ran)
    }
}

impl Drop for Sitting {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether it was this signal that ended a process.
pub fn died_of(status: ExitStatus, signal: Signal) -> bool {
    status.signal() == Some(signal.as_raw())
}

/// A trial as it lies in the store: its place in the experiment, and everything that is kept of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    place: (i64, i64, i64, i64),
    pub failed: bool,
    columns: String,
}

fn open(db: &Path) -> Option<Connection> {
    let connection = Connection::open_with_flags(db, OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
    connection.busy_timeout(Duration::from_secs(10)).unwrap();
    // Everything that is read through it is of one moment.
    connection.execute_batch("BEGIN").unwrap();
    Some(connection)
}

/// Number of runs and of trials in the store, nought where there is none yet.
pub fn counts(db: &Path) -> (i64, i64) {
    let count = |connection: &Connection, table: &str| {
        connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap_or(0)
    };
    open(db).map_or((0, 0), |connection| (count(&connection, "runs"), count(&connection, "trials")))
}

/// Every trial in the order in which they were kept. Fails if one is half there, or twice, or if there is more than that.
pub fn kept(db: &Path) -> Vec<Kept> {
    if counts(db) == (0, 0) {
        return Vec::new();
    }
    let connection = open(db).unwrap();
    let trials = rows(
        &connection,
        "trials",
        "SELECT run, round, suite_run, benchmark, failure IS NOT NULL, id, first_sample, samples, * FROM trials ORDER BY id",
    );
    let samples = rows(&connection, "samples", "SELECT trial, rowid, * FROM samples ORDER BY rowid");
    let mut kept = Vec::new();
    let mut rest = &samples[..];
    for (numbers, columns) in trials {
        let [run, round, suite_run, benchmark, failed, id, first, number] = numbers[..8] else { unreachable!() };
        let (own, others) = rest.split_at(usize::try_from(number).unwrap().min(rest.len()));
        rest = others;
        assert_eq!(own.len() as i64, number, "trial {id} lacks samples");
        assert_eq!((failed == 1), (number == 0), "trial {id} has {number} samples");
        for ((numbers, _), rowid) in own.iter().zip(first..) {
            assert_eq!(numbers[..2], [id, rowid], "a sample of trial {id} belongs elsewhere");
        }
        let columns = own.iter().fold(columns, |all, (_, columns)| all + columns);
        kept.push(Kept { place: (run, round, suite_run, benchmark), failed: failed == 1, columns });
    }
    assert!(rest.is_empty(), "{} samples belong to no trial", rest.len());
    let mut places: Vec<_> = kept.iter().map(|k| k.place).collect();
    places.sort_unstable();
    assert!(places.windows(2).all(|two| two[0] != two[1]), "a trial was measured twice: {places:?}");
    kept
}

/// Fails unless the database as a whole is sound.
pub fn is_sound(db: &Path) {
    let answer = |row: &rusqlite::Row<'_>| row.get(0);
    let sound: String = open(db).unwrap().query_row("PRAGMA integrity_check", [], answer).unwrap();
    assert_eq!(sound, "ok");
}

/// The rows of a table: their leading numbers, and everything as text.
fn rows(connection: &Connection, table: &str, sql: &str) -> Vec<(Vec<i64>, String)> {
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| {
        let values: Vec<rusqlite::types::Value> = (0..columns).map(|i| row.get(i)).collect::<Result<_, _>>()?;
        let number =
            |value: &rusqlite::types::Value| if let rusqlite::types::Value::Integer(n) = value { *n } else { 0 };
        Ok((values.iter().map(number).collect(), format!("{table} {values:?}")))
    };
    statement.query_map([], row).unwrap().map(Result::unwrap).collect()
}

/// Fails unless everything that was kept before is still there, unchanged, in its place.
#[track_caller]
pub fn nothing_is_lost(before: &[Kept], after: &[Kept]) {
    assert!(after.len() >= before.len(), "of {} trials {} are left", before.len(), after.len());
    for (before, after) in before.iter().zip(after) {
        assert_eq!(before, after, "a trial has changed");
    }
}

/// Failed trials that were told of must be in the store.
#[track_caller]
pub fn told_is_kept(stderr: &str, kept: &[Kept]) {
    let told =
        stderr.lines().filter(|line| line.contains(" failed: ") || line.contains(" discarded a trial: ")).count();
    let failed = kept.iter().filter(|k| k.failed).count();
    assert!(told <= failed, "{told} failed trials were told of, {failed} are in the store\n{stderr}");
}

/// A report without what may differ between two runs on the same data.
pub fn essence(ran: &Ran) -> serde_json::Value {
    let mut report = ran.json();
    let report_fields = report.as_object_mut().unwrap();
    for key in ["run", "started", "measured_s", "environment"] {
        assert!(report_fields.remove(key).is_some(), "there is no `{key}`");
    }
    report
}
