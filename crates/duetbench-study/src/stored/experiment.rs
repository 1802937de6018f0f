//! Results of a stored comparison, in the shape that ElastiBench's statistics need.

use duetbench_core::Role;
use duetbench_core::analysis::summarise;
use duetbench_core::plan::{Excluded, Mode};
use duetbench_run::engine::TrialOutcome;
use duetbench_run::store::{RunHead, StoredRun};

use crate::papers::elastibench::{Experiment, Results};

/// Every fork pair as one result: by how much the candidate took longer than the baseline, in the order of measuring.
///
/// A side's time is that of all its slices by all their invocations, which is what Go prints as `ns/op`; nothing is clipped.
/// The rounds that confirm are left out, because only benchmarks that looked like regressions have them, and so is what was
/// measured before a benchmark fell back to another mode.
pub fn experiment(run: &StoredRun<RunHead>) -> Experiment {
    let plan = run.plan();
    let mut benchmarks: Vec<Results> = plan
        .benchmarks
        .iter()
        .map(|planned| Results { benchmark: planned.id.to_string(), differences: Vec::new(), missing: None })
        .collect();
    for (trial, outcome) in run.trials.iter().filter(|(trial, _)| trial.round == 0) {
        let planned = plan.benchmarks.get(trial.benchmark);
        if let Some((results, planned)) = benchmarks.get_mut(trial.benchmark).zip(planned) {
            add(results, outcome, planned.mode);
        }
    }
    benchmarks.extend(plan.excluded.iter().map(|excluded| Results {
        benchmark: excluded.id().to_string(),
        differences: Vec::new(),
        missing: Some(why_excluded(excluded)),
    }));
    benchmarks.sort_by(|a, b| a.benchmark.cmp(&b.benchmark));
    Experiment { name: run.name.clone(), benchmarks }
}

/// Adds what a trial gave, or why it gave nothing.
fn add(results: &mut Results, outcome: &TrialOutcome, mode: Mode) {
    match &outcome.result {
        Ok(samples) if outcome.mode == mode => {
            let forks = summarise(samples, mode).forks;
            results.differences.extend(forks.iter().map(|f| f.candidate.ns_per_op / f.baseline.ns_per_op - 1.0));
        }
        Ok(_) => {}
        Err(failure) => {
            let words = || format!("trials failed, the first with: {}", failure.reason);
            results.missing.get_or_insert_with(words);
        }
    }
}

/// Why a benchmark was not measured.
pub(super) fn why_excluded(excluded: &Excluded) -> String {
    match excluded {
        Excluded::OnlyIn(_, Role::Baseline) => "only in base".into(),
        Excluded::OnlyIn(_, Role::Candidate) => "only in head".into(),
        Excluded::Failed(_, role, reason) => format!("failed in the {}: {reason}", role.word()),
        Excluded::Identical { .. } => "identical code, not measured".into(),
        Excluded::NotAffected { .. } => "not affected, not measured".into(),
    }
}

#[cfg(test)]
mod tests {
    use duetbench_core::BenchmarkId;

    use super::*;

    #[test]
    fn what_was_not_measured_has_its_reason() {
        let id = || BenchmarkId { package: "p".into(), name: "A".into() };
        let check = |excluded: Excluded, want: &str| assert_eq!(why_excluded(&excluded), want);
        check(Excluded::OnlyIn(id(), Role::Candidate), "only in head");
        check(Excluded::Failed(id(), Role::Baseline, "no luck".into()), "failed in the baseline: no luck");
        check(Excluded::Identical { id: id(), saved_ns: 1 }, "identical code, not measured");
    }
}
