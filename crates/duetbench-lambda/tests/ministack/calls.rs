//! Calls and what comes of them.

use std::sync::Barrier;
use std::time::Duration;

use duetbench_lambda::PAYLOAD_BYTES_MAX;
use duetbench_run::fleet::{Deployed, Deployment, Engine, Reply};
use serde_json::json;

use crate::Case;
use crate::ministack::{Options, ROOT};
use crate::place::{call, connect, connect_to, must_answer, package, place, wish};
use crate::proxy::Proxy;

pub const CASES: &[Case] = &[
    ("calls_end_as_they_should", calls_end_as_they_should),
    ("answers_of_almost_6_mb_arrive_and_larger_requests_are_not_sent", large_payloads),
    ("reserved_concurrency_throttles_with_its_reason", reserved_concurrency_throttles),
    ("a_small_account_is_told_before_anything_is_made", a_small_account_is_told_before_anything_is_made),
    ("calls_of_150_threads_are_in_flight_at_once", calls_of_150_threads_are_in_flight_at_once),
    ("a_thousand_threads_may_wait_at_once", a_thousand_threads_may_wait_at_once),
];

#[track_caller]
fn must_crash(deployed: &dyn Deployed, event: &serde_json::Value, word: &str) {
    match call(deployed, event) {
        Reply::Crashed(said) => assert!(said.contains(word), "{said}"),
        other => panic!("{other:?}"),
    }
}

fn calls_end_as_they_should() {
    let server = place(Options::default());
    let (lambda, package) = (connect(&server), package(&server));
    let wish = Deployment { call_max: Duration::from_millis(1500), ..wish(&package, "r1") };
    let deployed = lambda.deploy(&wish).unwrap();
    must_answer(&*deployed, &json!({ "do": "nothing", "text": "grün" }));
    must_crash(&*deployed, &json!({ "do": "error" }), "no luck (ValueError)");
    must_crash(&*deployed, &json!({ "do": "exit" }), "Runtime.ExitError");
    must_crash(&*deployed, &json!({ "do": "kill" }), "Runtime.ExitError");
    must_crash(&*deployed, &json!({ "do": "sleep", "seconds": 60 }), "Task timed out after 2.00 seconds");
    // Whatever became of instances before, the next call gets one.
    must_answer(&*deployed, &json!({ "do": "nothing" }));
    deployed.remove().unwrap();
}

fn large_payloads() {
    let server = place(Options::default());
    let (lambda, package) = (connect(&server), package(&server));
    let deployed = lambda.deploy(&wish(&package, "r1")).unwrap();
    must_answer(&*deployed, &json!({ "do": "echo", "text": "x".repeat(5_900_000) }));
    match deployed.call(&vec![b' '; PAYLOAD_BYTES_MAX + 1]) {
        Reply::Refused(said) => assert!(said.contains("6291457 bytes"), "{said}"),
        other => panic!("{other:?}"),
    }
    deployed.remove().unwrap();
}

/// Calls from so many threads at once; gives what came.
fn at_once(deployed: &dyn Deployed, threads: usize, event: &serde_json::Value) -> Vec<Reply> {
    let barrier = Barrier::new(threads);
    std::thread::scope(|scope| {
        let call = || {
            barrier.wait();
            call(deployed, event)
        };
        let calls: Vec<_> = (0..threads).map(|_| scope.spawn(call)).collect();
        calls.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Fails unless all were answered or throttled for this reason, some of each.
#[track_caller]
fn some_throttled(replies: &[Reply], answered_min: usize, reason: &str) {
    let throttled = replies.iter().filter(|r| **r == Reply::Throttled(reason.into())).count();
    let answered = replies.iter().filter(|r| matches!(r, Reply::Answer(_))).count();
    assert_eq!(throttled + answered, replies.len(), "{replies:?}");
    assert!(throttled > 0 && answered >= answered_min, "{throttled} throttled, {answered} answered");
}

fn reserved_concurrency_throttles() {
    let server = place(Options::default());
    let (lambda, package) = (connect(&server), package(&server));
    let deployed = lambda.deploy(&Deployment { parallel: 3, ..wish(&package, "r1") }).unwrap();
    let replies = at_once(&*deployed, 24, &json!({ "do": "sleep", "seconds": 2 }));
    some_throttled(&replies, 3, "ReservedFunctionConcurrentInvocationLimitExceeded");
    deployed.remove().unwrap();
}

fn a_small_account_is_told_before_anything_is_made() {
    let server = place(Options { concurrency: Some(104), ..Options::default() });
    let (lambda, package) = (connect(&server), package(&server));
    assert_eq!(lambda.limits().unwrap().parallel, 4);
    let error = lambda.deploy(&Deployment { parallel: 5, ..wish(&package, "r1") }).err().unwrap();
    assert!(error.hint.as_deref().is_some_and(|hint| hint.starts_with("`--parallel 4`")), "{error:?}");
    assert!(server.functions().is_empty());
    let deployed = lambda.deploy(&Deployment { parallel: 4, ..wish(&package, "r1") }).unwrap();
    assert_eq!(lambda.limits().unwrap().parallel, 0);
    deployed.remove().unwrap();
}

fn calls_of_150_threads_are_in_flight_at_once() {
    let server = place(Options::default());
    let (lambda, package) = (connect(&server), package(&server));
    let deployed = lambda.deploy(&Deployment { parallel: 150, ..wish(&package, "r1") }).unwrap();
    let folder = server.dir().join("meeting");
    std::fs::create_dir(&folder).unwrap();
    // No instance answers before all have been called.
    let event = json!({ "do": "meet", "folder": folder, "count": 150 });
    let replies = at_once(&*deployed, 150, &event);
    let answered = replies.iter().filter(|r| matches!(r, Reply::Answer(_))).count();
    assert_eq!(answered, 150, "{:?}", replies.iter().find(|r| !matches!(r, Reply::Answer(_))));
    deployed.remove().unwrap();
}

/// A thousand instances are too many for a test: their answers come from a proxy, once all calls are open.
fn a_thousand_threads_may_wait_at_once() {
    let server = place(Options { concurrency: Some(4100), ..Options::default() });
    let (proxy, package) = (Proxy::start(&server.endpoint()), package(&server));
    let lambda = connect_to(&proxy.endpoint, ROOT, false).unwrap();
    // Both ends of all connections are open files of this process, which may have as many as calls are wished for.
    let deployed = lambda.deploy(&Deployment { parallel: 4000, ..wish(&package, "r1") }).unwrap();
    proxy.gather("POST /2015-03-31/functions/duet-r1/invocations", 1000);
    let replies = at_once(&*deployed, 1000, &json!({ "do": "nothing" }));
    assert_eq!(replies.iter().find(|reply| **reply != Reply::Answer(b"{}".to_vec())), None);
    deployed.remove().unwrap();
}
