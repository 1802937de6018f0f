//! The disk is full in the middle of a run: it ends at once and says why, what was kept can be read, and with room again the
//! run goes on to the report of one that nobody disturbed.

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Trial;

use crate::common::{Place, Ran};
use crate::real::{self, judged_right};
use crate::support::{Kind, Log, Rng, Sitting, essence, is_sound, kept, nothing_is_lost, told_is_kept};
use crate::workers::nobody_works_below;

const SCRIPT: &str = r#"{
    "BenchmarkSteady": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002},
    "BenchmarkSlower": {"baseline_ns": 100, "candidate_ns": 110, "spread": 0.01},
    "BenchmarkFlaky": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002, "failure_in": 1}
}"#;
const ARGS: [&str; 9] =
    ["compare", "--scripted", "script.json", "--seed", "1", "--fixed", "--confirm", "--format", "json"];

pub fn tests(seed: u64, go_found: bool) -> Vec<Trial> {
    // Whether a file system may be mounted here, in a name space that nobody else sees.
    let may_mount = in_a_small_file_system(Path::new("/"), 64, "true").output().is_ok_and(|o| o.status.success());
    vec![
        Trial::test("disk: no file may grow any more", move || {
            no_file_may_grow(seed + 200);
            Ok(())
        }),
        Trial::test("disk: the file system is full", move || {
            the_file_system_is_full(seed + 201);
            Ok(())
        })
        .with_kind("needs mount")
        .with_ignored_flag(!may_mount),
        Trial::test("disk: the file system is full while processes are measured", move || {
            it_is_full_while_processes_are_measured();
            Ok(())
        })
        .with_kind("needs go, mount")
        .with_ignored_flag(!may_mount || !go_found),
    ]
}

/// Runs `duet` and keeps what it left on the small file system.
const KEEP: &str = "\"$@\"; code=$?; cp -r /mnt kept; exit $code";

/// A shell line in a directory, with a file system of so many KiB in `/mnt`.
fn in_a_small_file_system(dir: &Path, kib: u64, line: &str) -> Command {
    let mut command = Command::new("unshare");
    let line = format!("mount -t tmpfs -o size={kib}k none /mnt && {{ {line}; }}");
    command.args(["--map-root-user", "--mount", "sh", "-c", &line]).current_dir(dir);
    command
}

/// A shell line that begins with `exec "$@"` or similar, run with duet's command line as its arguments.
fn through(mut shell: Command, duet: &Command) -> Command {
    shell.arg("sh").arg(duet.get_program()).args(duet.get_args());
    shell.current_dir(duet.get_current_dir().unwrap());
    for (name, value) in duet.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

fn calm() -> serde_json::Value {
    let place = Place::new();
    place.write("script.json", SCRIPT);
    essence(&place.duet(&ARGS).expect(3))
}

#[track_caller]
fn it_says_so(ran: Ran, db: &str, hint: &str, typed: &str) -> Ran {
    let resume = format!("`duet compare --resume r1{typed}`");
    ran.expect(1).says(&["the store `", db, "cannot keep a trial", "hint:", hint, &resume])
}

fn no_file_may_grow(seed: u64) {
    let log = Log::new("no file may grow", seed);
    let (calm, mut rng) = (calm(), Rng(seed));
    for _ in 0..8 {
        let place = Place::new();
        place.write("script.json", SCRIPT);
        let db = place.path().join(".duet/duet.db");
        // The log of an empty store takes some 200 KiB, a trial three or four; units of 512 bytes.
        let blocks = rng.between(500, 1200);
        let limited = |args: &[&str]| {
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"")]);
            Sitting::start(&place, &mut through(shell, &place.command(args))).end().1
        };
        let ran = limited(&ARGS);
        log.injected(Kind::DiskFull, format!("{blocks} blocks: exit code {}", ran.code));
        let ran = it_says_so(ran, "duet.db`", "`ulimit -f`", "");
        let before = kept(&db);
        log.note(format!("{} trials", before.len()));
        assert!(!before.is_empty());
        told_is_kept(&ran.stderr, &before);
        // Reading needs no room, and going on without room loses nothing more.
        let shown = limited(&["show", "latest", "--format", "json"]);
        assert_eq!(shown.json()["complete"], false, "{}", shown.stderr);
        let again = limited(&["compare", "--scripted", "script.json", "--resume", "latest"]);
        log.injected(Kind::DiskFull, format!("again: exit code {}", again.code));
        it_says_so(again, "duet.db`", "`ulimit -f`", "");
        nothing_is_lost(&before, &kept(&db));
        ends_well(&place, &db, &calm);
    }
}

fn the_file_system_is_full(seed: u64) {
    let log = Log::new("the file system is full", seed);
    let (calm, mut rng) = (calm(), Rng(seed));
    for _ in 0..4 {
        let place = Place::new();
        place.write("script.json", SCRIPT);
        let kib = rng.between(220, 560);
        let shell = in_a_small_file_system(place.path(), kib, KEEP);
        let args = [&ARGS[..], &["--db", "/mnt/duet.db"]].concat();
        let ran = Sitting::start(&place, &mut through(shell, &place.command(&args))).end().1;
        log.injected(Kind::DiskFull, format!("{kib} KiB: exit code {}", ran.code));
        let ran = it_says_so(ran, "/mnt/duet.db`", "free some space", " --db /mnt/duet.db");
        let db = place.path().join("kept/duet.db");
        let before = kept(&db);
        log.note(format!("{} trials", before.len()));
        assert!(!before.is_empty());
        told_is_kept(&ran.stderr, &before);
        ends_well(&place, &db, &calm);
    }
}

fn it_is_full_while_processes_are_measured() {
    let log = Log::new("it is full while processes are measured", 0);
    let place = real::place();
    let shell = in_a_small_file_system(place.path(), 300, KEEP);
    let args = ["compare", "./old", "./new", "--builds", "1", "--forks", "15", "--fixed", "--threshold", "20%"];
    let duet = real::command(&place, &[&args[..], &["--db", "/mnt/duet.db"]].concat());
    let ran = Sitting::start(&place, &mut through(shell, &duet)).end().1;
    log.injected(Kind::DiskFull, "300 KiB");
    it_says_so(ran, "/mnt/duet.db`", "free some space", " --db /mnt/duet.db");
    nobody_works_below(place.path());
    let db = place.path().join("kept/duet.db");
    let before = kept(&db);
    assert!(!before.is_empty());
    let resume = ["compare", "--resume", "r1", "--format", "json", "--db", "kept/duet.db"];
    let ran = Ran::from(real::command(&place, &resume).output().unwrap());
    judged_right(&ran);
    nothing_is_lost(&before, &kept(&db));
    assert_eq!(ran.benchmark("BenchmarkGood")["forks"].as_array().unwrap().len(), 15);
}

/// With room again, the run ends as if nothing had been.
#[track_caller]
fn ends_well(place: &Place, db: &PathBuf, calm: &serde_json::Value) {
    let before = kept(db);
    let mut command = place.command(&["compare", "--scripted", "script.json", "--resume", "r1", "--format", "json"]);
    let ran = Ran::from(command.env("DUET_DB", db).output().unwrap()).expect(3);
    nothing_is_lost(&before, &kept(db));
    is_sound(db);
    assert_eq!(&essence(&ran), calm);
}
