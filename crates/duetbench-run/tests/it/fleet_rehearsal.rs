//! Benchmarks that cannot run on a fleet stay here, and no others do.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use duetbench_core::analysis::TrialFailure;
use duetbench_core::plan::{Mode, PlannedBenchmark};
use duetbench_core::{Role, Trial};
use duetbench_run::RunError;
use duetbench_run::engine::TrialOutcome;
use duetbench_run::fleet::package::Recipes;
use duetbench_run::fleet::rehearsal::{StaysHere, rehearse};
use duetbench_run::fleet::wire::{Instance, Outcome, Request, Response, VERSION};
use duetbench_run::fleet::{Deployed, FleetError, Reply};

use crate::fleet_support::{planned, recipe};

/// Does what each benchmark's name says, and takes nothing the first time it is asked.
#[derive(Default)]
struct Fake {
    asked: Mutex<BTreeSet<String>>,
}

impl Deployed for Fake {
    fn name(&self) -> &str {
        "duet-fake"
    }

    fn call(&self, request: &[u8]) -> Reply {
        let request = Request::read(request).unwrap();
        if self.asked.lock().unwrap().insert(request.task.clone()) {
            return Reply::Throttled("busy".into());
        }
        let failure = |role, discarded| TrialFailure { role, reason: "no luck".into(), discarded };
        let result = match request.planned.id.name.as_str() {
            "lost" => return Reply::Lost("connection reset".into()),
            "dies" => return Reply::Crashed("the worker ended".into()),
            "fails" => Err(failure(Some(Role::Baseline), false)),
            "spoilt" => Err(failure(None, true)),
            _ => Ok(Vec::new()),
        };
        let configuration = request.planned.configuration;
        assert_eq!(
            (request.trials.len(), configuration.slices(), configuration.warmup_slices),
            (1, 2, 1),
            "it is short"
        );
        assert_eq!((request.planned.mode, configuration.design.by_build), (Mode::InterleavedAllCores, false));
        let trial = Trial::from(request.trials[0]);
        let outcome = TrialOutcome { result, mode: request.planned.mode, wall: Duration::ZERO, conditions: None };
        let response = Response {
            version: VERSION,
            task: request.task,
            trials: vec![Outcome::new(&trial, &outcome)],
            truncated: false,
            trouble: None,
            instance: Instance::default(),
        };
        Reply::Answer(response.write(usize::MAX))
    }

    fn remove(&self) -> Result<(), FleetError> {
        Ok(())
    }
}

/// Rehearses benchmarks of these names; `elsewhere` is none of the package's.
fn staying(names: &[&str], interrupted: bool) -> Result<Vec<StaysHere>, RunError> {
    let benchmarks: Vec<PlannedBenchmark> = names
        .iter()
        .map(|name| {
            let mut planned = planned("p", name);
            planned.mode = Mode::Duet;
            planned.configuration.design.by_build = true;
            (planned.configuration.trial_ns, planned.configuration.warmup_slices) = (500, 30);
            planned
        })
        .collect();
    let recipes = |planned: &PlannedBenchmark, _: u32| {
        let recipes = Recipes { sides: [recipe(0, &[]), recipe(1, &[])], members: vec!["p0".into()], package: 0 };
        (planned.id.name != "elsewhere").then_some(recipes)
    };
    let deployed = Fake::default();
    rehearse(&benchmarks, &recipes, &[&deployed], Duration::from_secs(1), &AtomicBool::new(interrupted))
}

#[test]
fn only_what_fails_by_itself_stays_here_with_its_words() {
    let names = ["ok", "fails", "spoilt", "lost", "fine", "dies", "elsewhere", "well"];
    let stays = |benchmark, role, reason: &str| StaysHere { benchmark, role, reason: reason.into() };
    let expected = [
        stays(1, Some(Role::Baseline), "no luck"),
        stays(3, None, "connection reset"),
        stays(5, None, "the worker ended"),
        stays(6, None, "no package holds it"),
    ];
    assert_eq!(staying(&names, false).unwrap(), expected);
}

#[test]
fn a_rehearsal_can_be_interrupted() {
    assert!(matches!(staying(&["ok"], true), Err(RunError::Interrupted)));
    assert_eq!(staying(&[], true).unwrap(), []);
}
