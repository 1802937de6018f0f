//! Stored comparisons as experiments and as pairs.

use std::time::Duration;

use duetbench_core::analysis::TrialFailure;
use duetbench_core::plan::{Capacity, Found, Mode, Plan};
use duetbench_core::sample::Coordinates;
use duetbench_core::spec::LayoutChoice;
use duetbench_core::{Role, Sample, Schedule, Trial};
use duetbench_run::engine::TrialOutcome;
use duetbench_run::store::{RunHead, StoredRun};
use duetbench_study::stored;

use crate::head_support::{environment, facts, found, spec, version};

fn head() -> RunHead {
    let found = |name: &str| found("example.com/p", name);
    let (baseline, candidate) = ([found("BenchmarkA"), found("BenchmarkOld")], [found("BenchmarkA")]);
    let capacity = Capacity { cpus: 2, cores_physical: 2, asked: None, relinks: Some(LayoutChoice::Random) };
    let in_both = Found::of(&baseline, &candidate);
    RunHead {
        started: "2026-01-02T03:04:05Z".into(),
        plan: Plan::new(&spec(), &in_both, capacity),
        spec: spec(),
        baseline: version("old"),
        candidate: version("new"),
        environment: environment(),
        facts: facts(),
        warnings: Vec::new(),
        origin: None,
        fleet: None,
        layouts: None,
    }
}

/// Two slices of each side, the first of which warms up.
fn samples(trial: &Trial) -> Vec<Sample> {
    let sample = |role, iteration| Sample {
        at: trial.coordinates(role, iteration),
        block: iteration,
        invocations: 10,
        wall_ns: u64::from(iteration) + 1000,
        cpu_ns: None,
        start_ns: 1 << 40,
        memory: None,
        cycles: None,
        warm_up: iteration == 0,
    };
    Role::BOTH.iter().flat_map(|role| (0..2).map(|i| sample(*role, i))).collect()
}

/// A complete run of two suite runs and one failed trial.
fn comparison() -> StoredRun<RunHead> {
    let head = head();
    let schedule = Schedule::new(&head.plan);
    let outcome = |result| TrialOutcome {
        result,
        wall: Duration::from_millis(5),
        conditions: None,
        mode: Mode::InterleavedOneCore,
    };
    let trials = (0..2).flat_map(|suite_run| schedule.suite_run(0, suite_run));
    let mut trials: Vec<(Trial, TrialOutcome)> = trials.map(|trial| (trial, outcome(Ok(samples(&trial))))).collect();
    let failure = TrialFailure { role: Some(Role::Candidate), reason: "no luck".into(), discarded: false };
    trials.push((schedule.suite_run(0, 2)[0], outcome(Err(failure))));
    StoredRun {
        name: "r1".into(),
        fallback_threshold: Some(head.spec.decision.threshold),
        head,
        complete: true,
        measured_s: 1.5,
        trials,
        calls: Vec::new(),
        abandoned: Vec::new(),
        profiles: Vec::new(),
        instructions: Vec::new(),
        readings: Vec::new(),
    }
}

#[test]
fn a_comparison_is_an_experiment_with_a_result_for_every_fork_pair() {
    let mut run = comparison();
    // Baseline 100 ns; candidate 100 ns but for one slow slice of three, which counts in full; then 125 ns in fewer invocations.
    for ((_, outcome), (slow_ns, invocations)) in run.trials.iter_mut().zip([(100_000, 10), (1000, 8)]) {
        let samples = outcome.result.as_mut().unwrap();
        samples.retain(|sample| !sample.warm_up);
        *samples = samples
            .iter()
            .flat_map(|s| (1..4).map(|i| Sample { at: Coordinates { iteration: i, ..s.at }, ..*s }))
            .collect();
        for sample in samples {
            let baseline = sample.at.role == Role::Baseline;
            let last_ns = if sample.at.iteration == 3 { slow_ns } else { 1000 };
            (sample.wall_ns, sample.invocations) = if baseline { (1000, 10) } else { (last_ns, invocations) };
        }
    }
    let (mut confirming, mut in_duet_mode) = (run.trials[1].clone(), run.trials[1].clone());
    confirming.0.round = 1;
    in_duet_mode.1.mode = Mode::Duet;
    run.trials.swap(0, 1);
    run.trials.insert(0, in_duet_mode);
    run.trials.insert(2, confirming);
    let experiment = stored::experiment(&run);
    let [a, old] = &experiment.benchmarks[..] else { panic!("{experiment:?}") };
    assert_eq!(
        (a.benchmark.as_str(), old.benchmark.as_str()),
        ("example.com/p.BenchmarkA", "example.com/p.BenchmarkOld")
    );
    let rounded: Vec<f64> = a.differences.iter().map(|d| (d * 1e9).round() / 1e9).collect();
    assert_eq!(rounded, [0.25, 33.0]);
    assert_eq!(a.missing.as_deref(), Some("trials failed, the first with: no luck"));
    assert_eq!((old.differences.len(), old.missing.as_deref()), (0, Some("only in base")));
}

#[test]
fn a_comparison_has_the_times_of_every_pair_for_the_study_of_pairs() {
    let mut run = comparison();
    for (_, outcome) in &mut run.trials {
        for sample in outcome.result.iter_mut().flatten() {
            let baseline = sample.at.role == Role::Baseline;
            (sample.wall_ns, sample.invocations) = if baseline { (1000, 10) } else { (1000, 8) };
        }
    }
    let (mut confirming, mut in_duet_mode, mut no_time) =
        (run.trials[0].clone(), run.trials[0].clone(), run.trials[0].clone());
    confirming.0.round = 1;
    in_duet_mode.1.mode = Mode::Duet;
    no_time.1.result.as_mut().unwrap().iter_mut().for_each(|sample| sample.wall_ns = 0);
    let without = stored::paired(&run);
    run.trials.splice(0..0, [confirming, in_duet_mode, no_time]);
    let paired = stored::paired(&run);
    assert_eq!(paired, without);
    let [a, old] = &paired.benchmarks[..] else { panic!("{paired:?}") };
    // Slices that warm up are no part of it.
    assert!(!a.forks.is_empty() && a.forks.iter().all(|fork| fork.times == [[100.0, 125.0]]), "{a:?}");
    assert_eq!(a.missing.as_deref(), Some("trials failed, the first with: no luck"));
    assert_eq!((old.forks.len(), old.missing.as_deref()), (0, Some("only in base")));
}
