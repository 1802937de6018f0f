//! Messages to a worker and back: sealed, and safe to read whatever they are.

use std::path::Path;
use std::time::Duration;

use duetbench_core::analysis::TrialFailure;
use duetbench_core::noise::{Conditions, CpuTime, Frequency, Pressure, Throttling};
use duetbench_core::plan::{Mode, Profile, Unsteady};
use duetbench_core::sample::{Coordinates, Cycle, Memory};
use duetbench_core::{Role, Sample, Trial};
use duetbench_run::engine::TrialOutcome;
use duetbench_run::fleet::wire::{Instance, Outcome, Request, Response, VERSION};

use crate::fleet_support::{planned, request, trial};
use crate::mutation::Draw;

/// A request in which nothing is left out.
fn full_request() -> Request {
    let unsteady = Some(Unsteady { role: Role::Candidate, within: 40 });
    let profile = Profile {
        cores_busy: 1.5,
        cpu_share: 0.75,
        invocation_ns: 12.5,
        collects: true,
        cold_share: Some(0.125),
        warm_ns: 8_000_000,
        settling_ns: 32_000_000,
        as_linked: Some(1.0625),
        warmup_slices: Some(4),
        unsteady,
    };
    let planned = duetbench_core::plan::PlannedBenchmark {
        threads: 2,
        runtime_threads: true,
        profile: Some(profile),
        redefined: None,
        ..planned("example.com/p", "BenchmarkA/größe=1")
    };
    Request { planned, timeout: Duration::from_millis(10_250), ..request(&["-test.run=^$", "a b"]) }
}

/// So many samples of each side, half of which warm up; every optional part is there in some and absent in others.
fn samples(trial: &Trial, each: u32) -> Vec<Sample> {
    let sample = |role, iteration: u32| Sample {
        at: Coordinates {
            role,
            instance: 0,
            build: trial.build,
            round: 0,
            suite_run: trial.suite_run,
            fork: 0,
            iteration,
        },
        block: iteration / 2,
        invocations: 10,
        wall_ns: u64::MAX - u64::from(iteration),
        cpu_ns: iteration.is_multiple_of(2).then_some(900),
        start_ns: 1 << 60,
        memory: (iteration % 4 == 1).then_some(Memory {
            allocations: (role == Role::Candidate).then_some(3),
            bytes: 48,
            collections: 1,
            invocations: 20,
            cycle: (iteration % 8 == 1).then_some(Cycle {
                cost_ns: 5_000_000,
                period_bytes: 4 << 20,
                background_ns: (role == Role::Candidate).then_some(3_000_000),
            }),
        }),
        cycles: (role == Role::Candidate).then_some(iteration),
        warm_up: iteration < each / 2,
    };
    Role::BOTH.into_iter().flat_map(|role| (0..each).map(move |i| sample(role, i))).collect()
}

fn conditions() -> Conditions {
    Conditions {
        wall_ns: 1,
        cpu: Some(CpuTime { capacity_ns: 2, busy_ns: 3, own_ns: Some(4), irq_ns: 5, steal_ns: 6 }),
        others_runnable: Some(7),
        throttling: Some(Throttling { periods: 8, throttled_periods: 9, throttled_ns: 10 }),
        suspended_ns: 11,
        suspensions: 12,
        clock_step_ns: Some(-13),
        migrations: 14,
        load_1min: Some(0.15),
        pressure: Some(Pressure { waited_ns: 16, watched_ns: 17 }),
        frequency: Some(Frequency { lowest_khz: 18, highest_khz: 19 }),
        thermal_events: Some(20),
    }
}

fn measured(trial: &Trial, each: u32) -> TrialOutcome {
    let wall = Duration::from_nanos(1_234_567_890);
    TrialOutcome { result: Ok(samples(trial, each)), mode: Mode::Duet, wall, conditions: Some(conditions()) }
}

fn failed(role: Option<Role>) -> TrialOutcome {
    let failure = TrialFailure { role, reason: "no luck\nat \"all\" …".into(), discarded: role.is_none() };
    TrialOutcome { result: Err(failure), mode: Mode::Sequential, wall: Duration::ZERO, conditions: None }
}

fn response(outcomes: &[(Trial, TrialOutcome)]) -> Response {
    Response {
        version: VERSION,
        task: "0.0.2".into(),
        trials: outcomes.iter().map(|(trial, outcome)| Outcome::new(trial, outcome)).collect(),
        truncated: false,
        trouble: None,
        instance: Instance {
            id: "i-1".into(),
            cpu: "a processor".into(),
            cpus: 2,
            memory_mb: Some(2048),
            calls_before: 3,
            init_ns: 5,
            call_ns: 7,
        },
    }
}

/// A response with one outcome of every kind.
fn full_response() -> (Vec<(Trial, TrialOutcome)>, Response) {
    let outcomes = vec![
        (trial(0), measured(&trial(0), 4)),
        (trial(1), failed(Some(Role::Candidate))),
        (trial(2), failed(None)),
        (trial(3), TrialOutcome { conditions: None, ..measured(&trial(3), 0) }),
    ];
    let response = response(&outcomes);
    (outcomes, response)
}

/// Compares a message with a golden file, which must still be understood. A change here needs another [`VERSION`]; `DUET_BLESS=1`
/// writes the file.
#[track_caller]
fn sealed(bytes: &[u8], name: &str) -> Vec<u8> {
    let mut message: serde_json::Value = serde_json::from_slice(bytes).unwrap();
    message.sort_all_objects();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let text = format!("{message:#}\n");
    if std::env::var_os("DUET_BLESS").is_some() {
        std::fs::write(&golden, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&golden).unwrap();
    assert_eq!(kept, text);
    kept.into_bytes()
}

#[test]
fn the_messages_are_sealed() {
    let kept = sealed(&full_request().write(), "fleet-request-1.json");
    assert_eq!(Request::read(&kept).unwrap(), full_request());
    let (_, response) = full_response();
    let kept = sealed(&response.clone().write(usize::MAX), "fleet-response-1.json");
    assert_eq!(Response::read(&kept).unwrap(), response);
}

#[test]
fn a_trial_comes_back_as_it_was() {
    let (outcomes, response) = full_response();
    let read = Response::read(&response.write(usize::MAX)).unwrap();
    for ((trial, outcome), told) in outcomes.iter().zip(&read.trials) {
        assert_eq!((told.suite_run(), &told.outcome_of(trial)), (trial.suite_run, outcome));
    }
    let read = Request::read(&request(&[]).write()).unwrap();
    let trials: Vec<Trial> = read.trials.into_iter().map(Trial::from).collect();
    assert_eq!(trials, [trial(0), trial(1)]);
}

#[test]
fn another_version_is_refused_in_words_and_before_anything_else_is_read() {
    for bytes in [r#"{"version": 2}"#, r#"{"version": 0, "task": 7, "of": "another duet"}"#] {
        let (request, response) = (Request::read(bytes.as_bytes()), Response::read(bytes.as_bytes()));
        for why in [request.map(drop).unwrap_err(), response.map(drop).unwrap_err()] {
            assert!(why.contains(&format!("this duet speaks version {VERSION}")), "{why}");
            assert!(why.contains("use one duet's worker"), "no remedy: {why}");
        }
    }
    let text = String::from_utf8(full_request().write()).unwrap();
    let why = Request::read(text.replace(r#""timeout""#, r#""patience""#).as_bytes()).unwrap_err();
    assert!(why.contains("cannot be understood") && why.contains("timeout"), "{why}");
    assert!(Response::read(b"<html>").unwrap_err().contains("no message of ours"));
}

/// Contents of an answer of so many bytes at most: its length, its trials, whether it says that it is cut, and whether anything in it
/// warmed up.
fn told(response: &Response, bytes_max: usize) -> (usize, usize, bool, bool) {
    let bytes = response.clone().write(bytes_max);
    let read = Response::read(&bytes).unwrap();
    let outcomes = read.trials.iter().zip(0..).map(|(told, suite_run)| told.outcome_of(&trial(suite_run)));
    let samples: Vec<Sample> = outcomes.flat_map(|outcome| outcome.result.unwrap()).collect();
    (bytes.len(), read.trials.len(), read.truncated, samples.iter().any(|s| s.warm_up))
}

#[test]
fn an_answer_keeps_to_its_limit_and_gives_up_first_what_is_never_judged() {
    let outcomes: Vec<_> = (0..4).map(|run| (trial(run), measured(&trial(run), 30))).collect();
    let response = response(&outcomes);
    let (all, trials, cut, warm_up) = told(&response, usize::MAX);
    assert_eq!((trials, cut, warm_up), (4, false, true));
    assert_eq!(told(&response, all), (all, 4, false, true), "just enough");
    let (judged, trials, cut, warm_up) = told(&response, all - 1);
    assert_eq!((trials, cut, warm_up), (4, false, false));
    assert_eq!(told(&response, judged), (judged, 4, false, false), "just enough");
    assert_eq!((told(&response, judged - 1).1, told(&response, judged - 1).2), (3, true));
    let (least, ..) = told(&response, 0);
    let mut before = 0;
    for bytes_max in (least..all).step_by(97) {
        let (bytes, trials, cut, warm_up) = told(&response, bytes_max);
        assert!(bytes <= bytes_max && trials >= before && !warm_up, "{bytes} of {bytes_max} bytes, {trials} trials");
        assert_eq!(cut, trials < 4);
        before = trials;
    }
}

#[test]
fn where_not_even_a_trial_fits_the_answer_says_so_and_nothing_else() {
    let outcomes = [(trial(0), measured(&trial(0), 30))];
    let response = response(&outcomes);
    let read = Response::read(&response.clone().write(0)).unwrap();
    assert_eq!(read, Response { trials: Vec::new(), truncated: true, ..response });
}

#[test]
fn no_mutation_of_a_message_makes_reading_panic() {
    let mut draw = Draw(0x9e37_79b9_7f4a_7c15);
    let (request, response) = (full_request().write(), full_response().1.write(usize::MAX));
    let (mut refused, mut understood) = (0, 0);
    for n in 0..10_000 {
        let mut spoil = |text| if n % 2 == 0 { draw.spoilt(text) } else { draw.renumbered(text) };
        let (request, response) = (spoil(&request), spoil(&response));
        match Request::read(&request) {
            Ok(read) => {
                understood += 1;
                assert!(read.version == VERSION && !read.write().is_empty());
                assert!(read.trials.into_iter().all(|wire| Trial::from(wire).round == 0));
            }
            Err(why) => refused += usize::from(!why.is_empty()),
        }
        match Response::read(&response) {
            Ok(read) => {
                understood += 1;
                read.trials.iter().for_each(|told| drop(told.outcome_of(&trial(told.suite_run()))));
                let bytes = read.write(700);
                assert!(Response::read(&bytes).is_ok_and(|cut| bytes.len() <= 700 || cut.trials.is_empty()));
            }
            Err(why) => refused += usize::from(!why.is_empty()),
        }
    }
    assert_eq!(refused + understood, 20_000);
    assert!(refused > 1000 && understood > 1000, "{refused} were refused and {understood} understood");
}
