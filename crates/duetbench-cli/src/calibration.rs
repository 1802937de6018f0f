//! From a stored run of a version against itself to its calibration: nothing is measured.

use duetbench_core::analysis::{Basis, analyse, choose_basis};
use duetbench_core::calibrate::{Calibration, Machine, Made, Observed};
use duetbench_core::plan::PlannedBenchmark;
use duetbench_core::report::{BenchmarkReport, ForkPair, VersionInfo};
use duetbench_core::spec::Decision;
use duetbench_core::{BenchmarkId, Verdict};
use duetbench_run::RunError;
use duetbench_run::store::{RunHead, StoredRun};

use crate::failure::code;

/// A calibration with what is said about it: made by the command, seen by the renderers.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrationReport {
    /// Version of duet.
    pub duet_version: String,
    /// The version that was measured against itself.
    pub version: VersionInfo,
    /// The calibration.
    pub made: Made,
    /// Wall time that its run spent measuring, seconds.
    pub measured_s: f64,
    /// The store, as an option where it was typed.
    pub store_typed: String,
    /// Benchmarks that failed, each with the reason.
    pub failed: Vec<(BenchmarkId, String)>,
}

impl CalibrationReport {
    /// The exit code that says what came of it.
    pub fn exit_code(&self) -> u8 {
        if self.made.calibration.known().next().is_none() || !self.failed.is_empty() {
            code::FAILED
        } else {
            code::CLEAN
        }
    }
}

/// Refuses a run from which nothing can be learnt about equal code.
///
/// # Errors
/// When it compares two versions, or ended benchmarks when their answer was known.
pub fn check(run: &StoredRun<RunHead>) -> Result<(), RunError> {
    let (name, head) = (&run.name, &run.head);
    let (a, b) = (&head.baseline, &head.candidate);
    // Files that programs read by themselves are in no digest of theirs.
    let named = a.artifact_digest.is_empty() || !head.spec.harness.commands.is_empty();
    let alike = (!named || a.resolved == b.resolved) && a.artifact_digest == b.artifact_digest;
    if !alike {
        return Err(RunError::other_kind(format!(
            "run `{name}` compares two versions, `{}` and `{}`",
            a.resolved, b.resolved
        ))
        .hint("`duet calibrate` measures one against itself"));
    }
    if head.plan.benchmarks.iter().any(|b| b.configuration.design.sequential) {
        return Err(RunError::other_kind(format!(
            "run `{name}` ended benchmarks as soon as their answer was known, which hides how much they vary"
        ))
        .hint("`duet calibrate` measures all fork pairs, as `--fixed` does"));
    }
    Ok(())
}

/// The calibration that a run of a version against itself gives; the run must have passed [`check`].
pub fn of(run: StoredRun<RunHead>, budgets_s: &[f64]) -> CalibrationReport {
    let (plan, decision) = (run.plan(), run.head.spec.decision);
    let thresholds = run.head.spec.thresholds();
    let reports = analyse(&plan, &run.measured(), thresholds);
    let first_round = |id| FirstRound::of(&reports, id, &thresholds.decision(id));
    let brought: Vec<(&PlannedBenchmark, FirstRound)> =
        plan.benchmarks.iter().map(|planned| (planned, first_round(&planned.id))).collect();
    let observed: Vec<Observed<'_>> = brought
        .iter()
        .zip(run.costs())
        .map(|((planned, round), costs)| Observed {
            id: planned.id.clone(),
            mode: planned.mode,
            basis: round.basis,
            forks: &round.forks,
            design: planned.configuration.design,
            costs,
        })
        .collect();
    let calibration = Calibration::of(&observed, budgets_s, &decision);
    let StoredRun { name, head, measured_s, .. } = run;
    let machine = Machine::of(&head.environment, head.spec.fleet.as_ref());
    CalibrationReport {
        duet_version: env!("CARGO_PKG_VERSION").to_owned(),
        version: head.baseline,
        made: Made { run: name, made: head.started, machine, calibration },
        measured_s,
        store_typed: String::new(),
        failed: failed(reports),
    }
}

/// The fork pairs of a benchmark, without those that confirmed something, by the clock and the number that a comparison judges.
struct FirstRound {
    forks: Vec<ForkPair>,
    basis: Basis,
}

impl FirstRound {
    fn of(reports: &[BenchmarkReport], id: &BenchmarkId, decision: &Decision) -> FirstRound {
        let report = reports.iter().find(|report| report.id == *id);
        let forks = report.map_or(&[][..], |report| &report.forks).iter().filter(|fork| fork.round == 0);
        let forks: Vec<ForkPair> = forks.copied().collect();
        let choice = choose_basis(&forks, report.and_then(|report| report.bytes.as_ref()), decision);
        FirstRound { forks: forks.iter().map(|fork| choice.clock.read(fork)).collect(), basis: choice.basis }
    }
}

fn failed(reports: Vec<BenchmarkReport>) -> Vec<(BenchmarkId, String)> {
    let reason = |report: BenchmarkReport| match report.verdict {
        Verdict::Failed { reason, .. } => Some((report.id, reason)),
        _ => None,
    };
    reports.into_iter().filter_map(reason).collect()
}
