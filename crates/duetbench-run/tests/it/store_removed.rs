//! Runs that are removed, and what becomes of the others.

use duetbench_core::analysis::TrialFailure;
use duetbench_core::{Schedule, Trial};
use duetbench_run::engine::TrialOutcome;
use duetbench_run::store::Store;

use crate::store::{head, outcome_of, place, samples};

#[test]
fn a_run_is_read_after_one_was_removed_behind_which_a_trial_of_it_failed() {
    let (_dir, path) = place();
    let mut store = Store::open(&path).unwrap();
    let trials: Vec<Trial> = (0..3).map(|suite_run| Schedule::new(&head().plan).suite_run(0, suite_run)[0]).collect();
    let [first, second] = [(); 2].map(|()| store.begin(&head()).unwrap());
    store.add_trial(first, &trials[0], &outcome_of(&trials[0], 1)).unwrap();
    store.add_trial(second, &trials[0], &outcome_of(&trials[0], 5)).unwrap();
    let failed = Err(TrialFailure { role: None, reason: "no luck".into(), discarded: false });
    store.add_trial(first, &trials[1], &TrialOutcome { result: failed, ..outcome_of(&trials[1], 0) }).unwrap();
    store.remove(second).unwrap();
    store.add_trial(first, &trials[2], &outcome_of(&trials[2], 1)).unwrap();
    let measured = store.load("r1").unwrap().comparison().unwrap().measured();
    assert_eq!(measured[0].samples, [samples(&trials[0]), samples(&trials[2])].concat());
}

#[test]
fn rows_that_were_numbered_anew_are_no_other_trial_s_samples() {
    let (_dir, path) = place();
    let mut store = Store::open(&path).unwrap();
    let trial = Schedule::new(&head().plan).suite_run(0, 0)[0];
    let runs = [3, 1, 1].map(|times| {
        let run = store.begin(&head()).unwrap();
        store.add_trial(run, &trial, &outcome_of(&trial, times)).unwrap();
        run
    });
    store.remove(runs[0]).unwrap();
    drop(store);
    let count =
        |connection: &rusqlite::Connection| connection.query_row("SELECT count(*) FROM samples", [], |row| row.get(0));
    let connection = rusqlite::Connection::open(&path).unwrap();
    let before: i64 = count(&connection).unwrap();
    connection.execute_batch("VACUUM").unwrap();
    let mut store = Store::open(&path).unwrap();
    let error = store.load("r2").unwrap_err().to_string();
    assert!(error.contains("VACUUM"), "{error}");
    store.remove(runs[1]).unwrap();
    assert_eq!(count(&connection).unwrap(), before, "samples of another run are gone");
}

#[test]
fn a_run_that_is_removed_gives_its_room_back() {
    let (_dir, path) = place();
    let mut store = Store::open(&path).unwrap();
    let trial = Schedule::new(&head().plan).suite_run(0, 0)[0];
    let [kept, removed] = [1, 5000].map(|times| {
        let run = store.begin(&head()).unwrap();
        store.add_trial(run, &trial, &outcome_of(&trial, times)).unwrap();
        run
    });
    drop(store);
    let bytes = || std::fs::metadata(&path).unwrap().len();
    let before = bytes();
    let mut store = Store::open(&path).unwrap();
    store.remove(removed).unwrap();
    assert!(bytes() < before / 4, "{} of {before} bytes", bytes());
    assert_eq!(store.load(&kept.to_string()).unwrap().comparison().unwrap().measured()[0].samples, samples(&trial));
}
