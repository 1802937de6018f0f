//! Real processes, killed, stopped and starved while they are measured; and `duet` itself killed while it measures or builds.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use libtest_mimic::Trial;
use rustix::process::{Pid, Signal};

use crate::common::{GOOD, Place, Ran, simple, two};
use crate::support::{Kind, Log, Rng, Sitting, counts, died_of, is_sound, kept, nothing_is_lost, told_is_kept};
use crate::workers::{kill, nobody_is_left, starve, stop, workers};

/// Processes that are killed in one run: a benchmark is given up when five of its trials have failed, and all may be of one.
const KILLS_MAX: u32 = 4;

/// A benchmark that stays as it is, and one that will take twice as long.
pub fn tests_of(twice: bool) -> String {
    let again = if twice { "\n\t\tsum = sha256.Sum256(page[:])" } else { "" };
    let slow = GOOD.replace("BenchmarkGood", "BenchmarkSlow").replace("(page[:])\n", &format!("(page[:]){again}\n"));
    simple(&format!("{GOOD}\n{slow}"))
}

pub fn place() -> Place {
    two(&tests_of(false), &tests_of(true))
}

/// The command with a lock and a cache of its own, so that it waits for nobody and what it leaves behind can be seen.
pub fn command(place: &Place, args: &[&str]) -> Command {
    let mut command = place.command(args);
    let go_cache = Command::new("go").args(["env", "GOCACHE"]).output().unwrap();
    command
        .env("GOCACHE", String::from_utf8_lossy(&go_cache.stdout).trim())
        .env("XDG_CACHE_HOME", place.path().join("cache"))
        .env("DUET_LOCK", place.path().join("lock"))
        .env("CI", "");
    command
}

pub fn db(place: &Place) -> PathBuf {
    place.path().join(".duet/duet.db")
}

const FORM: [&str; 2] = ["--format", "json"];

pub fn begin(place: &Place, more: &[&str]) -> Sitting {
    let args = [&["compare", "./old", "./new", "--threshold", "20%", "--timeout", "3m"], &FORM[..], more].concat();
    Sitting::start(place, &mut command(place, &args))
}

pub fn go_on(place: &Place) -> Sitting {
    Sitting::start(place, &mut command(place, &[&["compare", "--resume", "latest"], &FORM[..]].concat()))
}

/// Waits until so many trials are in the store, or nobody is left to make them.
pub fn wait_for_trials(place: &Place, sitting: &mut Sitting, number: i64) {
    while sitting.ended().is_none() && counts(&db(place)).1 < number {
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Directories that runs have made for themselves and not removed.
pub fn scratches(place: &Place, duets: &[u32]) -> Vec<PathBuf> {
    let of =
        |dir: PathBuf| fs::read_dir(dir).map_or_else(|_| Vec::new(), |all| all.flatten().map(|e| e.path()).collect());
    let ours = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        duets.iter().any(|duet| name.starts_with(&format!("duet-{duet}-")))
    };
    let memory = of(PathBuf::from("/dev/shm")).into_iter().filter(ours);
    // Go tools are kept on purpose.
    let cache = place.path().join("cache/duet");
    let kept = ["linkers", "rewriters"].map(|folder| cache.join(folder));
    of(cache).into_iter().filter(|path| !kept.contains(path)).chain(memory).collect()
}

/// Never a wrong verdict: what is equal is not called changed by more than two programs of equal sources may really differ, and what takes
/// twice as long not equal or faster.
#[track_caller]
pub fn judged_right(ran: &Ran) {
    let (good, slow) = (ran.verdict("BenchmarkGood"), ran.verdict("BenchmarkSlow"));
    let tolerated = good.ends_with("_within_tolerance");
    assert!(
        tolerated || matches!(good.as_str(), "no_change" | "inconclusive" | "failed"),
        "Good: {good}\n{}",
        ran.stdout
    );
    assert!(matches!(slow.as_str(), "regression" | "inconclusive" | "failed"), "Slow: {slow}\n{}", ran.stdout);
    for name in ["BenchmarkGood", "BenchmarkSlow"] {
        let benchmark = ran.benchmark(name);
        assert!(benchmark["verdict"] != "failed" || benchmark["failure"]["reason"].is_string(), "{benchmark:#}");
    }
    assert!(matches!(ran.code, 0 | 1 | 3), "exit code {}\n{}", ran.code, ran.stderr);
}

/// Failed trials that a report lists.
fn failed_trials(ran: &Ran) -> usize {
    let of = |name| {
        let warnings = ran.benchmark(name)["warnings"].clone();
        let listed = warnings.as_array().unwrap().iter().find(|w| w["kind"] == "failed_trials").cloned();
        listed.map_or(0, |w| w["text"].as_str().unwrap().split(' ').next().unwrap().parse().unwrap())
    };
    of("BenchmarkGood") + of("BenchmarkSlow")
}

pub fn tests(seed: u64) -> Vec<Trial> {
    let disturbed = |mode: &'static str, number: u64| {
        Trial::test(format!("real: processes are killed, stopped and starved, {mode}"), move || {
            workers_are_disturbed(mode, seed + number);
            Ok(())
        })
    };
    vec![
        disturbed("duet", 100),
        disturbed("interleaved", 101),
        Trial::test("real: duet stands still for longer than a trial may take", move || {
            duet_stands_still(seed + 103);
            Ok(())
        }),
        Trial::test("real: duet is killed and gone on with", move || {
            duet_is_killed(seed + 102);
            Ok(())
        }),
    ]
}

/// Faults that are injected into each mode, over as many runs as that takes.
const DISTURBANCES: usize = 20;

fn workers_are_disturbed(mode: &'static str, seed: u64) {
    let log = Log::new(mode, seed);
    let mut rng = Rng(seed);
    while log.injections() < DISTURBANCES {
        run_is_disturbed(mode, &mut rng, &log);
    }
}

fn run_is_disturbed(mode: &str, rng: &mut Rng, log: &Log) {
    let place = place();
    let mut sitting = begin(&place, &["--builds", "1", "--forks", "14", "--fixed", "--mode", mode]);
    wait_for_trials(&place, &mut sitting, 2);
    let mut kills = 0;
    while sitting.ended().is_none() {
        std::thread::sleep(Duration::from_millis(rng.between(5, 90)));
        let all = workers(sitting.pid());
        if all.is_empty() {
            continue;
        }
        let worker = all[rng.between(0, all.len() as u64) as usize];
        let time = Duration::from_millis(rng.between(50, 300));
        let done = match rng.between(0, 6) {
            0 if kills < KILLS_MAX => {
                kills += 1;
                (Kind::KillWorker, kill(worker))
            }
            1 => (Kind::Starve, starve(worker, time)),
            2 => (Kind::StopDuet, stop(pid_of(&sitting), time)),
            _ => (Kind::StopWorker, stop(worker, time)),
        };
        if let (kind, true) = done {
            log.injected(kind, format!("{worker:?} for {time:?} after {} trials", counts(&db(&place)).1));
        }
    }
    let duet = sitting.pid();
    let (_, ran) = sitting.end();
    nobody_is_left(duet);
    judged_right(&ran);
    let kept = kept(&db(&place));
    told_is_kept(&ran.stderr, &kept);
    let failed = kept.iter().filter(|k| k.failed).count();
    log.note(format!("{kills} kills, {failed} failed trials"));
    assert_eq!(failed_trials(&ran), failed, "\n{}", ran.stdout);
    assert!(failed <= kills as usize, "{failed} failed trials, {kills} kills\n{}", ran.stderr);
}

fn pid_of(sitting: &Sitting) -> Pid {
    Pid::from_raw(i32::try_from(sitting.pid()).unwrap()).unwrap()
}

/// A process that ended in time is not called hung because nobody looked in time.
fn duet_stands_still(seed: u64) {
    let log = Log::new("duet stands still", seed);
    let mut rng = Rng(seed);
    let place = place();
    let args = ["compare", "./old", "./new", "--builds", "1", "--forks", "6", "--fixed", "--threshold", "20%"];
    let mut sitting = Sitting::start(&place, &mut command(&place, &[&args[..], &FORM, &["--timeout", "6s"]].concat()));
    wait_for_trials(&place, &mut sitting, 2);
    std::thread::sleep(Duration::from_millis(rng.between(10, 60)));
    assert!(stop(pid_of(&sitting), Duration::from_secs(8)));
    log.injected(Kind::StopDuet, "for 8 s after 2 trials");
    let ran = sitting.end().1;
    judged_right(&ran);
    assert_eq!(failed_trials(&ran), 0, "{}", ran.stderr);
}

fn duet_is_killed(seed: u64) {
    let log = Log::new("duet is killed", seed);
    let mut rng = Rng(seed);
    let place = place();
    let mut duets = Vec::new();
    while log.injections() < 8 {
        let begun = counts(&db(&place)).0 > 0;
        let mut sitting =
            if begun { go_on(&place) } else { begin(&place, &["--builds", "1", "--forks", "40", "--fixed"]) };
        duets.push(sitting.pid());
        match rng.between(0, 4) {
            // While it builds, most likely.
            0 => std::thread::sleep(Duration::from_millis(rng.between(0, 1000))),
            _ => {
                let goal = counts(&db(&place)).1 + i64::try_from(rng.between(1, 5)).unwrap();
                wait_for_trials(&place, &mut sitting, goal);
                std::thread::sleep(Duration::from_millis(rng.between(0, 60)));
            }
        }
        // Somebody who is stopped must not survive either.
        let stopped = workers(sitting.pid()).first().copied().filter(|_| rng.between(0, 2) == 0);
        stopped.map(|worker| rustix::process::kill_process(worker, Signal::STOP));
        let before = kept(&db(&place));
        if !sitting.signal(Signal::KILL) {
            log.note("nobody looked before it had ended");
            break;
        }
        let duet = sitting.pid();
        let (status, ran) = sitting.end();
        assert!(died_of(status, Signal::KILL));
        nobody_is_left(duet);
        let after = kept(&db(&place));
        nothing_is_lost(&before, &after);
        told_is_kept(&ran.stderr, &after);
        log.injected(
            Kind::KillDuet,
            format!("{} trials before, {} after, stopped {stopped:?}", before.len(), after.len()),
        );
        // The one before was dead when this one made its directories, if it came to that.
        let left = scratches(&place, &duets);
        log.note(format!("directories: {left:?}"));
    }
    let before = kept(&db(&place));
    let sitting = go_on(&place);
    let (_, ran) = sitting.end();
    judged_right(&ran);
    let after = kept(&db(&place));
    nothing_is_lost(&before, &after);
    is_sound(&db(&place));
    let good = ran.benchmark("BenchmarkGood");
    assert_eq!(good["forks"].as_array().unwrap().len() + failed_trials(&ran), 40, "{good:#}");
    assert_eq!(scratches(&place, &duets), Vec::<PathBuf>::new(), "runs that were killed left directories");
}
