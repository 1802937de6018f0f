//! From a stored run to its report: samples in, verdicts out, nothing measured.

use duetbench_core::Report;
use duetbench_core::analysis::analyse;
use duetbench_core::spec::Decision;
use duetbench_run::store::StoredRun;

/// The report of a stored run, judged by `decision`.
#[must_use]
pub fn report(run: StoredRun, decision: Decision) -> Report {
    let benchmarks = analyse(&run.head.plan, &run.measured(), &decision);
    let StoredRun { name, head, complete, measured_s, .. } = run;
    let mut spec = head.spec;
    spec.decision = decision;
    Report {
        run: name,
        started: head.started,
        complete,
        spec,
        plan: head.plan,
        baseline: head.baseline,
        candidate: head.candidate,
        environment: head.environment,
        measured_s,
        benchmarks,
        warnings: head.warnings,
    }
}
