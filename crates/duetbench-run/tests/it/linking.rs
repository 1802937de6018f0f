//! The build pairs that a comparison asks for, on an executor that notes them.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use duetbench_core::plan::{Capacity, Discovered, Found, Plan, PlannedBenchmark, Style};
use duetbench_core::spec::{Effort, LayoutChoice};
use duetbench_core::{BenchmarkId, Role, Sample, Spec, Trial};
use duetbench_run::RunError;
use duetbench_run::engine::{Comparison, Executor, Job, Needed, Observer, Progress, Provision, TrialOutcome, measure};

use crate::head_support;

/// Notes the build pairs that are wanted before each suite run, and meanwhile; trials are of equal code.
#[derive(Default)]
struct Noted(Vec<(Vec<u32>, Vec<u32>)>);

impl Executor for Noted {
    fn provide(&mut self, Provision { now, next }: &Provision) -> Result<(), RunError> {
        let numbers = |needed: &[Needed]| needed.iter().map(|one| one.build).collect();
        self.0.push((numbers(now), numbers(next)));
        Ok(())
    }

    fn run_trial(&mut self, planned: &PlannedBenchmark, trial: &Trial) -> Result<TrialOutcome, RunError> {
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

#[test]
fn a_build_pair_is_foreseen_from_the_first_trial_of_the_one_before() {
    let effort = Effort { forks: Some(12), budget: None, builds: Some(3), fixed: true, confirm: false };
    let spec = Spec { effort, seed: 1, ..head_support::spec() };
    let id = BenchmarkId { package: "p".into(), name: "A".into() };
    let found =
        [Discovered { id, style: Style::Loop, first_ns: 1000, threads: 1, runtime_threads: false, failure: None }];
    let found =
        Found { baseline: &found, candidate: &found, identical: &BTreeSet::new(), not_affected: &Default::default() };
    let capacity = Capacity { cpus: 2, cores_physical: 2, asked: None, relinks: Some(LayoutChoice::Matched) };
    let plan = Plan::new(&spec, &found, capacity);
    let mut noted = Noted::default();
    let thresholds = spec.thresholds();
    let job = Job { strategy: Comparison::new(&plan, thresholds), past: &[] };
    let summary = measure(job, &mut noted, &mut Silent, &AtomicBool::new(false)).unwrap();
    assert!(summary.complete);
    // Four suite runs of each build pair.
    let expected = (0..12u32).map(|run| (vec![run / 4], if run < 8 { vec![run / 4 + 1] } else { vec![] }));
    assert_eq!(noted.0, expected.collect::<Vec<_>>());
}
