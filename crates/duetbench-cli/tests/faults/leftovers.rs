//! Leftovers of a killed run, and their removal by the next one: directories, worktrees, half-made builds.

use std::path::PathBuf;
use std::time::Duration;

use libtest_mimic::Trial;
use rustix::process::Signal;

use crate::common::{Place, wait_until};
use crate::real::{begin, command, db, go_on, judged_right, place, scratches, tests_of, wait_for_trials};
use crate::support::{Kind, Log, Rng, Sitting, counts, is_sound, kept, nothing_is_lost};
use crate::workers::{nobody_is_left, nobody_works_below, workers};

pub fn tests(seed: u64) -> Vec<Trial> {
    vec![
        Trial::test("leftovers: a run with many builds is killed and gone on with", move || {
            builds_are_linked_again(seed + 300);
            Ok(())
        }),
        Trial::test("leftovers: worktrees of a killed run are pruned", move || {
            worktrees_are_pruned(seed + 301);
            Ok(())
        }),
    ]
}

/// Kills `duet`, and checks that its store has all it had.
fn kill(place: &Place, mut sitting: Sitting, log: &Log) {
    let before = kept(&db(place));
    let duet = sitting.pid();
    assert!(sitting.signal(Signal::KILL), "it ended before: {}", sitting.stderr());
    let ran = sitting.end().1;
    nobody_is_left(duet);
    let last_words = ran.stderr.lines().last().unwrap_or_default().to_owned();
    log.injected(Kind::KillDuet, format!("{} trials, after `{last_words}`", before.len()));
    nothing_is_lost(&before, &kept(&db(place)));
}

fn builds_are_linked_again(seed: u64) {
    let log = Log::new("many builds", seed);
    let (place, mut rng) = (place(), Rng(seed));
    let mut duets = Vec::new();
    for goal in [1, 4] {
        let begun = counts(&db(&place)).0 > 0;
        let mut sitting = if begun { go_on(&place) } else { begin(&place, &["--forks", "6", "--fixed"]) };
        duets.push(sitting.pid());
        wait_for_trials(&place, &mut sitting, goal);
        // Programs are linked beside and between trials: somewhere in there, mostly, and long before the run is over.
        std::thread::sleep(Duration::from_millis(rng.between(0, 300)));
        assert_ne!(scratches(&place, &duets), Vec::<PathBuf>::new());
        kill(&place, sitting, &log);
    }
    let before = kept(&db(&place));
    let ran = go_on(&place).end().1;
    judged_right(&ran);
    nothing_is_lost(&before, &kept(&db(&place)));
    is_sound(&db(&place));
    let good = ran.benchmark("BenchmarkGood");
    assert_eq!(good["forks"].as_array().unwrap().len(), 6, "{good:#}");
    nobody_works_below(place.path());
    assert!(good["counts"]["builds"].as_u64() > Some(1), "{good:#}");
    assert_eq!(scratches(&place, &duets), Vec::<PathBuf>::new());
}

/// Without Go.
pub fn tests_of_commands() -> Vec<Trial> {
    vec![Trial::test("leftovers: what a killed run measured is not measured beside", || {
        descendants_are_ended();
        Ok(())
    })]
}

/// Nobody but a later run can end them: the kernel kills the measured process with `duet`, but not what that started. Any run of this user
/// does, so that one of another test may have come first, and told of it.
fn descendants_are_ended() {
    let place = Place::new();
    let compare = |line| command(&place, &["compare", "--command", line, line, "--forks", "1", "--fixed"]);
    let mut sitting = Sitting::start(&place, &mut compare("sh -c 'sleep 1000; true'"));
    let duet = sitting.pid();
    wait_until("it measures a shell and what that started", || workers(duet).len() == 2);
    assert!(sitting.signal(Signal::KILL), "it ended before: {}", sitting.stderr());
    sitting.end();
    wait_until("the shell ends with `duet`", || workers(duet).len() <= 1);
    compare("true").output().unwrap();
    assert_eq!(workers(duet), []);
}

fn worktrees_are_pruned(seed: u64) {
    let log = Log::new("worktrees", seed);
    let place = Place::go_module(&tests_of(false));
    place.write(".gitignore", "cache\nlock\nsitting-*\n");
    place.git(&["init", "-q"]);
    place.commit_all("one");
    place.write("fixture_test.go", &tests_of(true));
    place.commit_all("two");
    let args = ["compare", "HEAD~1", "HEAD", "--builds", "1", "--forks", "8", "--fixed", "--threshold", "20%"];
    let mut sitting = Sitting::start(&place, &mut command(&place, &args));
    let duet = sitting.pid();
    wait_for_trials(&place, &mut sitting, 3);
    kill(&place, sitting, &log);
    assert_eq!(worktrees(&place), 3);
    assert_ne!(scratches(&place, &[duet]), Vec::<PathBuf>::new());
    judged_right(&go_on(&place).end().1);
    assert_eq!(worktrees(&place), 1);
    assert_eq!(scratches(&place, &[duet]), Vec::<PathBuf>::new());
    assert_eq!(place.git(&["status", "--porcelain"]), "");
    assert!(!place.path().join(".git/worktrees").exists());
}

fn worktrees(place: &Place) -> usize {
    place.git(&["worktree", "list"]).lines().count()
}
