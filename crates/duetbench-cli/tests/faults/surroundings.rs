//! The surroundings of a run go wrong: its store was cut or altered, calls fail, descriptors are few, directories are missing or
//! read-only, the time of day is set, the toolchain goes. A short part of `benches/faults.py`, which does the same a thousand times.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use libtest_mimic::Trial;
use rustix::process::Signal;

use crate::common::{Place, Ran};
use crate::real::{command, judged_right, place as go_place};
use crate::support::{Kind, Log, Rng, Sitting, counts, died_of, essence, is_sound, kept, nothing_is_lost};
use crate::workers::nobody_is_left;

const SCRIPT: &str = r#"{
    "BenchmarkSteady": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002, "pause_us": 500},
    "BenchmarkSlower": {"baseline_ns": 100, "candidate_ns": 300, "spread": 0.01, "pause_us": 500}
}"#;
const BEGIN: [&str; 10] =
    ["compare", "--scripted", "script.json", "--seed", "1", "--fixed", "--forks", "40", "--format", "json"];
const GO_ON: [&str; 7] = ["compare", "--scripted", "script.json", "--resume", "latest", "--format", "json"];
/// Ends of a program that nobody meant: a panic, an abort, a bad address.
const CRASHES: [i32; 4] = [101, 134, 139, -1];

pub fn tests(seed: u64, go_found: bool) -> Vec<Trial> {
    let test = |name: &str, body: Box<dyn FnOnce() + Send>, possible: bool, needs: &str| {
        let run = move || {
            body();
            Ok(())
        };
        Trial::test(format!("surroundings: {name}"), run).with_kind(needs).with_ignored_flag(!possible)
    };
    let with_cc = Command::new("cc").arg("--version").output().is_ok();
    let may_mount = Command::new("unshare").args(["--mount", "true"]).status().is_ok_and(|status| status.success());
    vec![
        test("the log of a killed run is cut", Box::new(move || log_is_damaged(seed + 400, cut)), true, ""),
        test(
            "the log of a killed run is altered",
            Box::new(move || log_is_damaged(seed + 401, |bytes, rng| alter(bytes, rng))),
            true,
            "",
        ),
        test("the store of a killed run is cut or altered", Box::new(move || store_is_damaged(seed + 402)), true, ""),
        test("few descriptors are left", Box::new(few_descriptors), true, ""),
        test("directories cannot be written", Box::new(directories_cannot_be_written), may_mount, "needs mount"),
        test("there is no temporary directory", Box::new(no_temporary_directory), may_mount, "needs mount"),
        test("calls fail, or are done by half", Box::new(move || calls_fail(seed + 403)), with_cc, "needs cc"),
        test("a file of the user's is whole", Box::new(files_of_users_are_whole), with_cc, "needs cc"),
        test("descriptors run out for a moment", Box::new(descriptors_run_out), with_cc, "needs cc"),
        test("no thread can be started", Box::new(no_threads), with_cc, "needs cc"),
        test("the time of day is set", Box::new(time_is_set), with_cc, "needs cc"),
        test("the toolchain goes and comes back", Box::new(toolchain_goes), go_found, "needs go"),
    ]
}

fn scripted() -> Place {
    let place = Place::new();
    place.write("script.json", SCRIPT);
    place
}

fn db(place: &Place) -> PathBuf {
    place.path().join(".duet/duet.db")
}

fn calm() -> serde_json::Value {
    essence(&scripted().duet(&BEGIN).expect(3))
}

/// Fails where it ended by itself otherwise than it may.
#[track_caller]
fn no_crash(ran: &Ran) {
    assert!(!CRASHES.contains(&ran.code) && !ran.stderr.contains("panicked"), "{}: {}", ran.code, ran.stderr);
}

/// A run that is killed after some trials; another one, where it had ended before.
fn killed(rng: &mut Rng) -> Place {
    let goal = i64::try_from(rng.between(2, 16)).unwrap();
    loop {
        let place = scripted();
        let mut sitting = Sitting::start(&place, &mut place.command(&BEGIN));
        while sitting.ended().is_none() && counts(&db(&place)).1 < goal {
            std::thread::sleep(Duration::from_millis(1));
        }
        sitting.signal(Signal::KILL);
        if died_of(sitting.end().0, Signal::KILL) {
            return place;
        }
    }
}

fn cut(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let length = rng.between(0, bytes.len() as u64);
    bytes.truncate(usize::try_from(length).unwrap());
}

fn alter(bytes: &mut [u8], rng: &mut Rng) {
    for _ in 0..rng.between(1, 40) {
        let at = usize::try_from(rng.between(0, bytes.len() as u64)).unwrap();
        bytes[at] ^= 1 << rng.between(0, 8);
    }
}

/// As a power failure may leave it: what of the log is whole counts, and the report is the one of an undisturbed run.
fn log_is_damaged(seed: u64, damage: fn(&mut Vec<u8>, &mut Rng)) {
    let log = Log::new("the log is damaged", seed);
    let (calm, mut rng) = (calm(), Rng(seed));
    for _ in 0..8 {
        let place = killed(&mut rng);
        let wal = db(&place).with_extension("db-wal");
        let mut bytes = fs::read(&wal).unwrap();
        let whole = bytes.len();
        damage(&mut bytes, &mut rng);
        fs::write(&wal, &bytes).unwrap();
        log.injected(Kind::Damage, format!("{} of {whole} bytes", bytes.len()));
        let nothing_there = !db(&place).exists() || fs::metadata(db(&place)).unwrap().len() == 0;
        let before = if nothing_there { Vec::new() } else { kept(&db(&place)) };
        let ran = place.duet(if before.is_empty() { &BEGIN } else { &GO_ON }).expect(3);
        assert_eq!(essence(&ran), calm);
        nothing_is_lost(&before, &kept(&db(&place)));
        is_sound(&db(&place));
    }
}

/// Whatever stands there: words or an answer, and with the store out of the way everything is as ever.
fn store_is_damaged(seed: u64) {
    let log = Log::new("the store is damaged", seed);
    let (calm, mut rng) = (calm(), Rng(seed));
    for number in 0..12 {
        let place = killed(&mut rng);
        let mut bytes = fs::read(db(&place)).unwrap();
        if bytes.is_empty() {
            continue;
        }
        if number % 2 == 0 {
            cut(&mut bytes, &mut rng)
        } else {
            alter(&mut bytes, &mut rng)
        };
        fs::write(db(&place), &bytes).unwrap();
        log.injected(Kind::Damage, format!("{} bytes are left", bytes.len()));
        let ran = place.duet(&GO_ON);
        no_crash(&ran);
        assert!(ran.code == 3 || !ran.stderr.is_empty(), "{}", ran.code);
        fs::remove_dir_all(place.path().join(".duet")).unwrap();
        assert_eq!(essence(&place.duet(&BEGIN).expect(3)), calm);
    }
}

const LOOP: &str = "i=0\nwhile [ $i -lt $1 ]; do i=$((i+1)); done\n";
const PROGRAMS: [&str; 12] = [
    "compare", "--command", "sh work.sh 2000", "sh work.sh 2000", "--command-name", "same", "--fixed", "--forks", "3",
    "--threshold", "50%", "--format=json",
];

/// Whole programs, with directories of their own.
fn programs() -> Place {
    let place = Place::new();
    place.write("work.sh", LOOP).write("home/x", "").write("tmp/x", "");
    place
}

fn measuring(place: &Place) -> Command {
    at_home(place, &PROGRAMS)
}

/// The command with the directories of the place.
fn at_home(place: &Place, args: &[&str]) -> Command {
    let mut command = place.command(args);
    command
        .env("HOME", place.path().join("home"))
        .env("XDG_CACHE_HOME", place.path().join("cache"))
        .env("TMPDIR", place.path().join("tmp"))
        .env("DUET_LOCK", place.path().join("lock"));
    command
}

/// A shell line runs before duet.
fn behind(line: &str, duet: &Command, place: &Place) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{line} && exec \"$@\""), "sh"]);
    passing_on(shell, duet, place)
}

/// Likewise, in a name space of its own, in which it may mount.
fn mounted(line: &str, duet: &Command, place: &Place) -> Command {
    let mut shell = Command::new("unshare");
    shell.args(["--mount", "sh", "-c", &format!("{line} && exec \"$@\""), "sh"]);
    passing_on(shell, duet, place)
}

fn passing_on(mut shell: Command, duet: &Command, place: &Place) -> Command {
    shell.arg(duet.get_program()).args(duet.get_args()).current_dir(place.path());
    for (name, value) in duet.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

/// It may have words instead of an answer, but the next run has an answer.
#[track_caller]
fn ends_in_words_and_then_well(place: &Place, disturbed: &mut Command) {
    let sitting = Sitting::start(place, disturbed);
    let duet = sitting.pid();
    let ran = sitting.end().1;
    no_crash(&ran);
    assert!(matches!(ran.code, 0..=2) && !ran.stderr.is_empty(), "{}: {}", ran.code, ran.stderr);
    nobody_is_left(duet);
    let ran = Ran::from(measuring(place).output().unwrap());
    let verdict = ran.verdict("same");
    // Three pairs of processes may agree by chance on a busy machine; so small a run is never sure of the size.
    assert!(!matches!(verdict.as_str(), "failed" | "regression" | "improvement"), "{verdict}\n{}", ran.stdout);
}

fn few_descriptors() {
    let log = Log::new("few descriptors", 0);
    for number in [7, 9, 11, 13, 15, 18, 22] {
        let place = programs();
        let mut limited = behind(&format!("ulimit -n {number}"), &measuring(&place), &place);
        log.injected(Kind::Surroundings, format!("{number} descriptors"));
        ends_in_words_and_then_well(&place, &mut limited);
    }
}

fn directories_cannot_be_written() {
    let log = Log::new("directories cannot be written", 0);
    for names in [&["home"][..], &["cache"], &["home", "cache"], &["home", "cache", "tmp"], &["."]] {
        let place = programs();
        fs::create_dir_all(place.path().join("cache")).unwrap();
        let at = |name: &&str| {
            let path = place.path().join(name).display().to_string();
            format!("mount --bind '{path}' '{path}' && mount -o remount,bind,ro '{path}'")
        };
        let line = names.iter().map(at).collect::<Vec<_>>().join(" && ");
        let mut command = mounted(&format!("{line} && cd ."), &measuring(&place), &place);
        log.injected(Kind::Surroundings, format!("{names:?} are read-only"));
        // Where the directory itself is read-only, what it says has to go elsewhere.
        if names == ["."] {
            let ran = Ran::from(command.output().unwrap());
            no_crash(&ran);
            assert!(ran.code == 1 && !ran.stderr.is_empty(), "{}: {}", ran.code, ran.stderr);
        } else {
            ends_in_words_and_then_well(&place, &mut command);
        }
    }
}

fn no_temporary_directory() {
    let log = Log::new("no temporary directory", 0);
    for (size, tmp) in [("size=4k", "tmp"), ("size=4k,ro", "tmp"), ("size=4k,ro", "nowhere"), ("size=4k", "work.sh")] {
        let place = programs();
        let mut duet = measuring(&place);
        duet.env("TMPDIR", place.path().join(tmp));
        let mut command = mounted(&format!("mount -t tmpfs -o {size} none /dev/shm"), &duet, &place);
        log.injected(Kind::Surroundings, format!("{size} {tmp}"));
        ends_in_words_and_then_well(&place, &mut command);
    }
}

/// A library that lets calls of the C library go wrong, compiled once.
fn shim() -> &'static Path {
    static SHIM: OnceLock<PathBuf> = OnceLock::new();
    SHIM.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/fault/shim.c");
        let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("shim-{}.so", std::process::id()));
        let mut cc = Command::new("cc");
        cc.args(["-O1", "-shared", "-fPIC", "-w", "-o"]).args([&built, &source]).arg("-ldl");
        assert!(cc.status().unwrap().success(), "the shim cannot be compiled");
        built
    })
}

/// The end of a command whose calls of a class go wrong from one on, its number, and whether they did.
struct Shimmed {
    ran: Ran,
    duet: u32,
    struck: bool,
}

fn with_shim(place: &Place, args: &[&str], fault: &[(&str, String)]) -> Shimmed {
    let log = place.path().join("shim.log");
    let _ = fs::remove_file(&log);
    let mut command = at_home(place, args);
    command.env("LD_PRELOAD", shim()).env("FAULT_LOG", &log);
    command.envs(fault.iter().map(|(name, value)| (*name, value)));
    let sitting = Sitting::start(place, &mut command);
    let duet = sitting.pid();
    let ran = sitting.end().1;
    if !fault.iter().any(|(_, value)| ["kill", "torn"].contains(&value.as_str())) {
        no_crash(&ran);
    }
    let struck = fs::read_to_string(&log).is_ok_and(|text| text.starts_with("fault"));
    Shimmed { ran, duet, struck }
}

fn fault(calls: &str, at: u64, deed: &str, lasts: u64) -> [(&'static str, String); 4] {
    [
        ("FAULT_CALLS", calls.to_owned()),
        ("FAULT_AT", at.to_string()),
        ("FAULT_DO", deed.to_owned()),
        ("FAULT_FOR", lasts.to_string()),
    ]
}

/// Numbers of errors that a call may fail with: input and output, no descriptor, no room.
const ERRORS: [&str; 3] = ["5", "24", "28"];

fn calls_fail(seed: u64) {
    let log = Log::new("calls fail", seed);
    let (calm, mut rng) = (calm(), Rng(seed));
    for number in 0..30 {
        let place = scripted();
        let deed = if number % 5 == 0 { "half" } else { ERRORS[rng.between(0, 3) as usize] };
        let at = rng.between(1, 260);
        let Shimmed { ran, struck, .. } = with_shim(&place, &BEGIN, &fault("write", at, deed, rng.between(1, 4)));
        if struck {
            log.injected(Kind::Call, format!("{deed} at {at}: exit code {}", ran.code));
        }
        assert!(matches!(ran.code, 1 | 3) && (ran.code == 3 || !ran.stderr.is_empty()), "{}: {}", ran.code, ran.stderr);
        let before = kept(&db(&place));
        let again = if before.is_empty() { place.duet(&BEGIN) } else { place.duet(&GO_ON) };
        let report = if again.code == 2 { place.duet(&["show", "latest", "--format", "json"]) } else { again };
        assert_eq!(essence(&report.expect(3)), calm);
        nothing_is_lost(&before, &kept(&db(&place)));
    }
}

const FORMER: &str = r#"[[waiver]]
benchmark = "earlier"
ceiling = "12%"
expires = 2999-01-01
reason = "agreed"
"#;

/// A plan or waivers that a command writes anew are the former or the new ones, wherever it is killed or refused room.
fn files_of_users_are_whole() {
    let log = Log::new("files of users are whole", 0);
    let place = scripted();
    place.duet(&BEGIN).expect(3);
    let waive = ["waive", "BenchmarkSlower", "--expires", "2999-01-01", "--reason", "known"];
    let file = place.path().join("duet-waivers.toml");
    let mut refused = 0;
    for deed in ["28", "kill", "torn"] {
        for at in 1.. {
            fs::write(&file, FORMER).unwrap();
            let Shimmed { ran, struck, .. } = with_shim(&place, &waive, &fault("write", at, deed, 1000));
            if !struck {
                break;
            }
            log.injected(Kind::Call, format!("{deed} at {at}: exit code {}", ran.code));
            refused += usize::from(ran.code != 0);
            let text = fs::read_to_string(&file).unwrap();
            assert!(
                text == FORMER || (text.starts_with(FORMER) && text.contains("BenchmarkSlower")),
                "{deed} at {at}:\n{text}"
            );
        }
    }
    assert!(refused > 3, "only {refused} writes were refused");
    fs::write(&file, FORMER).unwrap();
    place.duet(&waive).expect(0);
    let names = fs::read_dir(place.path()).unwrap().flatten().map(|e| e.file_name().to_string_lossy().into_owned());
    assert!(!names.into_iter().any(|name| name.ends_with(".new")), "a draft was left behind");
}

/// No directory stays behind the next run where the second of two calls that make one is refused.
fn descriptors_run_out() {
    let log = Log::new("descriptors run out", 0);
    let place = programs();
    for at in 1.. {
        let list = ["list", "--command", "sh work.sh 20"];
        let done = with_shim(&place, &list, &fault("open", at, "24", 4));
        if !done.struck {
            break;
        }
        Ran::from(at_home(&place, &list).output().unwrap()).expect(0);
        log.injected(Kind::Call, format!("at {at}: exit code {}", done.ran.code));
        for dir in ["tmp", "cache/duet", "/dev/shm"] {
            let left = place.path().join(dir).read_dir().map_or_else(|_| Vec::new(), Iterator::collect);
            let mut names = left.into_iter().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
            let ours = names.find(|name| name.starts_with(&format!("duet-{}-", done.duet)));
            assert_eq!(ours, None, "in {dir}, at {at}");
        }
    }
    assert!(log.injections() > 5, "only {} calls", log.injections());
}

/// Processors that cannot be used make a run longer, or are missed in words, and nothing else.
fn no_threads() {
    let log = Log::new("no thread can be started", 0);
    let place = programs();
    place.duet(&["run", "--command", "sh work.sh 20", "--iterations", "3"]).expect(0);
    for (args, begin, codes) in [
        (&["tune", "latest"][..], 1, [0, 0]),
        (&["tune", "latest"][..], 2, [0, 0]),
        (&PROGRAMS[..], 1, [0, 1]),
        (&PROGRAMS[..], 2, [0, 1]),
        (&[&PROGRAMS[..], &["--mode", "duet"]].concat()[..], 2, [0, 1]),
    ] {
        let Shimmed { ran, struck, .. } = with_shim(&place, args, &fault("thread", begin, "11", 1_000_000));
        if struck {
            log.injected(Kind::Call, format!("{args:?} from thread {begin}: exit code {}", ran.code));
        }
        assert!(codes.contains(&ran.code), "{args:?}: {} {}", ran.code, ran.stderr);
    }
    assert!(log.injections() > 2, "only {} refusals", log.injections());
}

fn time_is_set() {
    let log = Log::new("the time of day is set", 0);
    let calm = calm();
    for (step, lasts) in [(-3600_i64, 1), (3600, 1), (-946_080_000, 1), (946_080_000, 1), (-60, 20), (60, 20)] {
        for at in [1, 60, 200] {
            let place = scripted();
            let fault = [&fault("all", at, "clock", lasts)[..], &[("FAULT_STEP", step.to_string())]].concat();
            let Shimmed { ran, struck, .. } = with_shim(&place, &BEGIN, &fault);
            if struck {
                log.injected(Kind::Clock, format!("{step} s at {at}"));
            }
            assert_eq!(essence(&ran.expect(3)), calm);
        }
    }
    assert!(log.injections() > 6, "only {} steps", log.injections());
}

/// A `go` that is there for so many calls.
fn toolchain_goes() {
    let log = Log::new("the toolchain goes", 0);
    let found = Command::new("sh").args(["-c", "command -v go"]).output().unwrap();
    let real = String::from_utf8_lossy(&found.stdout).trim().to_owned();
    for calls in [0, 2, 4, 6] {
        let place = go_place();
        let (tools, count) = (place.path().join("tools"), place.path().join("count"));
        let line = format!(
            "#!/bin/sh\necho x >> '{count}'\n[ $(wc -l < '{count}') -le {calls} ] || {{ echo 'go: it is gone' >&2; exit 2; }}\nexec '{real}' \"$@\"\n",
            count = count.display(),
        );
        place.write("tools/go", &line);
        fs::set_permissions(tools.join("go"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let args = ["compare", "./old", "./new", "--threshold", "20%", "--forks", "4", "--fixed", "--format", "json"];
        let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
        let ran = Sitting::start(&place, command(&place, &args).env("PATH", path)).end().1;
        no_crash(&ran);
        log.injected(Kind::Surroundings, format!("after {calls} calls: exit code {}", ran.code));
        assert!(matches!(ran.code, 1..=3) && !ran.stderr.is_empty(), "{}: {}", ran.code, ran.stderr);
        let begun = counts(&crate::real::db(&place)).0 > 0;
        let resume = ["compare", "--resume", "latest", "--format", "json"];
        let again = Ran::from(command(&place, if begun { &resume } else { &args }).output().unwrap());
        if again.code != 2 {
            judged_right(&again);
        }
    }
}
