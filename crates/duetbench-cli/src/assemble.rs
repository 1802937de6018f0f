//! From a stored run to its report: samples in, verdicts out, nothing measured.

use duetbench_core::analysis::analyse;
use duetbench_core::noise::{Witnessed, explain};
use duetbench_core::spec::Decision;
use duetbench_core::{Report, Trial};
use duetbench_run::engine::TrialOutcome;
use duetbench_run::store::StoredRun;

/// The report of a stored run, judged by `decision`.
#[must_use]
pub fn report(run: StoredRun, decision: Decision) -> Report {
    let plan = run.plan();
    let benchmarks = analyse(&plan, &run.measured(), &decision);
    let noise = explain(&witnessed(&run), &run.head.facts, &benchmarks);
    let StoredRun { name, head, complete, measured_s, .. } = run;
    let mut spec = head.spec;
    spec.decision = decision;
    Report {
        run: name,
        started: head.started,
        complete,
        spec,
        plan,
        baseline: head.baseline,
        candidate: head.candidate,
        environment: head.environment,
        measured_s,
        benchmarks,
        noise,
        warnings: head.warnings,
    }
}

/// What the run's trials went through, as far as the machine was watched.
fn witnessed(run: &StoredRun) -> Vec<Witnessed<'_>> {
    let one = |(trial, outcome): &(Trial, TrialOutcome)| {
        let benchmark = &run.head.plan.benchmarks.get(trial.benchmark)?.id;
        Some((benchmark, (trial.round, trial.suite_run), outcome.conditions?))
    };
    let seen = run.trials.iter().filter_map(one);
    seen.map(|(benchmark, at, conditions)| Witnessed { benchmark, at, conditions }).collect()
}
