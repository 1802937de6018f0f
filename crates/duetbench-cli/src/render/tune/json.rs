//! The JSON format, in types of its own; described by `schema/tune-v1.schema.json`. Keys are always there: a value that is not
//! known, or that is not finite, is `null`.

use duetbench_core::tune::TunedWarmUp;
use serde::Serialize;

use crate::render::document;
use crate::tuning::{self, TunedMetric, TunedSource, Tuning};

/// Version of the format; goes up when a reader of the previous one could misread the next.
pub const SCHEMA_VERSION: u32 = 1;

/// The results as JSON.
pub(super) fn json(tuning: &Tuning) -> String {
    document::json(&Document::of(tuning))
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    duet_version: &'a str,
    metrics: Vec<&'static str>,
    threshold: f64,
    confidence: f64,
    compat: &'static str,
    keep: Vec<&'static str>,
    warmup: usize,
    plan_file: Option<&'a str>,
    recordings: Vec<Recording<'a>>,
    totals: Vec<Total>,
}

#[derive(Serialize)]
struct Recording<'a> {
    name: &'a str,
    levels: Vec<&'static str>,
    warnings: &'a [String],
    results: Vec<Metric<'a>>,
}

#[derive(Serialize)]
struct Metric<'a> {
    metric: &'static str,
    summary: Summary,
    benchmarks: Vec<Benchmark<'a>>,
    left_out: Vec<LeftOut<'a>>,
}

#[derive(Serialize)]
struct Benchmark<'a> {
    name: &'a str,
    full: &'a [usize],
    chosen: &'a [usize],
    full_s: f64,
    chosen_s: f64,
    saving: Option<f64>,
    stability: f64,
    stable: bool,
    result_full: f64,
    result_chosen: f64,
    change: f64,
    enough: Option<Enough>,
    warmup: Option<WarmUp>,
}

#[derive(Serialize)]
struct WarmUp {
    iterations: usize,
    iteration_s: f64,
    unseen: usize,
    found: Option<usize>,
    forks: usize,
    forks_unsteady: usize,
    harness_iterations: u32,
    harness_iteration_s: f64,
}

#[derive(Serialize)]
struct Enough {
    level: &'static str,
    now: usize,
    repetitions: u64,
}

#[derive(Serialize)]
struct LeftOut<'a> {
    name: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct Total {
    metric: &'static str,
    summary: Summary,
}

#[derive(Serialize)]
struct Summary {
    benchmarks: usize,
    stable: usize,
    reduced: usize,
    full_s: f64,
    chosen_s: f64,
    saving: Option<f64>,
    within: Vec<Within>,
}

#[derive(Serialize)]
struct Within {
    limit: f64,
    benchmarks: usize,
}

impl<'a> Document<'a> {
    fn of(tuning: &'a Tuning) -> Document<'a> {
        let rules = &tuning.rules;
        let total = |(metric, summary): (duetbench_core::tune::Metric, tuning::Summary)| Total {
            metric: metric.word(),
            summary: Summary::of(summary),
        };
        Document {
            schema_version: SCHEMA_VERSION,
            duet_version: &tuning.duet_version,
            metrics: tuning.metrics.iter().map(|metric| metric.word()).collect(),
            threshold: rules.threshold,
            confidence: rules.confidence,
            // Readers of this version of the format look for it.
            compat: "paper",
            keep: rules.keep.iter().map(|level| level.word()).collect(),
            warmup: tuning.warmup,
            plan_file: tuning.plan_file.as_deref(),
            recordings: tuning.sources.iter().map(Recording::of).collect(),
            totals: tuning.totals().into_iter().map(total).collect(),
        }
    }
}

impl<'a> Recording<'a> {
    fn of(source: &'a TunedSource) -> Recording<'a> {
        Recording {
            name: &source.name,
            levels: source.levels.iter().map(|level| level.word()).collect(),
            warnings: &source.warnings,
            results: source.results.iter().map(Metric::of).collect(),
        }
    }
}

impl<'a> Metric<'a> {
    fn of(result: &'a TunedMetric) -> Metric<'a> {
        let left_out = result.left_out.iter().map(|(name, reason)| LeftOut { name, reason });
        Metric {
            metric: result.metric.word(),
            summary: Summary::of(result.summary),
            benchmarks: result.choices.iter().map(Benchmark::of).collect(),
            left_out: left_out.collect(),
        }
    }
}

impl<'a> Benchmark<'a> {
    fn of(tuned: &'a tuning::TunedBenchmark) -> Benchmark<'a> {
        let choice = &tuned.choice;
        let enough = |enough: tuning::Enough| Enough {
            level: enough.level.word(),
            now: enough.now,
            repetitions: enough.repetitions,
        };
        Benchmark {
            name: &choice.benchmark,
            full: &choice.full,
            chosen: &choice.chosen,
            full_s: choice.full_s,
            chosen_s: choice.chosen_s,
            saving: tuned.saving,
            stability: choice.stability,
            stable: choice.stable,
            result_full: choice.result_full,
            result_chosen: choice.result_chosen,
            change: choice.change(),
            enough: tuned.enough.map(enough),
            warmup: tuned.warm_up.as_ref().map(WarmUp::of),
        }
    }
}

impl WarmUp {
    fn of(warm_up: &TunedWarmUp) -> WarmUp {
        WarmUp {
            iterations: warm_up.iterations(),
            iteration_s: warm_up.iteration_s,
            unseen: warm_up.unseen(),
            found: warm_up.found.and_then(|found| found.iterations),
            forks: warm_up.found.map_or(0, |found| found.forks),
            forks_unsteady: warm_up.found.map_or(0, |found| found.unsteady),
            harness_iterations: warm_up.harness.iterations,
            harness_iteration_s: warm_up.harness.iteration_s,
        }
    }
}

impl Summary {
    fn of(summary: tuning::Summary) -> Summary {
        let accuracy = &summary.accuracy;
        Summary {
            benchmarks: accuracy.benchmarks,
            stable: summary.stable,
            reduced: summary.reduced(),
            full_s: accuracy.full_s,
            chosen_s: accuracy.chosen_s,
            saving: accuracy.saving(),
            within: summary.within().map(|(limit, benchmarks)| Within { limit, benchmarks }).collect(),
        }
    }
}
