//! The JSON form, written key by key. Keys are always there: what is not known is `null`.

use duetbench_cli::render::document;
use serde_json::{Value, json};

use super::Cloud;
use super::words::{source_word, warnings};
use crate::papers::cloud::{
    Against, Alarms, Comparison, Detectable, INSTANCES_COMPARED, Score, Spread, Steadiest, Studied, StudiedBenchmark,
    Test,
};

/// Version of the format; goes up when a reader of the previous one could misread the next.
const SCHEMA_VERSION: u32 = 1;

/// The study as JSON.
pub(super) fn json(cloud: &Cloud) -> String {
    document::json(&json!({
        "schema_version": SCHEMA_VERSION,
        "duet_version": cloud.duet_version,
        "study": "cloud",
        "seed": cloud.settings.seed,
        "draws": cloud.settings.draws,
        "trials": cloud.settings.trials,
        "environments": cloud.environments.iter().map(environment).collect::<Vec<_>>(),
        "comparison": cloud.comparison.as_ref().map(compared),
        "warnings": warnings(cloud),
    }))
}

fn environment(studied: &Studied) -> Value {
    let (collected, cleaned) = studied.counts();
    let all = Test::ALL.into_iter().flat_map(|test| INSTANCES_COMPARED.map(|instances| (test, instances)));
    let alarmed = all.filter_map(|(test, instances)| studied.alarms(test, instances));
    json!({
        "name": studied.environment,
        "collected": collected,
        "cleaned": cleaned,
        "false_alarms": alarmed.map(|all| alarms(&all)).collect::<Vec<_>>(),
        "benchmarks": studied.benchmarks.iter().map(benchmark).collect::<Vec<_>>(),
    })
}

/// A benchmark in an environment.
pub(super) fn benchmark(benchmark: &StudiedBenchmark) -> Value {
    let spread = &benchmark.spread;
    json!({
        "name": benchmark.benchmark,
        "instances": benchmark.instances,
        "trials": benchmark.trials,
        "collected": benchmark.collected,
        "removed": benchmark.removed,
        "rsd": spread.rsd,
        "log_rsd_error": spread.log_rsd_error,
        "per_instance": spread.per_instance,
        "per_trial": spread.per_trial,
        "sources": sources(spread),
        "false_alarms": benchmark.alarms.iter().map(alarms).collect::<Vec<_>>(),
        "detectable": benchmark.detectable.iter().map(detectable).collect::<Vec<_>>(),
    })
}

/// Sources of variance; absent where they are not known.
pub(super) fn sources(spread: &Spread) -> Option<Vec<Value>> {
    let sources = spread.sources.as_ref()?.iter().map(|source| {
        json!({
            "source": source_word(source.level),
            "repetitions": source.repetitions,
            "log_variance": source.variance,
            "log_sd": source.standard_deviation(),
            "share": spread.share(source),
        })
    });
    Some(sources.collect())
}

/// False alarms of a test.
pub(super) fn alarms(alarms: &Alarms) -> Value {
    json!({
        "test": alarms.test.word(),
        "instances": alarms.instances,
        "alarms": alarms.alarms,
        "draws": alarms.of,
        "rate": alarms.rate(),
    })
}

/// Changes that a design sees.
pub(super) fn detectable(found: &Detectable) -> Value {
    json!({
        "sampling": found.sampling.word(),
        "instances": found.instances,
        "printed": found.printed(),
        "corrected": found.corrected(),
        "standard_error": found.standard_error,
        "closed_form": found.closed_form(),
        "by_sources": found.by_sources,
        "rates": found.rates,
    })
}

fn compared(comparison: &Comparison) -> Value {
    json!({
        "common": comparison.common,
        "environments": comparison.scores.iter().map(score).collect::<Vec<_>>(),
        "against": comparison.against.iter().map(against).collect::<Vec<_>>(),
        "benchmarks": comparison.benchmarks.iter().map(steadiest).collect::<Vec<_>>(),
    })
}

/// The spread of an environment.
pub(super) fn score(score: &Score) -> Value {
    json!({ "name": score.environment, "rsd": score.rsd, "steadiest_of": score.steadiest_of })
}

/// An environment beside the steadiest one.
pub(super) fn against(other: &Against) -> Value {
    json!({
        "name": other.environment,
        "ratio": other.ratio,
        "steadier_for": other.steadier_for,
        "p_value": other.p_value,
        "clear": other.is_clear(),
    })
}

/// The environment in which a benchmark varies least.
pub(super) fn steadiest(one: &Steadiest) -> Value {
    json!({
        "name": one.benchmark,
        "environment": one.environment,
        "rsd": one.rsd,
        "next": one.next,
        "next_rsd": one.next_rsd,
        "clear": one.clear,
    })
}
