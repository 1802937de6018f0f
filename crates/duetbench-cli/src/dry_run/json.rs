//! Plans as JSON, in types of their own; described by `schema/dry-run-v1.schema.json` and `schema/dry-run-of-one-v1.schema.json`. Keys are
//! always there: what is not known is `null`.

use duetbench_core::plan::{Excluded, Forecast, PlannedBenchmark, Repetitions, SoloBenchmark};
use duetbench_core::{BenchmarkId, Role};
use serde::Serialize;

use super::{DryRun, SoloDryRun};
use crate::render::document;
use crate::render::version::{VersionEntry, VersionsEntry};

/// Version of both formats; goes up when a reader of the previous one could misread the next.
const SCHEMA_VERSION: u32 = 1;

pub(super) fn write(dry: &DryRun<'_>) -> String {
    document::json(&Document::of(dry))
}

pub(super) fn write_solo(dry: &SoloDryRun<'_>) -> String {
    document::json(&SoloDocument::of(dry))
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    duet_version: &'static str,
    seed: u64,
    versions: VersionsEntry<'a>,
    predicted_s: f64,
    budget_s: Option<f64>,
    enough_for: u32,
    enough_s: f64,
    benchmarks: Vec<Benchmark<'a>>,
    excluded: Vec<Left<'a>>,
    afterwards: &'a [String],
    warnings: &'a [String],
}

#[derive(Serialize)]
struct Benchmark<'a> {
    package: &'a str,
    name: &'a str,
    style: &'static str,
    mode: &'static str,
    mode_reason: &'a str,
    fork_pairs: u32,
    build_pairs: Option<u32>,
    ends_early: bool,
    predicted_s: f64,
}

/// A benchmark that is not measured.
#[derive(Serialize)]
struct Left<'a> {
    package: &'a str,
    name: &'a str,
    reason: &'static str,
    role: Option<&'static str>,
    words: Option<&'a str>,
    saved_s: Option<f64>,
}

fn seconds(ns: u64) -> f64 {
    ns as f64 * 1e-9
}

impl<'a> Document<'a> {
    fn of(dry: &'a DryRun<'a>) -> Document<'a> {
        let DryRun { plan, spec, versions: [baseline, candidate], warnings, afterwards } = dry;
        let Forecast { enough_for, all_ns, .. } = plan.forecast();
        Document {
            schema_version: SCHEMA_VERSION,
            duet_version: env!("CARGO_PKG_VERSION"),
            seed: plan.seed,
            versions: VersionsEntry::of(baseline, candidate),
            predicted_s: plan.predicted().as_secs_f64(),
            budget_s: spec.effort.budget.map(|budget| budget.as_secs_f64()),
            enough_for,
            enough_s: seconds(all_ns),
            benchmarks: plan.benchmarks.iter().map(Benchmark::of).collect(),
            excluded: plan.excluded.iter().map(Left::of).collect(),
            afterwards,
            warnings,
        }
    }
}

impl<'a> Benchmark<'a> {
    fn of(planned: &'a PlannedBenchmark) -> Benchmark<'a> {
        let design = &planned.configuration.design;
        Benchmark {
            package: &planned.id.package,
            name: &planned.id.name,
            style: planned.style.word(),
            mode: planned.mode.word(),
            mode_reason: &planned.mode_reason,
            fork_pairs: design.forks(),
            build_pairs: design.by_build.then_some(design.units),
            ends_early: design.sequential,
            predicted_s: seconds(planned.predicted_ns()),
        }
    }
}

impl<'a> Left<'a> {
    fn of(excluded: &'a Excluded) -> Left<'a> {
        let BenchmarkId { package, name } = excluded.id();
        let left = |reason, role: Option<Role>| Left {
            package,
            name,
            reason,
            role: role.map(Role::word),
            words: None,
            saved_s: excluded.saved_ns().map(seconds),
        };
        match excluded {
            Excluded::OnlyIn(_, role) => left("only_in_one", Some(*role)),
            Excluded::Identical { .. } => left("identical_code", None),
            Excluded::NotAffected { .. } => left("not_affected", None),
            Excluded::Failed(_, role, words) => Left { words: Some(words), ..left("failed", Some(*role)) },
        }
    }
}

#[derive(Serialize)]
struct SoloDocument<'a> {
    schema_version: u32,
    duet_version: &'static str,
    seed: u64,
    version: VersionEntry<'a>,
    predicted_s: f64,
    benchmarks: Vec<SoloEntry<'a>>,
    failed: Vec<Failed<'a>>,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct SoloEntry<'a> {
    package: &'a str,
    name: &'a str,
    style: &'static str,
    suite_runs: u32,
    forks: u32,
    warmup: u32,
    iterations: u32,
    iteration_s: f64,
    predicted_s: f64,
}

#[derive(Serialize)]
struct Failed<'a> {
    package: &'a str,
    name: &'a str,
    words: &'a str,
}

impl<'a> SoloDocument<'a> {
    fn of(dry: &SoloDryRun<'a>) -> SoloDocument<'a> {
        let SoloDryRun { plan, version, warnings } = *dry;
        let failed = |(id, words): &'a (BenchmarkId, String)| Failed { package: &id.package, name: &id.name, words };
        SoloDocument {
            schema_version: SCHEMA_VERSION,
            duet_version: env!("CARGO_PKG_VERSION"),
            seed: plan.seed,
            version: VersionEntry::of(version),
            predicted_s: plan.predicted().as_secs_f64(),
            benchmarks: plan.benchmarks.iter().map(SoloEntry::of).collect(),
            failed: plan.failed.iter().map(failed).collect(),
            warnings,
        }
    }
}

impl<'a> SoloEntry<'a> {
    fn of(planned: &'a SoloBenchmark) -> SoloEntry<'a> {
        let Repetitions { suite_runs, forks, iterations, warmup, iteration_ns } = planned.repetitions;
        SoloEntry {
            package: &planned.id.package,
            name: &planned.id.name,
            style: planned.style.word(),
            suite_runs,
            forks,
            warmup,
            iterations,
            iteration_s: seconds(iteration_ns),
            predicted_s: seconds(planned.predicted_ns()),
        }
    }
}
