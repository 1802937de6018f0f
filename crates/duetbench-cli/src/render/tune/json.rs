//! The JSON format, written key by key; described by `schema/tune-v1.schema.json`. Keys are always there: a value that is not
//! known, or that is not finite, is `null`.

use duetbench_core::recording::Level;
use duetbench_core::tune::TunedWarmUp;
use serde_json::{Value, json};

use crate::render::document;
use crate::tuning::{Enough, Summary, TunedBenchmark, TunedMetric, TunedSource, Tuning};

/// Version of the format; goes up when a reader of the previous one could misread the next.
const SCHEMA_VERSION: u32 = 1;

/// The results as JSON.
pub(super) fn json(tuning: &Tuning) -> String {
    let rules = &tuning.rules;
    let totals = tuning
        .totals()
        .into_iter()
        .map(|(metric, total)| json!({ "metric": metric.word(), "summary": summary(total) }));
    document::json(&json!({
        "schema_version": SCHEMA_VERSION,
        "duet_version": tuning.duet_version,
        "metrics": tuning.metrics.iter().map(|metric| metric.word()).collect::<Vec<_>>(),
        "threshold": rules.threshold,
        "confidence": rules.confidence,
        // Readers of this version of the format look for it.
        "compat": "paper",
        "keep": words(&rules.keep),
        "warmup": tuning.warmup,
        "plan_file": tuning.plan_file,
        "recordings": tuning.sources.iter().map(recording).collect::<Vec<_>>(),
        "totals": totals.collect::<Vec<_>>(),
    }))
}

fn words(levels: &[Level]) -> Vec<&'static str> {
    levels.iter().map(|level| level.word()).collect()
}

fn recording(source: &TunedSource) -> Value {
    json!({
        "name": source.name,
        "levels": words(&source.levels),
        "warnings": source.warnings,
        "results": source.results.iter().map(metric).collect::<Vec<_>>(),
    })
}

fn metric(result: &TunedMetric) -> Value {
    let left_out = result.left_out.iter().map(|(name, reason)| json!({ "name": name, "reason": reason }));
    json!({
        "metric": result.metric.word(),
        "summary": summary(result.summary),
        "benchmarks": result.choices.iter().map(benchmark).collect::<Vec<_>>(),
        "left_out": left_out.collect::<Vec<_>>(),
    })
}

fn benchmark(tuned: &TunedBenchmark) -> Value {
    let choice = &tuned.choice;
    json!({
        "name": choice.benchmark,
        "full": choice.full,
        "chosen": choice.chosen,
        "full_s": choice.full_s,
        "chosen_s": choice.chosen_s,
        "saving": tuned.saving,
        "stability": choice.stability,
        "stable": choice.stable,
        "result_full": choice.result_full,
        "result_chosen": choice.result_chosen,
        "change": choice.change(),
        "enough": tuned.enough.map(enough),
        "warmup": tuned.warm_up.as_ref().map(warm_up),
    })
}

fn enough(Enough { level, now, repetitions }: Enough) -> Value {
    json!({ "level": level.word(), "now": now, "repetitions": repetitions })
}

fn warm_up(warm_up: &TunedWarmUp) -> Value {
    json!({
        "iterations": warm_up.iterations(),
        "iteration_s": warm_up.iteration_s,
        "unseen": warm_up.unseen(),
        "found": warm_up.found.and_then(|found| found.iterations),
        "forks": warm_up.found.map_or(0, |found| found.forks),
        "forks_unsteady": warm_up.found.map_or(0, |found| found.unsteady),
        "harness_iterations": warm_up.harness.iterations,
        "harness_iteration_s": warm_up.harness.iteration_s,
    })
}

fn summary(summary: Summary) -> Value {
    let accuracy = &summary.accuracy;
    let within = summary.within().map(|(limit, benchmarks)| json!({ "limit": limit, "benchmarks": benchmarks }));
    json!({
        "benchmarks": accuracy.benchmarks,
        "stable": summary.stable,
        "reduced": summary.reduced(),
        "full_s": accuracy.full_s,
        "chosen_s": accuracy.chosen_s,
        "saving": accuracy.saving(),
        "within": within.collect::<Vec<_>>(),
    })
}
