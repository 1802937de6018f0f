//! Shared parts of the tests of whole runs on a fleet: something to compare, the worker, and the calls in the store.
#![allow(clippy::unwrap_used, reason = "a test may")]
#![allow(dead_code, unreachable_pub, missing_docs, reason = "every test binary uses another part of it")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use crate::common::{Place, Ran, wait_until};
use crate::support::{Sitting, kept};

/// Fork pairs that one call measures.
const FORKS_PER_CALL: usize = 2;

/// `examples/02-textkit`, whose `Slug` is slower in `new`.
pub fn textkit() -> Place {
    versions(["old", "new"])
}

/// Two directories, `old` and `new`, with these versions of the example.
pub fn versions(which: [&str; 2]) -> Place {
    let place = Place::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/02-textkit");
    for (version, to) in which.iter().zip(["old", "new"]) {
        for entry in fs::read_dir(example.join(version)).unwrap().map(Result::unwrap) {
            let name = entry.file_name();
            place.write(&format!("{to}/{}", name.to_str().unwrap()), &fs::read_to_string(entry.path()).unwrap());
        }
    }
    place
}

/// The worker, which is built with the workspace's tests, without what debuggers want: that is most of it in a test's build.
pub fn worker() -> &'static str {
    static WORKER: OnceLock<String> = OnceLock::new();
    WORKER.get_or_init(|| {
        let built = Path::new(env!("CARGO_BIN_EXE_duet")).with_file_name("duet-worker");
        assert!(built.exists(), "{} is not built: `cargo build -p duetbench-worker`", built.display());
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let (made, worker) = (dir.join(format!("worker-{}", std::process::id())), dir.join("fleet-worker"));
        let status = Command::new("strip").arg("-o").arg(&made).arg(&built).status();
        assert!(status.is_ok_and(|s| s.success()), "`strip` must be installed");
        // Another test may be reading what is there.
        fs::rename(made, &worker).unwrap();
        worker.to_str().unwrap().to_owned()
    })
}

/// `duet`, with a cache of its own, so that all that works for it works below the place.
pub fn command(place: &Place, args: &[&str]) -> Command {
    static GO_CACHE: OnceLock<PathBuf> = OnceLock::new();
    let go_cache = GO_CACHE.get_or_init(|| {
        let told = Command::new("go").args(["env", "GOCACHE"]).output().unwrap();
        String::from_utf8_lossy(&told.stdout).trim().into()
    });
    let mut command = place.command(args);
    command.env("GOCACHE", go_cache).env("XDG_CACHE_HOME", place.path().join("cache"));
    command
}

/// Arguments that compare `old` with `new` on an engine, every benchmark to its end, with so many fork pairs of one build pair.
/// The threshold is high, because two builds of the same code may differ by their layout alone.
pub fn comparing<'a>(engine: &'a str, forks: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let what = ["compare", "./old", "./new", "--on", engine, "--worker", worker(), "--format", "json"];
    let how = ["--builds", "1", "--forks", forks, "--fixed", "--measure-identical", "--threshold", "20%"];
    [&what[..], &how, &["--parallel", "2"], more].concat()
}

/// Arguments that go on with the last run.
pub fn going_on<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["compare", "--resume", "latest", "--worker", worker(), "--format", "json"], more].concat()
}

pub fn db(place: &Place) -> PathBuf {
    place.path().join(".duet/duet.db")
}

/// A call as it lies in the store: its benchmark, its first suite run, and what became of it.
pub type Kept = (u32, u32, String);

/// All calls in the order in which they were sent; none where there is no store yet.
pub fn calls(place: &Place) -> Vec<Kept> {
    let Ok(store) = Connection::open_with_flags(db(place), OpenFlags::SQLITE_OPEN_READ_ONLY) else { return Vec::new() };
    store.busy_timeout(Duration::from_secs(10)).unwrap();
    let Ok(mut select) = store.prepare("SELECT benchmark, first_suite_run, end FROM calls ORDER BY id") else {
        return Vec::new();
    };
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Number of calls that came to this end.
pub fn ended(place: &Place, end: &str) -> usize {
    calls(place).iter().filter(|(.., e)| e == end).count()
}

/// Waits until so many calls count; fails if the run ends before.
#[track_caller]
pub fn wait_for_calls(place: &Place, sitting: &mut Sitting, number: usize) {
    while ended(place, "counted") < number {
        assert!(sitting.ended().is_none(), "it ended too early:\n{}", sitting.stderr());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Fails unless all of this many tasks count, each once and with all its trials, and the report says so.
#[track_caller]
pub fn every_task_counts_once(place: &Place, ran: &Ran, tasks: usize) {
    let calls = calls(place);
    let counted: Vec<_> = calls.iter().filter(|(.., end)| end == "counted").map(|(b, first, _)| (b, first)).collect();
    let all: BTreeSet<_> = calls.iter().map(|(benchmark, first, _)| (benchmark, first)).collect();
    assert_eq!(counted.iter().collect::<BTreeSet<_>>().len(), counted.len(), "a task counts twice: {calls:?}");
    assert_eq!((counted.len(), all.len()), (tasks, tasks), "{calls:?}\n{}", ran.stderr);
    let trials = kept(&db(place));
    assert_eq!((trials.len(), trials.iter().filter(|t| t.failed).count()), (tasks * FORKS_PER_CALL, 0));
    assert_eq!(ran.json()["exit_code"], ran.code);
    let fleet = &ran.json()["fleet"];
    assert_eq!((&fleet["counted"], &fleet["tasks"]), (&Value::from(tasks), &Value::from(tasks)), "{fleet:#}");
    assert_eq!(fleet["lacking"], Value::Array(Vec::new()));
}

/// Fails unless `Slug` is the regression that was planted, and nothing but it.
#[track_caller]
pub fn slug_is_the_regression(ran: &Ran) {
    assert_eq!(ran.verdict("BenchmarkSlug"), "regression", "{}", ran.stdout);
    // It was not touched. In these two binaries it may lie elsewhere, which must then be said.
    let vowels = ran.benchmark("BenchmarkVowels");
    let words = vowels["verdict"].as_str().unwrap();
    let changed = ["regression", "improvement", "slower", "faster"].iter().any(|word| words.starts_with(word));
    let told = vowels["warnings"].as_array().unwrap().iter().any(|warning| warning["kind"] == "single_build");
    assert!(!changed || told, "{vowels:#}");
    assert_eq!(ran.verdict("BenchmarkJoin"), "improvement", "{}", ran.stdout);
}

/// Fails unless all that works for a place is gone soon.
#[track_caller]
pub fn nobody_works_for(place: &Place) {
    wait_until("all processes are gone", || workers(place).is_empty());
}

/// Fails if a run that has ended left anything of its own below its cache: packages, or what workers unpacked.
#[track_caller]
pub fn nothing_is_left(place: &Place) {
    let entries = fs::read_dir(place.path().join("cache/duet")).map_or_else(|_| Vec::new(), Iterator::collect);
    let kept = |path: &PathBuf| path.ends_with("linkers") || path.ends_with("rewriters");
    let left: Vec<PathBuf> = entries.into_iter().flatten().map(|e| e.path()).filter(|path| !kept(path)).collect();
    assert_eq!(left, Vec::<PathBuf>::new());
}

/// Command lines of the processes that were started from below a place, or work there.
pub fn workers(place: &Place) -> Vec<String> {
    let below = place.path().canonicalize().unwrap();
    let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let ours = |process: &PathBuf| {
        ["cwd", "exe"].iter().any(|link| fs::read_link(process.join(link)).is_ok_and(|to| to.starts_with(&below)))
    };
    all.filter(ours).filter_map(|process| fs::read_to_string(process.join("cmdline")).ok()).collect()
}
