//! Several runs that want the machine: they take turns in the order in which they came, whatever becomes of those before them.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::{Place, Ran};

fn lock_of(place: &Place) -> PathBuf {
    place.path().join("locks/lock")
}

/// A place whose lock we hold.
fn held() -> (Place, File) {
    let place = Place::new();
    place.write("locks/lock", "");
    let file = File::options().write(true).open(lock_of(&place)).unwrap();
    file.lock().unwrap();
    (place, file)
}

fn measuring(place: &Place, name: &str, more: &[&str]) -> Command {
    let always = ["compare", "--command", "true", "true", "--forks", "3", "--fixed", "--command-name", name];
    let mut command = place.command(&[&always[..], more].concat());
    let told = File::create(place.path().join(format!("{name}.stderr"))).unwrap();
    command.env("DUET_LOCK", lock_of(place)).stdout(Stdio::null()).stderr(told);
    command
}

fn told(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path().join(format!("{name}.stderr"))).unwrap()
}

/// The files beside the lock.
fn tickets(place: &Place) -> usize {
    std::fs::read_dir(place.path().join("locks")).unwrap().count() - 1
}

/// Starts a run that has its place in the queue when this returns.
fn waiting(place: &Place, name: &str) -> Child {
    let before = tickets(place);
    let mut child = measuring(place, name, &[]).spawn().unwrap();
    while tickets(place) == before || !told(place, name).contains("waiting for") {
        assert!(child.try_wait().unwrap().is_none(), "{}", told(place, name));
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

/// The benchmark of a stored run.
fn benchmark(place: &Place, run: &str) -> String {
    let report = place.duet(&["show", run, "--format", "json"]).json();
    report["benchmarks"][0]["name"].as_str().unwrap().to_owned()
}

#[test]
fn runs_take_turns_in_the_order_in_which_they_came() {
    let (place, lock) = held();
    let children = ["first", "second", "third"].map(|name| waiting(&place, name));
    for (name, before) in [("first", None), ("second", Some(" 1 before you")), ("third", Some(" 2 before you"))] {
        let told = told(&place, name);
        let (_, since) = told.split_once("waiting for another run since ").unwrap();
        assert_eq!(since.lines().next().unwrap().split_once(',').map(|(_, before)| before), before, "{told}");
    }
    drop(lock);
    for mut child in children {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    assert_eq!(["r1", "r2", "r3"].map(|run| benchmark(&place, run)), ["first", "second", "third"]);
    assert_eq!(tickets(&place), 0);
}

#[test]
fn whoever_died_while_waiting_is_in_nobodys_way() {
    let (place, lock) = held();
    let mut dying = ["first", "second"].map(|name| waiting(&place, name));
    let mut last = waiting(&place, "last");
    for child in &mut dying {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    drop(lock);
    assert_eq!(last.wait().unwrap().code(), Some(0), "{}", told(&place, "last"));
    assert_eq!(tickets(&place), 0, "what the dead left behind");
}

#[test]
fn whoever_is_interrupted_while_waiting_leaves_nothing() {
    let (place, _lock) = held();
    let mut child = waiting(&place, "first");
    let number = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(number, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(tickets(&place), 0);
}

#[test]
fn a_wait_ends_with_its_limit() {
    let (place, _lock) = held();
    for (more, words) in [
        (["--wait", "1s"].as_slice(), " s of waiting\nhint: leave out `--no-wait`, or wait longer: `--wait TIME`"),
        (&["--no-wait"], "another run is measuring on this machine\n"),
        (&["--wait", "0s"], "another run is measuring on this machine\n"),
    ] {
        assert_eq!(measuring(&place, "first", more).status().unwrap().code(), Some(1));
        assert!(told(&place, "first").contains(words), "{}", told(&place, "first"));
        assert_eq!(tickets(&place), 0);
    }
    let mut set = measuring(&place, "first", &[]);
    assert_eq!(set.env("DUET_WAIT", "1ms").status().unwrap().code(), Some(1));
    Ran::from(place.command(&["compare", "--wait", "1s", "--no-wait"]).output().unwrap())
        .expect(2)
        .says(&["--no-wait"]);
}
