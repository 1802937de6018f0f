//! Calibrations in the store, and what repetitions of a stored run cost.

use std::path::PathBuf;
use std::time::Duration;

use duetbench_core::calibrate::{Calibration, Machine, Made};
use duetbench_core::plan::{Capacity, Found, Mode, Plan};
use duetbench_core::sample::Coordinates;
use duetbench_core::spec::{Decision, Effort, LayoutChoice, ModeChoice};
use duetbench_core::{Role, Sample, Schedule, Spec, Trial};
use duetbench_run::engine::{RunSummary, TrialOutcome};
use duetbench_run::store::{RunHead, RunId, Store};
use tempfile::TempDir;

use crate::head_support;
use crate::head_support::{environment, facts, found, version};

/// Two benchmarks of a package that is linked again, one of another: six fork pairs each, two of a build pair.
fn head() -> RunHead {
    let spec = Spec {
        effort: Effort { forks: Some(6), budget: None, builds: Some(3), fixed: true, confirm: false },
        mode: ModeChoice::Interleaved,
        measure_identical: true,
        reach: false,
        same_benchmarks: false,
        benchmarks_from: None,
        ..head_support::spec()
    };
    let all = [found("p", "BenchmarkA"), found("p", "BenchmarkB"), found("q", "BenchmarkC")];
    let capacity = Capacity { cpus: 2, cores_physical: 2, asked: None, relinks: Some(LayoutChoice::Random) };
    let plan = Plan::new(&spec, &Found::of(&all, &all), capacity);
    RunHead {
        started: "2026-11-02T03:04:05Z".into(),
        spec,
        plan,
        baseline: version("v1"),
        candidate: version("v1"),
        environment: environment(),
        facts: facts(),
        warnings: Vec::new(),
        origin: None,
        fleet: None,
        layouts: None,
    }
}

/// Ten slice pairs, one every 2 ms from 30 ms on, the first two to warm up. A side that is behind starts 1 ms later.
fn samples(trial: &Trial) -> Vec<Sample> {
    let slice = |(role, i): (Role, u32)| Sample {
        at: Coordinates {
            role,
            instance: 0,
            build: trial.build,
            round: 0,
            suite_run: trial.suite_run,
            fork: 0,
            iteration: i,
        },
        block: 0,
        invocations: 10,
        wall_ns: 1_000_000,
        cpu_ns: None,
        start_ns: 30_000_000 + 2_000_000 * u64::from(i) + if role == Role::Candidate { 1_000_000 } else { 0 },
        memory: None,
        cycles: None,
        warm_up: i < 2,
    };
    Role::BOTH.iter().flat_map(|role| (0..10).map(move |i| slice((*role, i)))).collect()
}

struct Begun {
    _dir: TempDir,
    path: PathBuf,
    store: Store,
    run: RunId,
}

impl Begun {
    fn new(head: &RunHead) -> Begun {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("duet.db");
        let mut store = Store::open(&path).unwrap();
        let run = store.begin(head).unwrap();
        Begun { _dir: dir, path, store, run }
    }

    fn execute(&self, sql: &str) {
        rusqlite::Connection::open(&self.path).unwrap().execute_batch(sql).unwrap();
    }

    /// Runs every trial of the plan, each in 50 ms, with `beside` spent on linking.
    fn measure(&mut self, head: &RunHead, (mode, beside): (Mode, Duration)) {
        let schedule = Schedule::new(&head.plan);
        let trials: Vec<Trial> = (0..schedule.suite_runs()).flat_map(|run| schedule.suite_run(0, run)).collect();
        let wall = Duration::from_millis(50);
        for trial in &trials {
            let outcome = TrialOutcome { result: Ok(samples(trial)), mode, wall, conditions: None };
            self.store.add_trial(self.run, trial, &outcome).unwrap();
        }
        let measured = wall * u32::try_from(trials.len()).unwrap() + beside;
        self.store.end(self.run, &RunSummary { measured, complete: true }, None).unwrap();
    }
}

fn made(made: &str) -> Made {
    Made {
        run: "r1".into(),
        made: made.into(),
        machine: Machine::of(&environment(), None),
        calibration: Calibration::of(&[], &[10.0, 30.0], &Decision::default()),
    }
}

#[test]
fn calibrations_come_back_the_newest_first() {
    let mut begun = Begun::new(&head());
    assert_eq!(begun.store.calibrations().unwrap(), []);
    let (old, new) = (made("2026-11-02T03:04:05Z"), made("2026-11-03T03:04:05Z"));
    begun.store.add_calibration(&old).unwrap();
    begun.store.add_calibration(&new).unwrap();
    assert_eq!(Store::open_existing(&begun.path).unwrap().calibrations().unwrap(), [new, old]);
}

#[test]
fn a_calibration_of_no_run_is_refused() {
    let mut begun = Begun::new(&head());
    let stray = Made { run: "r7".into(), ..made("2026-11-02T03:04:05Z") };
    assert!(begun.store.add_calibration(&stray).unwrap_err().to_string().contains("`r7`"));
}

#[test]
fn a_store_that_was_made_without_calibrations_still_opens_and_takes_them() {
    let begun = Begun::new(&head());
    begun.execute("DROP TABLE calibrations");
    let mut store = Store::open_existing(&begun.path).unwrap();
    assert_eq!(store.calibrations().unwrap(), []);
    store.add_calibration(&made("2026-11-02T03:04:05Z")).unwrap();
    assert_eq!(store.calibrations().unwrap().len(), 1);
}

#[test]
fn what_another_duet_wrote_is_left_out_and_no_error() {
    let mut begun = Begun::new(&head());
    begun.store.add_calibration(&made("2026-11-02T03:04:05Z")).unwrap();
    begun.store.add_calibration(&made("2026-11-03T03:04:05Z")).unwrap();
    begun.execute("UPDATE calibrations SET calibration = '{\"surprise\": 1}' WHERE made LIKE '2026-11-03%'");
    assert_eq!(begun.store.calibrations().unwrap(), [made("2026-11-02T03:04:05Z")]);
}

/// The costs of the first benchmark of package `p`, and of the one of `q`, after a run like this.
fn costs(head: &RunHead, measured: (Mode, Duration)) -> [[f64; 3]; 2] {
    let mut begun = Begun::new(head);
    begun.measure(head, measured);
    let costs = begun.store.load("r1").unwrap().comparison().unwrap().costs();
    [costs[0], costs[2]].map(|c| [c.build_s, c.fork_s, c.slice_s])
}

#[track_caller]
fn assert_close(got: [f64; 3], want: [f64; 3]) {
    assert!(got.iter().zip(want).all(|(g, w)| (g - w).abs() < 1e-9), "{got:?} is not {want:?}");
}

#[test]
fn a_repetition_costs_what_is_not_spent_inside_it() {
    // Eight slice pairs count and take 16 ms of 50. Six build pairs of two packages were linked in 12 s, 2 s each.
    let [shared, alone] = costs(&head(), (Mode::InterleavedOneCore, Duration::from_secs(12)));
    assert_close(shared, [1.0, 0.034, 0.002]);
    assert_close(alone, [2.0, 0.034, 0.002]);
}

#[test]
fn sides_that_run_one_after_the_other_do_not_pay_for_the_time_between() {
    // Each side's slices span 15 ms.
    let mut head = head();
    head.plan.benchmarks.iter_mut().for_each(|b| b.mode = Mode::Sequential);
    let [shared, _] = costs(&head, (Mode::Sequential, Duration::ZERO));
    assert_close(shared, [0.0, 0.020, 0.030 / 8.0]);
}

#[test]
fn where_nothing_is_linked_a_build_costs_nothing() {
    let mut head = head();
    head.plan.benchmarks[2].configuration.design.by_build = false;
    let [shared, alone] = costs(&head, (Mode::InterleavedOneCore, Duration::from_secs(12)));
    assert_close(shared, [2.0, 0.034, 0.002]);
    assert_eq!(alone[0], 0.0);
}
