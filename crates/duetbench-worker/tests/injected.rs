//! Hundreds of faults between the coordinator and real workers: no result is lost, none counts twice, and every run comes to its end.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod conformance;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use conformance::{Notes, Package, World, plan, run};
use duetbench_core::fleet::Ended;
use duetbench_run::fleet::here::Here;
use duetbench_run::fleet::wire::Response;
use duetbench_run::fleet::{Deployed, FleetError, Reply};

/// Faults that must be injected in all.
const FAULTS_MIN: u32 = 300;

/// Something that can be called, with a network and a provider in between that fail at random.
struct Faulty<'a> {
    inner: &'a dyn Deployed,
    /// State of the generator, and how often each fault was injected.
    state: Mutex<(u64, BTreeMap<&'static str, u32>)>,
}

impl<'a> Faulty<'a> {
    fn new(inner: &'a dyn Deployed, seed: u64) -> Faulty<'a> {
        Faulty { inner, state: Mutex::new((seed, BTreeMap::new())) }
    }

    /// The fault of the next call, if it has one.
    fn fault(&self) -> Option<&'static str> {
        let mut state = self.state.lock().unwrap();
        state.0 = state.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let fault = match (state.0 >> 33) % 100 {
            0..30 => "throttled",
            30..33 => "reset before it ran",
            33..36 => "reset after it ran",
            36..38 => "answer cut off",
            38..40 => "another task's answer",
            40..42 => "instance killed",
            _ => return None,
        };
        *state.1.entry(fault).or_default() += 1;
        Some(fault)
    }

    fn injected(&self) -> BTreeMap<&'static str, u32> {
        self.state.lock().unwrap().1.clone()
    }
}

impl Deployed for Faulty<'_> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn call(&self, request: &[u8]) -> Reply {
        let answered = || match self.inner.call(request) {
            Reply::Answer(answer) => Ok(answer),
            other => Err(other),
        };
        match self.fault() {
            None => self.inner.call(request),
            Some("throttled") => Reply::Throttled("injected".into()),
            Some("reset before it ran") => Reply::Lost("connection reset".into()),
            Some("reset after it ran") => {
                let _ = self.inner.call(request);
                Reply::Lost("connection reset".into())
            }
            Some("answer cut off") => answered().map_or_else(|e| e, |a| Reply::Answer(a[..a.len() / 2].to_vec())),
            Some("another task's answer") => answered().map_or_else(
                |e| e,
                |answer| {
                    let response = Response::read(&answer).unwrap();
                    Reply::Answer(Response { task: "7.7.7".into(), ..response }.write(usize::MAX))
                },
            ),
            Some(_) => Reply::Crashed("signal: killed".into()),
        }
    }

    fn remove(&self) -> Result<(), FleetError> {
        self.inner.remove()
    }
}

#[test]
fn no_result_is_lost_and_none_counts_twice_whatever_happens_in_between() {
    let package = Package::new(Path::new(env!("CARGO_BIN_EXE_duet-worker")));
    let engine = Here::new(8);
    let world = World { engine: &engine, package: &package, name: "injected" };
    let names: Vec<String> = (0..30).map(|n| format!("ok {n}")).collect();
    let plan = plan(&names.iter().map(String::as_str).collect::<Vec<_>>(), 5, 2);
    let mut injected: BTreeMap<&'static str, u32> = BTreeMap::new();
    for seed in 1..=6 {
        let deployed = world.deploy(8, Duration::from_secs(20));
        let faulty = Faulty::new(&*deployed, seed);
        let (mut calls, mut trials, mut sittings) = (Vec::new(), Vec::new(), 0);
        // Every sitting but the last is broken off somewhere, as by `kill -9`, and the next one knows only what was kept.
        let (ended, given_up) = loop {
            sittings += 1;
            let mut notes = Notes { break_after: (sittings < 4).then_some(20 * sittings), ..Notes::default() };
            let summary = run(&world, &faulty, (&plan, &trials), &mut notes);
            calls.extend(std::mem::take(&mut notes.calls));
            trials.extend(std::mem::take(&mut notes.trials));
            match summary {
                // By chance many failed in a row, so that it left the fleet alone; the user tries again.
                Ok(summary) if summary.ended == Ended::Broken && sittings < 10 => {}
                Ok(summary) => break (summary.ended, summary.given_up),
                Err(_) => *injected.entry("coordinator killed").or_default() += 1,
            }
        };
        let all = Notes { calls, trials, ..Notes::default() };
        all.check_once();
        let counted: BTreeSet<_> = all.counted().into_iter().collect();
        let given_up: BTreeSet<_> = given_up.into_iter().map(|gave_up| gave_up.task).collect();
        assert_eq!(ended, Ended::Done, "seed {seed}");
        assert!(counted.is_disjoint(&given_up), "seed {seed}");
        assert_eq!(counted.len() + given_up.len(), 150, "seed {seed}: a task came to no end");
        assert!(given_up.len() < 15, "seed {seed}: {} tasks were given up", given_up.len());
        assert!(all.trials.iter().all(|(_, outcome)| outcome.result.is_ok()), "seed {seed}");
        faulty.injected().into_iter().for_each(|(fault, n)| *injected.entry(fault).or_default() += n);
        deployed.remove().unwrap();
    }
    assert!(injected.values().sum::<u32>() >= FAULTS_MIN && injected.len() == 7, "{injected:?}");
}
