//! Known answers, for several crates' tests. The scripts beside this file made them.

#![allow(dead_code, unreachable_pub, reason = "several tests include it, and none uses all of it")]

use serde_json::Value;

/// Those of `make.py`.
pub fn answers(method: &str) -> Vec<Value> {
    cases(include_str!("scipy.json"), method)
}

/// Those of `make_suite.py`.
pub fn suite_answers(method: &str) -> Vec<Value> {
    cases(include_str!("suite.json"), method)
}

/// Those of `make_tests.py`.
pub fn test_answers(method: &str) -> Vec<Value> {
    cases(include_str!("tests.json"), method)
}

/// Those of `make_bootstrap.py`.
pub fn bootstrap_answers(method: &str) -> Vec<Value> {
    cases(include_str!("bootstrap.json"), method)
}

/// Those of `make_changepoints.py`.
pub fn changepoints_answers() -> Vec<Value> {
    serde_json::from_str(include_str!("changepoints.json")).expect("the file is JSON")
}

fn cases(file: &str, method: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(file).expect("the file is JSON");
    all[method].as_array().expect("a list of cases").clone()
}

pub fn numbers(case: &Value) -> Vec<f64> {
    case.as_array().expect("a list").iter().map(|v| v.as_f64().expect("a number")).collect()
}

#[track_caller]
pub fn close(ours: f64, known: f64, tolerance: f64) {
    assert!((ours - known).abs() <= tolerance * known.abs().max(1e-300), "ours {ours:e}, known {known:e}");
}
