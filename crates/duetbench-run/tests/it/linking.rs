//! The build pairs that a comparison asks for, on an executor that notes them.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use duetbench_core::plan::{Capacity, Discovered, Found, Mode, Plan, PlannedBenchmark, Style};
use duetbench_core::spec::{Effort, LayoutChoice};
use duetbench_core::{BenchmarkId, Role, Sample, Schedule, Spec, Trial};
use duetbench_run::RunError;
use duetbench_run::engine::{Comparison, Executor, Job, Needed, Observer, Progress, Provision, TrialOutcome, measure};

use crate::head_support;

/// Notes the build pairs that are wanted before each suite run, and meanwhile, and the modes of trials, which are of equal code.
#[derive(Default)]
struct Noted {
    builds: Vec<(Vec<u32>, Vec<u32>)>,
    modes: Vec<Mode>,
}

impl Executor for Noted {
    fn provide(&mut self, Provision { now, next }: &Provision) -> Result<(), RunError> {
        let numbers = |needed: &[Needed]| needed.iter().map(|one| one.build).collect();
        self.builds.push((numbers(now), numbers(next)));
        Ok(())
    }

    fn run_trial(&mut self, planned: &PlannedBenchmark, trial: &Trial) -> Result<TrialOutcome, RunError> {
        self.modes.push(planned.mode);
        let sample = |(role, iteration): (Role, u32)| Sample {
            at: trial.coordinates(role, iteration),
            block: 0,
            invocations: 10,
            wall_ns: 200_000 + u64::from((trial.suite_run * 7 + iteration * 5) % 11),
            cpu_ns: Some(200_000),
            start_ns: 0,
            memory: None,
            cycles: None,
            warm_up: false,
        };
        let samples = Role::BOTH.into_iter().flat_map(|role| (0..20).map(move |i| (role, i))).map(sample).collect();
        Ok(TrialOutcome { result: Ok(samples), mode: planned.mode, wall: Duration::from_millis(50), conditions: None })
    }
}

struct Silent;

impl Observer for Silent {
    fn begins(&mut self, _: &Progress<'_>) {}

    fn ended(&mut self, _: &Trial, _: &TrialOutcome) -> Result<(), RunError> {
        Ok(())
    }
}

/// A request for twelve fork pairs from three build pairs.
fn spec(budget: Option<Duration>) -> Spec {
    let effort = Effort { forks: Some(12), budget, builds: Some(3), fixed: true, confirm: false };
    Spec { effort, seed: 1, ..head_support::spec() }
}

/// The plan for benchmarks with so many threads.
fn plan(spec: &Spec, threads: &[u32]) -> Plan {
    let found = |(number, &threads): (usize, &u32)| Discovered {
        id: BenchmarkId { package: "p".into(), name: format!("B{number}") },
        style: Style::Loop,
        first_ns: 1000,
        threads,
        runtime_threads: false,
        qualified: false,
        failure: None,
    };
    let found: Vec<Discovered> = threads.iter().enumerate().map(found).collect();
    let found = Found::of(&found, &found);
    let capacity = Capacity { cpus: 2, cores_physical: 2, asked: None, relinks: Some(LayoutChoice::Matched) };
    Plan::new(spec, &found, capacity)
}

/// Trials and build pairs of benchmarks with so many threads.
fn noted(threads: &[u32]) -> Noted {
    let spec = spec(None);
    let plan = plan(&spec, threads);
    let mut noted = Noted::default();
    let job = Job { strategy: Comparison::new(&plan, spec.thresholds()), past: &[], before: Duration::ZERO };
    let summary = measure(job, &mut noted, &mut Silent, &AtomicBool::new(false)).unwrap();
    assert!(summary.complete);
    noted
}

/// Four suite runs of each build pair, and the next one foreseen from the first.
fn foreseen() -> Vec<(Vec<u32>, Vec<u32>)> {
    (0..12u32).map(|run| (vec![run / 4], if run < 8 { vec![run / 4 + 1] } else { vec![] })).collect()
}

#[test]
fn a_build_pair_is_foreseen_from_the_first_trial_of_the_one_before() {
    assert_eq!(noted(&[1]).builds, foreseen());
}

#[test]
fn what_needs_all_cores_comes_last_so_that_linkers_have_one_before() {
    let noted = noted(&[2, 1, 2, 1]);
    assert_eq!(noted.builds, foreseen());
    for suite_run in noted.modes.chunks(4) {
        assert_eq!(suite_run[..2], [Mode::InterleavedOneCore; 2]);
        assert_eq!(suite_run[2..], [Mode::InterleavedAllCores; 2]);
    }
}

#[test]
fn nothing_is_foreseen_where_no_trial_leaves_a_core() {
    assert!(noted(&[2, 2]).builds.iter().all(|(_, next)| next.is_empty()));
}

#[test]
fn time_that_an_earlier_sitting_spent_on_linking_is_no_longer_there() {
    let hour = Duration::from_secs(3600);
    let spec = spec(Some(hour));
    let plan = plan(&spec, &[1]);
    let mut noted = Noted::default();
    let trial = Schedule::new(&plan).suite_run(0, 0)[0];
    let past = [(trial, noted.run_trial(&plan.benchmarks[0], &trial).unwrap())];
    let mut resumed = |before| {
        let job = Job { strategy: Comparison::new(&plan, spec.thresholds()), past: &past, before };
        let summary = measure(job, &mut noted, &mut Silent, &AtomicBool::new(false)).unwrap();
        (summary.measured, noted.modes.len())
    };
    let (measured, trials) = resumed(hour);
    assert!(measured >= hour && trials == 1, "{measured:?}, {trials} trials");
    let (measured, trials) = resumed(Duration::ZERO);
    assert!(measured < hour && trials == 12, "{measured:?}, {trials} trials");
}
