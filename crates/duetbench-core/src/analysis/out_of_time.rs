//! Benchmarks that a budget was not enough for.

use std::collections::BTreeSet;

use super::{BenchmarkReport, Warning, count};
use crate::plan::Plan;
use crate::verdict::Verdict;

/// Says of open benchmarks without an interval, in a run that its budget ended, how much time they lacked instead of how many units.
pub fn note_out_of_time(benchmarks: &mut [BenchmarkReport], plan: &Plan, measured_s: f64) {
    let Some(first_round_ns) = plan.first_round_ns() else { return };
    let left_s = (first_round_ns as f64 * 1e-9 - measured_s).max(0.0);
    for (planned, claim) in plan.benchmarks.iter().zip(plan.claims()) {
        let open = |b: &&mut BenchmarkReport| {
            let fails = b.warnings.iter().any(|warning| matches!(warning, Warning::FailedTrials { .. }));
            b.id == planned.id
                && b.estimate.is_none()
                && !fails
                && matches!(b.verdict.of_times(), Verdict::Inconclusive { .. })
        };
        let Some(one) = benchmarks.iter_mut().find(open) else { continue };
        let design = &planned.configuration.design;
        let units: BTreeSet<u32> = one.forks.iter().map(|fork| design.unit(fork.suite_run)).collect();
        let claim = crate::plan::Claim { units: count(units.len()), ..claim };
        one.warnings.retain(|warning| !matches!(warning, Warning::TooFewUnits { .. }));
        one.warnings.insert(0, Warning::OutOfTime { needs_s: claim.to_goal_ns() as f64 * 1e-9, left_s });
    }
}
