//! A worker in its instance: whatever it is asked, it answers, in time and within its limits.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use duetbench_run::fleet::bundle::{Member, pack};
use duetbench_run::fleet::wire::{Request, Response};
use duetbench_run::fleet::worker::Worker;

use crate::fleet_support::{request, trial};

/// Leaves a trace in the folder that it is told, or fails with so many words of two bytes behind so many of one.
const SCRIPT: &str = r#"#!/bin/sh
case $1 in
traces) : > "$2/$$" ;;
babbles) i=0; while [ $i -lt 400 ]; do w="${w}ä"; i=$((i + 1)); done; echo "$2$w" >&2; exit 1 ;;
esac
"#;

/// A process has one worker. Of two that work at the same time, one may fork while the other is writing a program, which nobody can
/// start ("text file busy") until that fork is another program.
static ONE_WORKER: Mutex<()> = Mutex::new(());

/// A worker and the package that it works with.
struct Place {
    dir: tempfile::TempDir,
    worker: Worker,
    _alone: MutexGuard<'static, ()>,
}

impl Place {
    fn new() -> Place {
        let alone = ONE_WORKER.lock().unwrap_or_else(PoisonError::into_inner);
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("script");
        fs::write(&script, SCRIPT).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let members = ["0/0", "1/0"].map(|place| Member { place: place.into(), file: script.clone() });
        pack(&members, &dir.path().join("p0.tar.zst")).unwrap();
        fs::write(dir.path().join("damaged.tar.zst"), "no archive").unwrap();
        fs::create_dir(dir.path().join("traces")).unwrap();
        let worker = Worker::new(dir.path(), "i-1".into(), Arc::new(AtomicBool::new(false))).unwrap();
        Place { dir, worker, _alone: alone }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A request for processes that leave traces.
    fn tracing(&self) -> Request {
        request(&["traces", &self.at("traces").display().to_string()])
    }

    fn traces(&self) -> usize {
        fs::read_dir(self.at("traces")).unwrap().count()
    }

    /// The answer to a request for which there is so much time.
    fn answer(&mut self, request: &Request, time: Duration) -> Response {
        Response::read(&self.worker.carry_out(&request.write(), Instant::now() + time)).unwrap()
    }
}

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

/// Reason for the failure of each trial, if it failed.
fn reasons(response: &Response) -> Vec<Option<String>> {
    let outcomes = response.trials.iter().map(|told| told.outcome_of(&trial(told.suite_run())));
    outcomes.map(|outcome| outcome.result.err().map(|failure| failure.reason)).collect()
}

#[test]
fn a_call_measures_its_trials_and_says_where() {
    let mut place = Place::new();
    let request = place.tracing();
    for calls_before in 0..2 {
        let response = place.answer(&request, MINUTE);
        assert_eq!((response.trouble.as_deref(), response.truncated, response.task.as_str()), (None, false, "0.0.2"));
        assert_eq!(reasons(&response), [None, None]);
        let instance = &response.instance;
        assert_eq!((instance.id.as_str(), instance.calls_before), ("i-1", calls_before));
    }
    // Three processes of each side in each trial.
    assert_eq!(place.traces(), 2 * 2 * 2 * 3);
}

#[test]
fn what_is_not_in_the_package_is_trouble_that_names_it_and_spoils_no_later_call() {
    let mut place = Place::new();
    let tracing = place.tracing();
    for (member, file) in [("p9", "p9.tar.zst"), ("damaged", "damaged.tar.zst")] {
        let request = Request { members: vec!["p0".into(), member.into()], ..tracing.clone() };
        let response = place.answer(&request, MINUTE);
        let trouble = response.trouble.unwrap();
        assert!(trouble.contains("cannot unpack") && trouble.contains(file), "{trouble}");
        assert!(response.trials.is_empty() && !response.truncated);
    }
    assert_eq!(place.traces(), 0);
    assert_eq!(reasons(&place.answer(&tracing, MINUTE)), [None, None]);
}

#[test]
fn after_trouble_everything_is_unpacked_anew() {
    let mut place = Place::new();
    let tracing = place.tracing();
    place.answer(&tracing, MINUTE);
    let both = Request { members: vec!["p0".into(), "damaged".into()], ..tracing.clone() };
    assert!(place.answer(&both, MINUTE).trouble.is_some());
    assert_eq!(reasons(&place.answer(&tracing, MINUTE)), [None, None]);
    fs::remove_file(place.at("p0.tar.zst")).unwrap();
    assert_eq!(reasons(&place.answer(&tracing, MINUTE)), [None, None], "it is there from the call before");
    assert!(place.answer(&both, MINUTE).trouble.is_some());
    let trouble = place.answer(&tracing, MINUTE).trouble.unwrap();
    assert!(trouble.contains("p0.tar.zst"), "{trouble}");
}

#[test]
fn members_with_paths_in_their_names_are_refused() {
    let mut place = Place::new();
    let tracing = place.tracing();
    fs::copy(place.at("p0.tar.zst"), place.dir.path().with_extension("tar.zst")).unwrap();
    let above = format!("../{}", place.dir.path().file_name().unwrap().display());
    for member in ["", ".", "..", "/", "p0/", "./p0", "traces/../p0", "/etc/p0", above.as_str()] {
        let response = place.answer(&Request { members: vec![member.into()], ..tracing.clone() }, MINUTE);
        let trouble = response.trouble.unwrap();
        assert!(trouble.contains("no member of a package") && trouble.contains(member), "`{member}`: {trouble}");
    }
    fs::remove_file(place.dir.path().with_extension("tar.zst")).unwrap();
    assert_eq!(place.traces(), 0);
}

#[test]
fn nothing_is_begun_that_would_not_end_in_time() {
    let mut place = Place::new();
    let mut request = place.tracing();
    request.planned.trial_predicted_ns = u64::try_from(HOUR.as_nanos()).unwrap();
    for time in [Duration::ZERO, HOUR, 4 * HOUR] {
        let response = place.answer(&request, time);
        assert_eq!((response.trials.len(), response.truncated, response.trouble), (0, true, None), "{time:?}");
    }
    assert_eq!(place.traces(), 0);
    assert_eq!(place.answer(&request, 5 * HOUR).trials.len(), 2);
}

#[test]
fn long_reasons_are_cut_between_two_letters() {
    let mut place = Place::new();
    for before in ["", "x"] {
        let response = place.answer(&request(&["babbles", before]), MINUTE);
        let reasons: Vec<String> = reasons(&response).into_iter().flatten().collect();
        assert_eq!(reasons.len(), 2);
        for reason in reasons {
            let kept = reason.strip_suffix('…').unwrap();
            assert!((399..=400).contains(&kept.len()) && kept.ends_with("ää"), "{} bytes: {reason}", kept.len());
        }
    }
}

#[test]
fn what_cannot_be_understood_is_answered_in_few_words() {
    let mut place = Place::new();
    let nonsense = format!(r#"{{"version": 1, "task": "", "planned": "{}"}}"#, "ä".repeat(100_000));
    for bytes in [nonsense.as_bytes(), b"", b"\xff"] {
        let answer = place.worker.carry_out(bytes, Instant::now() + MINUTE);
        assert!(answer.len() < 1000, "{} bytes", answer.len());
        let response = Response::read(&answer).unwrap();
        assert!(response.trouble.is_some_and(|why| !why.is_empty()) && response.trials.is_empty());
    }
}

#[test]
fn an_answer_has_no_more_bytes_than_were_asked_for() {
    let mut place = Place::new();
    let request = Request { answer_bytes_max: 600, ..place.tracing() };
    let bytes = place.worker.carry_out(&request.write(), Instant::now() + MINUTE);
    let response = Response::read(&bytes).unwrap();
    assert!(bytes.len() <= 600 || response.trials.is_empty(), "{} bytes", bytes.len());
    assert!(response.truncated && response.trials.len() < 2);
}
