//! Plans as JSON, written key by key; described by `schema/dry-run-v1.schema.json` and `schema/dry-run-of-one-v1.schema.json`. Keys are
//! always there: what is not known is `null`.

use duetbench_core::plan::{Excluded, Forecast, PlannedBenchmark, SoloBenchmark};
use serde_json::{Value, json};

use super::{DryRun, SoloDryRun};
use crate::render::document;

/// Version of both formats; goes up when a reader of the previous one could misread the next.
const SCHEMA_VERSION: u32 = 1;

fn seconds(ns: u64) -> f64 {
    ns as f64 * 1e-9
}

pub(super) fn write(dry: &DryRun<'_>) -> String {
    let DryRun { plan, spec, versions: [baseline, candidate], warnings, afterwards } = dry;
    let Forecast { enough_for, all_ns, .. } = plan.forecast();
    document::json(&json!({
        "schema_version": SCHEMA_VERSION,
        "duet_version": env!("CARGO_PKG_VERSION"),
        "seed": plan.seed,
        "versions": { "baseline": baseline, "candidate": candidate },
        "predicted_s": plan.predicted().as_secs_f64(),
        "budget_s": spec.effort.budget.map(|budget| budget.as_secs_f64()),
        "enough_for": enough_for,
        "enough_s": seconds(all_ns),
        "benchmarks": plan.benchmarks.iter().map(benchmark).collect::<Vec<_>>(),
        "excluded": plan.excluded.iter().map(excluded).collect::<Vec<_>>(),
        "afterwards": afterwards,
        "warnings": warnings,
    }))
}

fn benchmark(planned: &PlannedBenchmark) -> Value {
    let design = &planned.configuration.design;
    json!({
        "package": planned.id.package,
        "name": planned.id.name,
        "style": planned.style.word(),
        "mode": planned.mode.word(),
        "mode_reason": planned.mode_reason,
        "fork_pairs": design.forks(),
        "build_pairs": design.by_build.then_some(design.units),
        "ends_early": design.sequential,
        "predicted_s": seconds(planned.predicted_ns()),
    })
}

fn excluded(excluded: &Excluded) -> Value {
    let (reason, role, words) = match excluded {
        Excluded::OnlyIn(_, role) => ("only_in_one", Some(role.word()), None),
        Excluded::Identical { .. } => ("identical_code", None, None),
        Excluded::NotAffected { .. } => ("not_affected", None, None),
        Excluded::Failed(_, role, words) => ("failed", Some(role.word()), Some(words)),
    };
    json!({
        "package": excluded.id().package,
        "name": excluded.id().name,
        "reason": reason,
        "role": role,
        "words": words,
        "saved_s": excluded.saved_ns().map(seconds),
    })
}

pub(super) fn write_solo(SoloDryRun { plan, version, warnings }: &SoloDryRun<'_>) -> String {
    let failed =
        plan.failed.iter().map(|(id, words)| json!({ "package": id.package, "name": id.name, "words": words }));
    document::json(&json!({
        "schema_version": SCHEMA_VERSION,
        "duet_version": env!("CARGO_PKG_VERSION"),
        "seed": plan.seed,
        "version": version,
        "predicted_s": plan.predicted().as_secs_f64(),
        "benchmarks": plan.benchmarks.iter().map(of_one).collect::<Vec<_>>(),
        "failed": failed.collect::<Vec<_>>(),
        "warnings": warnings,
    }))
}

fn of_one(planned: &SoloBenchmark) -> Value {
    let repetitions = &planned.repetitions;
    json!({
        "package": planned.id.package,
        "name": planned.id.name,
        "style": planned.style.word(),
        "suite_runs": repetitions.suite_runs,
        "forks": repetitions.forks,
        "warmup": repetitions.warmup,
        "iterations": repetitions.iterations,
        "iteration_s": seconds(repetitions.iteration_ns),
        "predicted_s": seconds(planned.predicted_ns()),
    })
}
