//! The whole way of a run on AWS Lambda with the real binary, against a server that takes what Lambda takes and runs functions as
//! processes here: what is found, what is left behind, and what becomes of a run whose calls, coordinator or server are disturbed.
//!
//! Where MiniStack cannot be installed (no Python, no PyPI) these tests are listed as ignored.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may")]

mod common;
mod fleet_support;
#[allow(dead_code, unreachable_pub, missing_docs, reason = "its own tests use all of it")]
#[path = "../../duetbench-lambda/tests/support/ministack.rs"]
mod ministack;
#[allow(dead_code, unreachable_pub, missing_docs, reason = "its own tests use all of it")]
#[path = "../../duetbench-lambda/tests/ministack/proxy.rs"]
mod proxy;
#[allow(dead_code, unreachable_pub, missing_docs, reason = "what is done to runs without a fleet is more")]
#[path = "faults/support.rs"]
mod support;

use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use common::{Place, Ran};
use fleet_support::{
    command, comparing, db, ended, every_task_counts_once, going_on, nobody_works_for, slug_is_the_regression, textkit,
    wait_for_calls, worker,
};
use libtest_mimic::{Arguments, Trial};
use ministack::{ACCOUNT, Ministack, Options, REGION, ROOT};
use proxy::{Fault, Proxy, Weather};
use rustix::process::Signal;
use serde_json::{Value, json};
use support::{Sitting, died_of, is_sound, kept, nothing_is_lost};

/// A test and its name.
type Case = (&'static str, fn());

const CASES: &[Case] = &[
    ("the_planted_regression_is_found_and_nothing_is_left", the_planted_regression_is_found_and_nothing_is_left),
    ("throttled_and_lost_calls_are_made_up_for", throttled_and_lost_calls_are_made_up_for),
    ("a_bad_network_keeps_no_answer_away", a_bad_network_keeps_no_answer_away),
    ("credentials_that_expire_end_the_run_without_wrong_advice", credentials_that_expire_end_the_run),
    ("a_run_that_was_never_deployed_can_be_removed", a_run_that_was_never_deployed_can_be_removed),
    ("a_coordinator_that_is_killed_is_replaced", a_coordinator_that_is_killed_is_replaced),
    ("a_server_that_is_killed_ends_the_run_which_goes_on_elsewhere", a_server_that_is_killed_ends_the_run),
    ("the_printed_policies_are_enough_and_no_credential_shows", the_printed_policies_are_enough),
    ("an_account_is_checked_step_by_step", an_account_is_checked_step_by_step),
];

/// Benchmarks of the example.
const BENCHMARKS: usize = 3;
/// The role that functions run as.
const ROLE: &str = "arn:aws:iam::000000000000:role/duet-exec";
/// Beginning of a request for a call.
const INVOKE: &str = "POST /2015-03-31/functions/duet-";
/// Beginning of a request for a new function.
const CREATE: &str = "POST /2015-03-31/functions HTTP";
const THROTTLED: &str = "HTTP/1.1 429 Too Many Requests\r\nx-amzn-ErrorType: TooManyRequestsException\r\nContent-Length: 14\r\n\
                         Connection: close\r\n\r\n{\"Reason\":\"x\"}";
const RESET: &str = "";
const BROKEN: &str = "HTTP/1.1 500 Internal Server Error\r\nx-amzn-ErrorType: ServiceException\r\nContent-Length: 20\r\n\
                      Connection: close\r\n\r\n{\"Message\":\"broken\"}";
const HALF: &str = "HTTP/1.1 200 OK\r\nContent-Length: 9000\r\nConnection: close\r\n\r\n{\"version\":1,\"task\":\"0.";
const GARBAGE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\n}\\u00{[,";
const EXPIRED: &str = "HTTP/1.1 403 Forbidden\r\nx-amzn-ErrorType: ExpiredTokenException\r\nContent-Length: 56\r\n\
                       Connection: close\r\n\r\n{\"message\":\"The security token included is expired ...\"}";
/// Four of twenty calls are throttled, two meet an error, three are dropped, two answered by half and one with garbage.
const BAD_NETWORK: Weather = Weather {
    begin: INVOKE,
    turns: &[
        Some(THROTTLED),
        Some(RESET),
        None,
        Some(BROKEN),
        None,
        Some(THROTTLED),
        None,
        Some(HALF),
        Some(RESET),
        None,
        Some(THROTTLED),
        Some(GARBAGE),
        None,
        None,
        Some(BROKEN),
        Some(THROTTLED),
        None,
        Some(RESET),
        Some(HALF),
        None,
    ],
};

/// Number of faults that were injected into runs.
static INJECTED: AtomicU32 = AtomicU32::new(0);

fn injected(number: u32) {
    INJECTED.fetch_add(number, Ordering::Relaxed);
}

fn main() {
    let arguments = Arguments::from_args();
    let installed = if arguments.list { Ok(()) } else { ministack::install() };
    if let Err(e) = &installed {
        eprintln!("MiniStack cannot be installed: {e}");
    }
    let trial = |(name, test): &Case| {
        let test = *test;
        let run = move || {
            test();
            Ok(())
        };
        Trial::test(*name, run).with_kind("needs MiniStack").with_ignored_flag(installed.is_err())
    };
    let conclusion = libtest_mimic::run(&arguments, CASES.iter().map(trial).collect());
    eprintln!("{} injections", INJECTED.load(Ordering::Relaxed));
    conclusion.exit();
}

/// A server with a role whose trust policy is the printed one.
fn server(options: Options) -> Ministack {
    let server = Ministack::start(options);
    let [_, trust] = policies(&Place::new());
    let role = json!({ "RoleName": "duet-exec", "AssumeRolePolicyDocument": trust.to_string() });
    made(&server, &json!([["iam", "create_role", role]]));
    server
}

/// Asks for things, all of which must come true.
fn made(server: &Ministack, requests: &Value) -> Vec<Value> {
    let answers = server.ask(ROOT, requests);
    assert!(answers.iter().all(|answer| answer.get("error").is_none()), "{answers:?}");
    answers
}

/// `duet` with nothing of the user's AWS.
fn bare(place: &Place, args: &[&str]) -> Command {
    let mut command = command(place, args);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("AWS_")) {
        command.env_remove(name);
    }
    command.env("AWS_CONFIG_FILE", "/dev/null").env("AWS_SHARED_CREDENTIALS_FILE", "/dev/null");
    command
}

/// `duet` that finds the server, with the role.
fn duet(place: &Place, server: &Ministack, args: &[&str]) -> Command {
    let mut command = bare(place, args);
    command.args(["--role", ROLE]).envs(server.variables());
    command
}

fn ran(command: &mut Command) -> Ran {
    Ran::from(command.output().unwrap())
}

/// The policies as `duet` writes them: the coordinator's and the one that says who may use the role.
fn policies(place: &Place) -> [Value; 2] {
    let args = ["fleet", "policy", "--role", ROLE, "--region", REGION, "--out", "policies"];
    ran(&mut bare(place, &args)).expect(0);
    ["coordinator", "trust"].map(|name| {
        let json = fs::read_to_string(place.path().join(format!("policies/{name}.json"))).unwrap();
        serde_json::from_str(&json).unwrap_or_else(|e| panic!("{e} in\n{json}"))
    })
}

fn the_planted_regression_is_found_and_nothing_is_left() {
    let (place, server) = (textkit(), server(Options::default()));
    let args = comparing("lambda", "24", &["--threshold", "3%", "--alpha", "10%"]);
    let ran = ran(&mut duet(&place, &server, &args)).expect(3);
    let ran = ran.says(&["on lambda: about 36 calls, 2 at once, 2048 MB each", "predicted: about "]);
    slug_is_the_regression(&ran);
    every_task_counts_once(&place, &ran, 12 * BENCHMARKS);
    let fleet = &ran.json()["fleet"];
    assert_eq!((&fleet["engine"], &fleet["memory_mb"]), (&Value::from("lambda"), &Value::from(2048)));
    assert_eq!(server.functions(), Vec::<String>::new(), "left behind");
    nobody_works_for(&place);
}

fn throttled_and_lost_calls_are_made_up_for() {
    // 100 calls of an account cannot be set aside.
    let (place, server) = (textkit(), server(Options { concurrency: Some(103), ..Options::default() }));
    let proxy = Proxy::start(&server.endpoint());
    proxy.suffer(Fault { begin: INVOKE, times: 12, answer: THROTTLED });
    let args = comparing("lambda", "24", &["--parallel", "24"]);
    let mut command = duet(&place, &server, &args);
    let mut sitting = Sitting::start(&place, command.env("AWS_ENDPOINT_URL", &proxy.endpoint));
    wait_for_calls(&place, &mut sitting, 3);
    assert_eq!(proxy.left(), 0);
    proxy.suffer(Fault { begin: INVOKE, times: 2, answer: RESET });
    let (_, ran) = sitting.end();
    injected(14);
    let ran = ran.says(&["on lambda: about 36 calls, 3 at once"]);
    every_task_counts_once(&place, &ran, 12 * BENCHMARKS);
    let calls = &ran.json()["fleet"]["calls"];
    assert_eq!(
        (&calls["throttled"], &calls["failed"], proxy.left()),
        (&Value::from(12), &Value::from(2), 0),
        "{calls}"
    );
    assert_eq!(server.functions(), Vec::<String>::new(), "left behind");
}

fn a_bad_network_keeps_no_answer_away() {
    let (place, server) = (textkit(), server(Options::default()));
    let proxy = Proxy::start(&server.endpoint());
    proxy.weather(BAD_NETWORK);
    let args = comparing("lambda", "16", &["--parallel", "4"]);
    let ran = ran(duet(&place, &server, &args).env("AWS_ENDPOINT_URL", &proxy.endpoint));
    injected(u32::try_from(proxy.met() * 12 / 20).unwrap());
    // Not the verdict, which a busy machine can leave open: these do not depend on time.
    let allocs = &ran.benchmark("BenchmarkSlug")["allocs"];
    assert_eq!(allocs["changed"], true, "{allocs} in\n{}", ran.stdout);
    every_task_counts_once(&place, &ran, 8 * BENCHMARKS);
    let calls = &ran.json()["fleet"]["calls"];
    let at_least = |end: &str, most: usize| calls[end].as_u64().is_some_and(|n| n as usize >= most);
    assert!(at_least("failed", 8 * BENCHMARKS / 2) && at_least("throttled", 8 * BENCHMARKS / 4), "{calls}");
    assert_eq!(server.functions(), Vec::<String>::new(), "left behind");
}

fn credentials_that_expire_end_the_run() {
    let (place, server) = (textkit(), server(Options::default()));
    let proxy = Proxy::start(&server.endpoint());
    let mut command = duet(&place, &server, &comparing("lambda", "24", &[]));
    let mut sitting = Sitting::start(&place, command.env("AWS_ENDPOINT_URL", &proxy.endpoint));
    wait_for_calls(&place, &mut sitting, 4);
    proxy.suffer(Fault { begin: INVOKE, times: 99, answer: EXPIRED });
    let (_, ran) = sitting.end();
    injected(1);
    let ran = ran.expect(1).says(&["the provider refuses calls; `duet compare --resume r1 --", "` goes on from here"]);
    for benchmark in ran.json()["benchmarks"].as_array().unwrap() {
        let reason = benchmark["failure"]["reason"].as_str().unwrap_or_default();
        assert!(reason.starts_with("the provider refuses calls: ") && reason.contains("expired"), "{benchmark:#}");
    }
    let shown = Ran::from(command_of_show(&place).output().unwrap()).expect(1).stdout;
    assert!(shown.contains("go on with the run with `duet compare --resume r1`"), "{shown}");
    assert!(!shown.contains("--forks") && !shown.contains("alone"), "{shown}");
}

fn a_run_that_was_never_deployed_can_be_removed() {
    let (place, server) = (textkit(), server(Options::default()));
    let proxy = Proxy::start(&server.endpoint());
    // The function is there, and nobody is told.
    proxy.suffer(Fault { begin: CREATE, times: 99, answer: BROKEN });
    let mut command = duet(&place, &server, &comparing("lambda", "8", &[]));
    let failed = ran(command.env("AWS_ENDPOINT_URL", &proxy.endpoint)).expect(1);
    injected(99 - proxy.left());
    failed.says(&["cannot be made"]);
    assert_eq!(server.functions(), Vec::<String>::new(), "left behind");
    ran(&mut bare(&place, &["rm", "r1"])).expect(0).says(&["removed r1"]);
}

fn command_of_show(place: &Place) -> Command {
    bare(place, &["show", "latest"])
}

fn a_coordinator_that_is_killed_is_replaced() {
    let (place, server) = (textkit(), server(Options::default()));
    let mut sitting = Sitting::start(&place, &mut duet(&place, &server, &comparing("lambda", "24", &[])));
    for (goal, now) in [(4, false), (16, true)] {
        wait_for_calls(&place, &mut sitting, goal);
        let before = kept(&db(&place));
        assert!(sitting.signal(Signal::KILL), "it ended before:\n{}", sitting.stderr());
        assert!(died_of(sitting.end().0, Signal::KILL));
        injected(1);
        nothing_is_lost(&before, &kept(&db(&place)));
        // Who went on has removed what the one before left.
        let [left] = &server.functions()[..] else { panic!("{:?}", server.functions()) };
        // Whoever sweeps leaves alone what has not expired, its run may be alive; unless told otherwise.
        let swept = ran(&mut duet(&place, &server, &["fleet", "sweep"])).expect(0).stdout;
        let until = swept.strip_prefix(&format!("{left} is left, until 20")).unwrap_or_else(|| panic!("{swept}"));
        assert!(until.ends_with(" UTC; `--now` deletes it\n") && until.lines().count() == 1, "{swept}");
        assert_eq!(server.functions(), std::slice::from_ref(left));
        if now {
            let swept = ran(&mut duet(&place, &server, &["fleet", "sweep", "--now"])).expect(0).stdout;
            assert_eq!((swept, server.functions()), (format!("{left} is removed\n"), Vec::new()));
            let swept = ran(&mut duet(&place, &server, &["fleet", "sweep"])).expect(0).stdout;
            assert_eq!(swept, "nothing was left behind\n");
        }
        sitting = Sitting::start(&place, &mut duet(&place, &server, &going_on(&[])));
    }
    let (_, ran) = sitting.end();
    every_task_counts_once(&place, &ran, 12 * BENCHMARKS);
    assert_eq!(ran.json()["fleet"]["calls"]["sent"], ended(&place, "sent"));
    assert_eq!(server.functions(), Vec::<String>::new(), "left behind");
    is_sound(&db(&place));
}

fn a_server_that_is_killed_ends_the_run() {
    let (place, mut gone) = (textkit(), server(Options::default()));
    let mut sitting = Sitting::start(&place, &mut duet(&place, &gone, &comparing("lambda", "16", &[])));
    wait_for_calls(&place, &mut sitting, 6);
    gone.kill();
    injected(1);
    let (_, broken) = sitting.end();
    let counted = ended(&place, "counted");
    assert!((6..8 * BENCHMARKS).contains(&counted), "{counted}");
    let broken = broken.expect(1).says(&["the fleet is gone; `duet compare --resume r1 --", "` goes on from here"]);
    let broken = broken.says(&["could not be removed", "hint: `duet fleet sweep` removes it once its time is up"]);
    let report = broken.json();
    assert_eq!(report["fleet"]["counted"], counted, "what was measured was not told");
    assert_eq!((&report["complete"], &report["exit_code"]), (&Value::Bool(false), &Value::from(1)));
    let next = server(Options::default());
    let ran = ran(&mut duet(&place, &next, &going_on(&[])));
    every_task_counts_once(&place, &ran, 8 * BENCHMARKS);
    assert_eq!(next.functions(), Vec::<String>::new(), "left behind");
}

/// Fails if it sees anything of the provider's, of which the names begin so.
const ENVIRON: &str = r#"package textkit

import (
	"os"
	"strings"
	"testing"
)

func BenchmarkEnviron(b *testing.B) {
	for _, variable := range os.Environ() {
		if strings.Contains(variable, "AWS") || strings.Contains(variable, "LAMBDA") {
			b.Fatal("it sees ", variable)
		}
	}
	for i := 0; i < b.N; i++ {
		out = Slug(text)
	}
}
"#;

fn the_printed_policies_are_enough() {
    let place = textkit();
    place.write("old/environ_test.go", ENVIRON).write("new/environ_test.go", ENVIRON);
    let server = server(Options { auth: true, concurrency: None });
    let [mut policy, _] = policies(&place);
    // The server holds this against no function's name, so that it must be allowed for all; AWS does not need that.
    let statements = policy["Statement"].as_array_mut().unwrap();
    statements.push(json!({ "Effect": "Allow", "Action": "lambda:CreateFunction", "Resource": "*" }));
    let name = json!({ "UserName": "ci" });
    let attached = json!({ "UserName": "ci", "PolicyName": "duet", "PolicyDocument": policy.to_string() });
    let made = made(
        &server,
        &json!([
            ["iam", "create_user", name],
            ["iam", "put_user_policy", attached],
            ["iam", "create_access_key", name]
        ]),
    );
    let [key, secret] = ["AccessKeyId", "SecretAccessKey"].map(|part| made[2]["AccessKey"][part].as_str().unwrap());
    let as_user = |args: &[&str]| {
        let mut command = duet(&place, &server, args);
        ran(command.env("AWS_ACCESS_KEY_ID", key).env("AWS_SECRET_ACCESS_KEY", secret))
    };
    let ran = as_user(&comparing("lambda", "8", &["--bench", "Slug|Environ"]));
    every_task_counts_once(&place, &ran, 4 * 2);
    let smoke = as_user(&["fleet", "smoke", "--worker", worker()]).expect(0);
    let swept = as_user(&["fleet", "sweep"]).expect(0);
    assert_eq!(server.functions(), Vec::<String>::new(), "left behind");
    let shown = as_user(&["fleet", "policy", "--region", REGION]).expect(0);
    for said in [&ran, &smoke, &swept, &shown].iter().flat_map(|ran| [&ran.stdout, &ran.stderr]) {
        assert!(!said.contains(secret) && !said.contains(key), "{said}");
    }
    let holds = |bytes: &[u8], words: &str| bytes.windows(words.len()).any(|window| window == words.as_bytes());
    assert!(holds(&fs::read(db(&place)).unwrap(), "BenchmarkEnviron"), "the store cannot be searched so");
    for file in fs::read_dir(db(&place).parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()) {
        let bytes = fs::read(&file).unwrap();
        for words in [key, secret, ACCOUNT] {
            assert!(!holds(&bytes, words), "`{words}` is in {}", file.display());
        }
    }
    // With another secret nothing passes, so that it was this one that was asked for.
    let mut wrong = duet(&place, &server, &["fleet", "sweep"]);
    let wrong = Ran::from(wrong.env("AWS_ACCESS_KEY_ID", key).env("AWS_SECRET_ACCESS_KEY", "wrong").output().unwrap());
    wrong.expect(1).says(&["hint: log in with `aws sso login`"]);
}

fn an_account_is_checked_step_by_step() {
    let (place, server) = (Place::new(), server(Options::default()));
    let smoke = ran(&mut duet(&place, &server, &["fleet", "smoke", "--worker", worker()])).expect(0);
    let steps: Vec<Vec<&str>> = smoke.stdout.lines().map(|line| line.split_whitespace().take(2).collect()).collect();
    let wanted = ["limits", "deploy", "cold", "warm", "remove"].map(|step| vec![step, "ok"]);
    assert_eq!(steps, wanted, "{}", smoke.stdout);
    assert!(smoke.stdout.contains("2048 MB, started in") && smoke.stdout.contains("after 1 calls"), "{}", smoke.stdout);
    assert_eq!(server.functions(), Vec::<String>::new(), "left behind");
}
