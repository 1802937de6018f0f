//! The report of a run of one version: what every benchmark took and how much that varied, level by level. Nothing is judged.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::analysis::Measured;
use crate::environment::Environment;
use crate::noise::Diagnosis;
use crate::plan::SoloPlan;
use crate::report::VersionInfo;
use crate::sample::{BenchmarkId, Memory, Sample};
use crate::spec::SoloSpec;
use crate::stats::{self, StatsError};

/// All that a renderer sees of a run of one version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SoloReport {
    /// Name of the run in its store.
    pub run: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// Whether it was measured to its end.
    pub complete: bool,
    /// The request.
    pub spec: SoloSpec,
    /// The plan.
    pub plan: SoloPlan,
    /// The version.
    pub version: VersionInfo,
    /// The machine.
    pub environment: Environment,
    /// Wall time spent measuring, seconds.
    pub measured_s: f64,
    /// One entry per benchmark, in name order.
    pub benchmarks: Vec<SoloResult>,
    /// Disturbances of its measuring.
    pub noise: Diagnosis,
    /// Warnings about the run as a whole.
    pub warnings: Vec<String>,
}

/// Results of one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SoloResult {
    /// The benchmark.
    pub id: BenchmarkId,
    /// Values of its processes, in order.
    pub forks: Vec<SoloFork>,
    /// All of it in a few numbers; absent where there is none.
    pub summary: Option<SoloSummary>,
    /// Why processes gave nothing, in their own words.
    pub failures: Vec<String>,
}

/// Values of one process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SoloFork {
    /// Pass over the suite, counted from 0.
    pub suite_run: u32,
    /// Process within it, counted from 0.
    pub fork: u32,
    /// Invocations of all its iterations together, warm-up left out.
    pub invocations: u64,
    /// Time per invocation over all of them, nanoseconds.
    pub ns_per_op: f64,
    /// Bytes allocated per invocation, where that was counted.
    pub bytes_per_op: Option<f64>,
    /// Allocations per invocation, where that was counted.
    pub allocs_per_op: Option<f64>,
    /// Time per invocation of each iteration, nanoseconds.
    pub iterations_ns: Vec<f64>,
}

/// Time of a benchmark, and its spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SoloSummary {
    /// Time per invocation, nanoseconds: the median over processes of the median over their iterations.
    pub median_ns: f64,
    /// Standard deviation between processes beyond what their iterations explain, relative; absent with a single process, or
    /// where none has two iterations.
    pub sd_between: Option<f64>,
    /// Standard deviation between the iterations of a process, relative; absent where none has two.
    pub sd_within: Option<f64>,
    /// Coefficient of variation of all iterations: standard deviation by mean; absent with a single one.
    pub cv: Option<f64>,
    /// Passes over the suite.
    pub suite_runs: u32,
    /// Processes.
    pub forks: u32,
    /// Iterations.
    pub iterations: u32,
    /// Bytes allocated per invocation, the median over processes.
    pub bytes_per_op: Option<f64>,
    /// Allocations per invocation, the median over processes.
    pub allocs_per_op: Option<f64>,
}

impl SoloReport {
    /// Whether a benchmark gave nothing, or less than was planned.
    pub fn has_failures(&self) -> bool {
        !self.plan.failed.is_empty() || self.benchmarks.iter().any(|b| !b.failures.is_empty())
    }
}

/// The results of a plan, given what was measured, indexed like its benchmarks.
pub fn solo_results(plan: &SoloPlan, measured: &[Measured]) -> Vec<SoloResult> {
    let mut results: Vec<SoloResult> = plan
        .benchmarks
        .iter()
        .zip(measured)
        .map(|(planned, measured)| {
            let forks = forks(&measured.samples);
            let lasting = measured.failed_trials.iter().filter(|f| !f.discarded);
            let failures = lasting.map(|f| f.reason.clone()).collect();
            SoloResult { id: planned.id.clone(), summary: SoloSummary::of(&forks), forks, failures }
        })
        .collect();
    results.extend(plan.failed.iter().map(|(id, words)| SoloResult {
        id: id.clone(),
        forks: Vec::new(),
        summary: None,
        failures: vec![words.clone()],
    }));
    results.sort_by(|a, b| a.id.cmp(&b.id));
    results
}

fn forks(samples: &[Sample]) -> Vec<SoloFork> {
    let mut by_fork: BTreeMap<(u32, u32), Vec<&Sample>> = BTreeMap::new();
    for sample in samples.iter().filter(|s| !s.warm_up && s.invocations > 0) {
        by_fork.entry((sample.at.suite_run, sample.at.fork)).or_default().push(sample);
    }
    by_fork.into_iter().map(|((suite_run, fork), samples)| SoloFork::of(suite_run, fork, &samples)).collect()
}

impl SoloFork {
    fn of(suite_run: u32, fork: u32, samples: &[&Sample]) -> SoloFork {
        let invocations = samples.iter().fold(0u64, |sum, s| sum.saturating_add(s.invocations));
        let wall_ns: f64 = samples.iter().map(|s| s.wall_ns as f64).sum();
        let counted = |number: fn(&Memory) -> Option<u64>| {
            let memories = || samples.iter().filter_map(|s| s.memory);
            let counted: f64 = memories().map(|m| m.invocations as f64).sum();
            let total: Option<f64> = memories().map(|m| number(&m).map(|n| n as f64)).sum();
            total.filter(|_| counted > 0.0).map(|total| total / counted)
        };
        SoloFork {
            suite_run,
            fork,
            iterations_ns: samples.iter().map(|s| s.wall_ns as f64 / s.invocations as f64).collect(),
            invocations,
            ns_per_op: wall_ns / invocations.max(1) as f64,
            bytes_per_op: counted(|m| Some(m.bytes)),
            allocs_per_op: counted(|m| m.allocations),
        }
    }
}

impl SoloSummary {
    /// The few numbers of these processes; absent without any.
    pub fn of(forks: &[SoloFork]) -> Option<SoloSummary> {
        let medians: Vec<f64> = forks.iter().filter_map(|f| stats::median(&f.iterations_ns).ok()).collect();
        let all: Vec<f64> = forks.iter().flat_map(|f| f.iterations_ns.iter().copied()).collect();
        let mut suite_runs: Vec<u32> = forks.iter().map(|f| f.suite_run).collect();
        suite_runs.dedup();
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let (between, within) = spreads(forks);
        let median_of = |number: fn(&SoloFork) -> Option<f64>| {
            stats::median(&forks.iter().filter_map(number).collect::<Vec<_>>()).ok()
        };
        Some(SoloSummary {
            median_ns: stats::median(&medians).ok()?,
            sd_between: between,
            sd_within: within,
            cv: coefficient_of_variation(&all).ok(),
            suite_runs: count(suite_runs.len()),
            forks: count(forks.len()),
            iterations: count(all.len()),
            bytes_per_op: median_of(|f| f.bytes_per_op),
            allocs_per_op: median_of(|f| f.allocs_per_op),
        })
    }
}

/// Standard deviations of the logarithms between and within processes, which are relative ones of the times as long as they are
/// small.
fn spreads(forks: &[SoloFork]) -> (Option<f64>, Option<f64>) {
    let logs: Vec<Vec<f64>> = forks.iter().map(|f| f.iterations_ns.iter().map(|ns| ns.ln()).collect()).collect();
    if let Ok(components) = stats::variance_components(&logs) {
        return (Some(components.between.sqrt()), Some(components.within.sqrt()));
    }
    let alone = match &logs[..] {
        [one] => standard_deviation(one).ok(),
        _ => None,
    };
    (None, alone)
}

/// Standard deviation by mean, both as usual (the variance by `n - 1`).
fn coefficient_of_variation(values: &[f64]) -> Result<f64, StatsError> {
    let (sd, mean) = (standard_deviation(values)?, stats::mean(values)?);
    if mean > 0.0 { Ok(sd / mean) } else { Err(StatsError::NotFinite) }
}

fn standard_deviation(values: &[f64]) -> Result<f64, StatsError> {
    if values.len() < 2 {
        return Err(StatsError::TooFew { have: values.len(), needed: 2 });
    }
    let mean = stats::mean(values)?;
    Ok((values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fork(suite_run: u32, iterations_ns: &[f64]) -> SoloFork {
        let iterations_ns = iterations_ns.to_vec();
        SoloFork {
            suite_run,
            fork: 0,
            iterations_ns,
            invocations: 1,
            ns_per_op: 1.0,
            bytes_per_op: Some(16.0),
            allocs_per_op: None,
        }
    }

    #[test]
    fn the_middle_process_counts_and_not_the_middle_iteration() {
        // All iterations together have the median 10.
        let forks = [fork(0, &[10.0, 10.0, 10.0]), fork(1, &[20.0]), fork(2, &[30.0])];
        let summary = SoloSummary::of(&forks).unwrap();
        assert_eq!((summary.median_ns, summary.suite_runs, summary.forks, summary.iterations), (20.0, 3, 3, 5));
        assert_eq!((summary.bytes_per_op, summary.allocs_per_op), (Some(16.0), None));
    }

    #[test]
    fn spread_is_told_apart_by_level() {
        let between = SoloSummary::of(&[fork(0, &[100.0, 100.0]), fork(1, &[102.0, 102.0])]).unwrap();
        assert_eq!(between.sd_within, Some(0.0));
        // The standard deviation of two values is their distance by the root of two.
        assert!((between.sd_between.unwrap() - 1.02f64.ln() / 2f64.sqrt()).abs() < 1e-12);
        let within = SoloSummary::of(&[fork(0, &[100.0, 102.0]), fork(1, &[102.0, 100.0])]).unwrap();
        assert_eq!(within.sd_between, Some(0.0));
        assert!((within.sd_within.unwrap() - 1.02f64.ln() / 2f64.sqrt()).abs() < 1e-12);
        // Variance 4/3 around 101.
        assert!((within.cv.unwrap() - (4.0f64 / 3.0).sqrt() / 101.0).abs() < 1e-12);
    }

    #[test]
    fn what_was_measured_once_has_no_spread() {
        let summary = SoloSummary::of(&[fork(0, &[100.0])]).unwrap();
        assert_eq!((summary.sd_between, summary.sd_within, summary.cv), (None, None, None));
        let alone = SoloSummary::of(&[fork(0, &[100.0, 102.0])]).unwrap();
        assert!(alone.sd_between.is_none() && alone.sd_within.unwrap() > 0.01);
        assert_eq!(SoloSummary::of(&[]), None);
    }
}
