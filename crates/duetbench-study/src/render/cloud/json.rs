//! The JSON form, in types of its own. Keys are always there: what is not known is `null`.

use duetbench_cli::render::document;
use serde::Serialize;

use super::Cloud;
use super::words::{source_word, warnings};
use crate::papers::cloud::{
    Against, Alarms, Comparison, Detectable, INSTANCES_COMPARED, Score, Spread, Steadiest, Studied, StudiedBenchmark,
    Test, Typical,
};

/// Version of the format; goes up when a reader of the previous one could misread the next.
const SCHEMA_VERSION: u32 = 1;

/// The study as JSON.
pub(super) fn json(cloud: &Cloud) -> String {
    document::json(&Document {
        schema_version: SCHEMA_VERSION,
        duet_version: &cloud.duet_version,
        study: "cloud",
        seed: cloud.settings.seed,
        draws: cloud.settings.draws,
        trials: cloud.settings.trials,
        environments: cloud.environments.iter().map(EnvironmentRow::of).collect(),
        comparison: cloud.comparison.as_ref().map(Compared::of),
        warnings: warnings(cloud),
    })
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    duet_version: &'a str,
    study: &'static str,
    seed: u64,
    draws: u32,
    trials: usize,
    environments: Vec<EnvironmentRow<'a>>,
    comparison: Option<Compared<'a>>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct EnvironmentRow<'a> {
    name: &'a str,
    collected: usize,
    cleaned: usize,
    false_alarms: Vec<AlarmsRow>,
    benchmarks: Vec<BenchmarkRow<'a>>,
}

#[derive(Serialize)]
struct BenchmarkRow<'a> {
    name: &'a str,
    instances: usize,
    trials: usize,
    collected: usize,
    removed: usize,
    rsd: Option<f64>,
    log_rsd_error: Option<f64>,
    per_instance: Option<TypicalRow>,
    per_trial: Option<TypicalRow>,
    sources: Option<Vec<SourceRow>>,
    false_alarms: Vec<AlarmsRow>,
    detectable: Vec<DetectableRow>,
}

#[derive(Serialize)]
struct TypicalRow {
    mean: f64,
    standard_deviation: Option<f64>,
    count: usize,
}

#[derive(Serialize)]
struct SourceRow {
    source: &'static str,
    repetitions: usize,
    log_variance: f64,
    log_sd: f64,
    share: Option<f64>,
}

#[derive(Serialize)]
struct AlarmsRow {
    test: &'static str,
    instances: usize,
    alarms: u32,
    draws: u32,
    rate: Option<f64>,
}

#[derive(Serialize)]
struct DetectableRow {
    sampling: &'static str,
    instances: usize,
    printed: Option<f64>,
    corrected: Option<f64>,
    standard_error: f64,
    closed_form: f64,
    by_sources: Option<f64>,
    rates: Vec<RatesRow>,
}

#[derive(Serialize)]
struct RatesRow {
    regression: f64,
    false_positives: f64,
    true_positives: f64,
}

#[derive(Serialize)]
struct Compared<'a> {
    common: usize,
    environments: Vec<ScoreRow<'a>>,
    against: Vec<AgainstRow<'a>>,
    benchmarks: Vec<SteadiestRow<'a>>,
}

#[derive(Serialize)]
struct ScoreRow<'a> {
    name: &'a str,
    rsd: f64,
    steadiest_of: usize,
}

#[derive(Serialize)]
struct AgainstRow<'a> {
    name: &'a str,
    ratio: f64,
    steadier_for: usize,
    p_value: Option<f64>,
    clear: bool,
}

#[derive(Serialize)]
struct SteadiestRow<'a> {
    name: &'a str,
    environment: &'a str,
    rsd: f64,
    next: &'a str,
    next_rsd: f64,
    clear: Option<bool>,
}

impl<'a> EnvironmentRow<'a> {
    fn of(studied: &'a Studied) -> EnvironmentRow<'a> {
        let (collected, cleaned) = studied.counts();
        let all = Test::ALL.into_iter().flat_map(|test| INSTANCES_COMPARED.map(|instances| (test, instances)));
        EnvironmentRow {
            name: &studied.environment,
            collected,
            cleaned,
            false_alarms: all
                .filter_map(|(test, instances)| studied.alarms(test, instances))
                .map(|alarms| AlarmsRow::of(&alarms))
                .collect(),
            benchmarks: studied.benchmarks.iter().map(BenchmarkRow::of).collect(),
        }
    }
}

impl<'a> BenchmarkRow<'a> {
    fn of(benchmark: &'a StudiedBenchmark) -> BenchmarkRow<'a> {
        let Spread { rsd, log_rsd_error, per_instance, per_trial, .. } = benchmark.spread;
        BenchmarkRow {
            name: &benchmark.benchmark,
            instances: benchmark.instances,
            trials: benchmark.trials,
            collected: benchmark.collected,
            removed: benchmark.removed,
            rsd,
            log_rsd_error,
            per_instance: per_instance.map(TypicalRow::of),
            per_trial: per_trial.map(TypicalRow::of),
            sources: sources(&benchmark.spread),
            false_alarms: benchmark.alarms.iter().map(AlarmsRow::of).collect(),
            detectable: benchmark.detectable.iter().map(DetectableRow::of).collect(),
        }
    }
}

fn sources(spread: &Spread) -> Option<Vec<SourceRow>> {
    let sources = spread.sources.as_ref()?.iter().map(|source| SourceRow {
        source: source_word(source.level),
        repetitions: source.repetitions,
        log_variance: source.variance,
        log_sd: source.standard_deviation(),
        share: spread.share(source),
    });
    Some(sources.collect())
}

impl TypicalRow {
    fn of(typical: Typical) -> TypicalRow {
        let Typical { mean, standard_deviation, count } = typical;
        TypicalRow { mean, standard_deviation, count }
    }
}

impl AlarmsRow {
    fn of(alarms: &Alarms) -> AlarmsRow {
        AlarmsRow {
            test: alarms.test.word(),
            instances: alarms.instances,
            alarms: alarms.alarms,
            draws: alarms.of,
            rate: alarms.rate(),
        }
    }
}

impl DetectableRow {
    fn of(found: &Detectable) -> DetectableRow {
        let rates = found.rates.iter().map(|rates| RatesRow {
            regression: rates.regression,
            false_positives: rates.false_positives,
            true_positives: rates.true_positives,
        });
        DetectableRow {
            sampling: found.sampling.word(),
            instances: found.instances,
            printed: found.printed(),
            corrected: found.corrected(),
            standard_error: found.standard_error,
            closed_form: found.closed_form(),
            by_sources: found.by_sources,
            rates: rates.collect(),
        }
    }
}

impl<'a> Compared<'a> {
    fn of(comparison: &'a Comparison) -> Compared<'a> {
        let score =
            |score: &'a Score| ScoreRow { name: &score.environment, rsd: score.rsd, steadiest_of: score.steadiest_of };
        let against = |other: &'a Against| AgainstRow {
            name: &other.environment,
            ratio: other.ratio,
            steadier_for: other.steadier_for,
            p_value: other.p_value,
            clear: other.is_clear(),
        };
        let steadiest = |one: &'a Steadiest| SteadiestRow {
            name: &one.benchmark,
            environment: &one.environment,
            rsd: one.rsd,
            next: &one.next,
            next_rsd: one.next_rsd,
            clear: one.clear,
        };
        Compared {
            common: comparison.common,
            environments: comparison.scores.iter().map(score).collect(),
            against: comparison.against.iter().map(against).collect(),
            benchmarks: comparison.benchmarks.iter().map(steadiest).collect(),
        }
    }
}
