//! Times of candidates in earlier runs, from samples with known ones.

use std::collections::BTreeMap;
use std::time::Duration;

use duetbench_core::analysis::TrialFailure;
use duetbench_core::calibrate::Machine;
use duetbench_core::history::{PastRun, RUNS_MAX};
use duetbench_core::plan::Mode;
use duetbench_core::{BenchmarkId, Environment, Role, Sample, Schedule, Trial};
use duetbench_run::engine::{RunSummary, TrialOutcome};
use duetbench_run::store::{RunHead, RunId, Store};
use tempfile::TempDir;

use crate::head_support::environment;
use crate::store::{head, solo_head};

/// A fork pair of the candidate's slices, in nanoseconds per operation, behind one that warms up.
fn outcome(trial: &Trial, slices_ns: &[u64], mode: Mode) -> TrialOutcome {
    let sample = |role, iteration: u32, ns: u64| Sample {
        at: trial.coordinates(role, iteration),
        block: 0,
        invocations: 10,
        wall_ns: 10 * ns,
        cpu_ns: None,
        start_ns: 0,
        memory: None,
        cycles: None,
        warm_up: iteration == 0,
    };
    let candidate = [9_999].iter().chain(slices_ns).zip(0..).map(|(ns, i)| sample(Role::Candidate, i, *ns));
    let all = [sample(Role::Baseline, 0, 7), sample(Role::Baseline, 1, 7)].into_iter().chain(candidate);
    TrialOutcome { result: Ok(all.collect()), wall: Duration::from_millis(1), conditions: None, mode }
}

/// Adds a run whose forks have these slices; it came to its end.
fn add(store: &mut Store, head: &RunHead, forks: &[Vec<u64>], mode: Mode) -> RunId {
    let run = store.begin(head).unwrap();
    let schedule = Schedule::new(&head.plan);
    for (fork, suite_run) in forks.iter().zip(0..) {
        let trial = schedule.suite_run(0, suite_run)[0];
        store.add_trial(run, &trial, &outcome(&trial, fork, mode)).unwrap();
    }
    store.end(run, &RunSummary { measured: Duration::from_secs(1), complete: true }, None).unwrap();
    run
}

/// Forks of one slice each.
fn forks(ns: &[u64]) -> Vec<Vec<u64>> {
    ns.iter().map(|ns| vec![*ns]).collect()
}

/// A store in its folder with so many runs, each a nanosecond slower than the one before.
fn of_runs(runs: u64) -> (TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("duet.db")).unwrap();
    for ns in 1..=runs {
        add(&mut store, &head(), &forks(&[ns]), Mode::InterleavedOneCore);
    }
    (dir, store)
}

/// Runs by name, each with its time where it has one.
fn told(history: &[PastRun]) -> Vec<(&str, Option<f64>)> {
    history.iter().map(|past| (past.run.as_str(), past.times_ns.values().next().copied())).collect()
}

fn of(store: &Store, run: &str) -> Vec<PastRun> {
    store.history(run, &|other| other.environment == head().environment).unwrap()
}

#[test]
fn only_comparable_runs_that_came_to_their_end_are_in_a_history() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("duet.db")).unwrap();
    let one = Mode::InterleavedOneCore;
    add(&mut store, &head(), &forks(&[100, 104, 102]), one);
    let mut elsewhere = head();
    elsewhere.environment.cpu_model = "another".into();
    add(&mut store, &elsewhere, &forks(&[50]), one);
    let killed = add(&mut store, &head(), &forks(&[51]), one);
    store.end(killed, &RunSummary { measured: Duration::ZERO, complete: false }, None).unwrap();
    store.begin(&solo_head()).unwrap();
    // A run that was measured in another mode is no neighbour.
    add(&mut store, &head(), &forks(&[52]), Mode::Duet);
    let last = add(&mut store, &head(), &forks(&[110, 111, 112]), one);
    // Neither failures nor what later rounds measured of some benchmarks.
    let schedule = Schedule::new(&head().plan);
    let failed = TrialFailure { role: None, reason: "no luck".into(), discarded: false };
    let trial = schedule.suite_run(0, 3)[0];
    store.add_trial(last, &trial, &TrialOutcome { result: Err(failed), ..outcome(&trial, &[1], one) }).unwrap();
    let trial = Trial { round: 1, ..trial };
    store.add_trial(last, &trial, &outcome(&trial, &[1], one)).unwrap();
    add(&mut store, &head(), &forks(&[53]), one);
    assert_eq!(told(&of(&store, "r6")), [("r1", Some(102.0)), ("r5", None), ("r6", Some(111.0))]);
    // One that is asked for itself may have been killed.
    assert_eq!(told(&of(&store, "r3")), [("r1", Some(102.0)), ("r3", Some(51.0))]);
    let id = BenchmarkId { package: "example.com/p".into(), name: "BenchmarkA".into() };
    let RunHead { started, candidate, .. } = head();
    let times_ns = BTreeMap::from([(id, 102.0)]);
    assert_eq!(of(&store, "r1"), [PastRun { run: "r1".into(), started, version: candidate.requested, times_ns }]);
    assert!(store.history("r9", &|_| true).is_err());
}

#[test]
fn of_each_run_the_last_slices_of_the_last_forks_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("duet.db")).unwrap();
    let one = Mode::InterleavedOneCore;
    add(&mut store, &head(), &forks(&[900, 900, 900, 1, 2, 3, 4, 5]), one);
    add(&mut store, &head(), &[[vec![900; 100], vec![100; 200]].concat()], one);
    assert_eq!(told(&of(&store, "r2")), [("r1", Some(3.0)), ("r2", Some(100.0))]);
}

#[test]
fn runs_of_a_search_are_in_no_history_but_their_own() {
    let (_dir, mut store) = of_runs(5);
    let run = |name: Option<&str>| serde_json::json!({"base": 0, "head": 1, "benchmark": null, "run": name});
    let search = serde_json::json!({"compared": [run(Some("r2")), run(None)], "open": run(Some("r4"))});
    store.add_bisection(&search).unwrap();
    assert_eq!(told(&of(&store, "latest")), [("r1", Some(1.0)), ("r3", Some(3.0)), ("r5", Some(5.0))]);
    assert_eq!(told(&of(&store, "r2")), [("r1", Some(1.0)), ("r2", Some(2.0))]);
}

#[test]
fn a_history_has_an_end() {
    let (_dir, store) = of_runs(25);
    let history = of(&store, "latest");
    assert_eq!(history.len(), RUNS_MAX);
    assert_eq!((told(&history)[0], told(&history)[19]), (("r6", Some(6.0)), ("r25", Some(25.0))));
}

#[test]
fn other_software_is_a_step_in_a_history_and_another_processor_its_end() {
    let here = Machine::of(&environment(), None);
    let updated = Environment { toolchain: "go9".into(), kernel: "9.9".into(), ..environment() };
    assert!(Machine::of(&updated, None).is_alike(&here));
    let other = Environment { cpu_model: "another".into(), ..environment() };
    assert!(!Machine::of(&other, None).is_alike(&here));
}
