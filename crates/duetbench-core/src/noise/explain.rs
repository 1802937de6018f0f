//! Explains the disturbances of a run and their cost.

use serde::{Deserialize, Serialize};

use super::{Beside, Conditions, Facts, Finding, diagnose, disturbance_cost};
use crate::analysis::BenchmarkReport;
use crate::stats;

/// The short diagnosis of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// Everything that explains spread, the gravest first.
    pub findings: Vec<Finding>,
    /// Factor by which the minimal detectable change would be smaller, had no fork pair been disturbed; absent where that
    /// cannot be told.
    pub cost: Option<f64>,
}

/// Conditions of the machine during one trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Witnessed<'a> {
    /// Its benchmark.
    pub benchmark: &'a crate::BenchmarkId,
    /// Its round and suite run.
    pub at: (u32, u32),
    /// The conditions.
    pub conditions: Conditions,
}

/// Explains the noise of a run from the conditions of its trials and their results.
pub fn explain(trials: &[Witnessed<'_>], facts: &Facts, reports: &[BenchmarkReport]) -> Diagnosis {
    let mut total = Conditions::default();
    trials.iter().for_each(|t| total.merge(&t.conditions));
    let deviations: Vec<(bool, f64)> = reports.iter().flat_map(|report| deviations(report, trials)).collect();
    let findings = if trials.is_empty() { Vec::new() } else { diagnose(&total, facts, &Beside::default()) };
    Diagnosis { findings, cost: disturbance_cost(&deviations) }
}

/// Distance of each fork pair of a benchmark from its median, in units of their spread, so that benchmarks can be put together;
/// with whether the machine was disturbed meanwhile.
fn deviations(report: &BenchmarkReport, trials: &[Witnessed<'_>]) -> Vec<(bool, f64)> {
    let log_ratios: Vec<f64> = report.forks.iter().map(|f| f.log_ratio).collect();
    let (Ok(centre), Ok(t)) = (stats::median(&log_ratios), stats::trimmed_t(&log_ratios)) else { return Vec::new() };
    let own: Vec<_> = trials.iter().filter(|t| *t.benchmark == report.id).collect();
    let disturbed = |at| own.iter().find(|t| t.at == at).map(|t| t.conditions.is_disturbed());
    let one =
        |f: &crate::analysis::ForkPair| Some((disturbed((f.round, f.suite_run))?, (f.log_ratio - centre) / t.spread()));
    if t.spread() > 0.0 { report.forks.iter().filter_map(one).collect() } else { Vec::new() }
}
