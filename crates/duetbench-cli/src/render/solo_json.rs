//! A run of one version as JSON, in types of its own, so that a change inside the tool cannot change the format by accident.
//!
//! Keys are always there: a value that is not known, or that is not finite, is `null`.

use duetbench_core::SoloReport;
use duetbench_core::plan::Repetitions;
use duetbench_core::solo_report::{SoloFork, SoloResult};
use serde::Serialize;

use super::document;
use super::version::VersionEntry;

/// Version of the format; goes up when a reader of the previous one could misread the next.
pub const SCHEMA_VERSION: u32 = 1;

/// The report as JSON.
#[must_use]
pub fn render(report: &SoloReport) -> String {
    document::json(&Document::of(report))
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    kind: &'static str,
    duet_version: &'a str,
    run: &'a str,
    started: &'a str,
    complete: bool,
    measured_s: f64,
    seed: u64,
    version: VersionEntry<'a>,
    benchmarks: Vec<Benchmark<'a>>,
    warnings: &'a [String],
    environment: Environment<'a>,
}

#[derive(Serialize)]
struct Benchmark<'a> {
    package: &'a str,
    name: &'a str,
    planned: Option<Planned>,
    median_ns: Option<f64>,
    sd_between: Option<f64>,
    sd_within: Option<f64>,
    cv: Option<f64>,
    bytes_per_op: Option<f64>,
    allocs_per_op: Option<f64>,
    failures: &'a [String],
    forks: Vec<Fork<'a>>,
}

#[derive(Serialize)]
struct Planned {
    suite_runs: u32,
    forks: u32,
    iterations: u32,
    warmup: u32,
    iteration_s: f64,
}

#[derive(Serialize)]
struct Fork<'a> {
    suite_run: u32,
    fork: u32,
    invocations: u64,
    ns_per_op: f64,
    bytes_per_op: Option<f64>,
    allocs_per_op: Option<f64>,
    iterations_ns: &'a [f64],
}

#[derive(Serialize)]
struct Environment<'a> {
    platform: &'a str,
    kernel: &'a str,
    cpu_model: &'a str,
    cpus_usable: &'a [u32],
    cores_physical: u32,
    governor: Option<&'a str>,
    load_1min: f64,
    steal_share: Option<f64>,
    toolchain: &'a str,
}

impl<'a> Document<'a> {
    fn of(report: &'a SoloReport) -> Document<'a> {
        let (version, environment) = (&report.version, &report.environment);
        let planned = |result: &SoloResult| report.plan.benchmarks.iter().find(|b| b.id == result.id);
        let benchmark = |result| Benchmark::of(result, planned(result).map(|b| &b.repetitions));
        Document {
            schema_version: SCHEMA_VERSION,
            kind: "run",
            duet_version: &environment.duet_version,
            run: &report.run,
            started: &report.started,
            complete: report.complete,
            measured_s: report.measured_s,
            seed: report.plan.seed,
            version: VersionEntry::of(version),
            benchmarks: report.benchmarks.iter().map(benchmark).collect(),
            warnings: &report.warnings,
            environment: Environment {
                platform: &environment.platform,
                kernel: &environment.kernel,
                cpu_model: &environment.cpu_model,
                cpus_usable: &environment.cpus_usable,
                cores_physical: environment.cores_physical,
                governor: environment.governor.as_deref(),
                load_1min: environment.load_1min,
                steal_share: environment.steal_share,
                toolchain: &environment.toolchain,
            },
        }
    }
}

impl<'a> Benchmark<'a> {
    fn of(result: &'a SoloResult, planned: Option<&Repetitions>) -> Benchmark<'a> {
        let summary = result.summary.as_ref();
        let fork = |fork: &'a SoloFork| Fork {
            suite_run: fork.suite_run,
            fork: fork.fork,
            invocations: fork.invocations,
            ns_per_op: fork.ns_per_op,
            bytes_per_op: fork.bytes_per_op,
            allocs_per_op: fork.allocs_per_op,
            iterations_ns: &fork.iterations_ns,
        };
        Benchmark {
            package: &result.id.package,
            name: &result.id.name,
            planned: planned.map(|r| Planned {
                suite_runs: r.suite_runs,
                forks: r.forks,
                iterations: r.iterations,
                warmup: r.warmup,
                iteration_s: r.iteration_ns as f64 * 1e-9,
            }),
            median_ns: summary.map(|s| s.median_ns),
            sd_between: summary.and_then(|s| s.sd_between),
            sd_within: summary.and_then(|s| s.sd_within),
            cv: summary.and_then(|s| s.cv),
            bytes_per_op: summary.and_then(|s| s.bytes_per_op),
            allocs_per_op: summary.and_then(|s| s.allocs_per_op),
            failures: &result.failures,
            forks: result.forks.iter().map(fork).collect(),
        }
    }
}
