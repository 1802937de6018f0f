//! The JSON form, in types of its own. Keys are always there: what is not known is `null`.

use duetbench_cli::render::document;
use serde::Serialize;

use super::{DuetStudy, StudiedRun};
use crate::papers::duet::{Kind, Quantiles, Widths};

/// Version of the format; goes up when a reader of the previous one could misread the next.
const SCHEMA_VERSION: u32 = 1;

/// The study as JSON.
pub(super) fn json(study: &DuetStudy) -> String {
    let procedure = &study.procedure;
    document::json(&Document {
        schema_version: SCHEMA_VERSION,
        duet_version: &study.duet_version,
        study: "duet",
        confidence: procedure.confidence,
        forks_drawn: procedure.forks,
        winsorised_beyond: procedure.winsorise,
        seed: procedure.seed,
        runs: study.runs.iter().map(Run::of).collect(),
        warnings: &study.warnings,
    })
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    duet_version: &'a str,
    study: &'static str,
    confidence: f64,
    /// `null` is all.
    forks_drawn: Option<usize>,
    winsorised_beyond: Option<f64>,
    seed: u64,
    runs: Vec<Run<'a>>,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct Run<'a> {
    run: &'a str,
    baseline: &'a str,
    candidate: &'a str,
    same_version: bool,
    times_wider: TimesWider,
    distribution: Vec<Distribution>,
    levels: Levels,
    benchmarks: Vec<Row<'a>>,
    left_out: Vec<Out<'a>>,
}

/// Geometric means over benchmarks, by how many times wider than paired intervals others are.
#[derive(Serialize)]
struct TimesWider {
    shuffled: Option<Factor>,
    standard: Option<Factor>,
    own: Option<Factor>,
}

#[derive(Serialize)]
struct Factor {
    benchmarks: usize,
    factor: f64,
}

#[derive(Serialize)]
struct Distribution {
    interval: &'static str,
    benchmarks: usize,
    quantiles: Vec<Quantile>,
}

#[derive(Serialize)]
struct Quantile {
    share: f64,
    width: f64,
}

/// Rates and counts of intervals that miss the truth.
#[derive(Serialize)]
struct Levels {
    paired: Option<f64>,
    called_changed: usize,
    own_called_changed: usize,
    own_intervals: usize,
    resamples: Option<usize>,
    paired_resampled: Option<f64>,
    own_resampled: Option<f64>,
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    mode: &'static str,
    forks_measured: usize,
    forks_short: usize,
    forks: usize,
    iterations: usize,
    ratio: f64,
    interval: [f64; 2],
    own_interval: Option<[f64; 2]>,
    widths: Kinds,
    level: f64,
}

#[derive(Serialize)]
struct Kinds {
    paired: Option<f64>,
    shuffled: Option<f64>,
    standard: Option<f64>,
    own: Option<f64>,
    shuffled_by_paired: Option<f64>,
    standard_by_paired: Option<f64>,
}

#[derive(Serialize)]
struct Out<'a> {
    name: &'a str,
    reason: &'a str,
}

impl<'a> Run<'a> {
    fn of(studied: &'a StudiedRun) -> Run<'a> {
        let StudiedRun { widths, versions: [baseline, candidate], same, .. } = studied;
        let factor = |kind| {
            widths
                .improvement(kind)
                .map(|improvement| Factor { benchmarks: improvement.benchmarks, factor: improvement.factor })
        };
        Run {
            run: &widths.run,
            baseline,
            candidate,
            same_version: *same,
            times_wider: TimesWider {
                shuffled: factor(Kind::Shuffled),
                standard: factor(Kind::Standard),
                own: factor(Kind::Own),
            },
            distribution: Kind::ALL
                .into_iter()
                .filter_map(|kind| Some(Distribution::of(kind, widths.quantiles(kind)?)))
                .collect(),
            levels: Levels::of(studied),
            benchmarks: widths.measured.iter().map(Row::of).collect(),
            left_out: widths.left_out.iter().map(|out| Out { name: &out.benchmark, reason: &out.reason }).collect(),
        }
    }
}

impl Distribution {
    fn of(kind: Kind, quantiles: Quantiles) -> Distribution {
        let quantile = |(share, width)| Quantile { share, width };
        Distribution {
            interval: kind.word(),
            benchmarks: quantiles.count,
            quantiles: Quantiles::SHARES.into_iter().zip(quantiles.at).map(quantile).collect(),
        }
    }
}

impl Levels {
    fn of(studied: &StudiedRun) -> Levels {
        let StudiedRun { widths, resampled, .. } = studied;
        let (own_called_changed, own_intervals) = widths.own_called_changed();
        Levels {
            paired: widths.level(),
            called_changed: widths.called_changed(),
            own_called_changed,
            own_intervals,
            resamples: resampled.map(|resampled| resampled.resamples),
            paired_resampled: resampled.map(|resampled| resampled.paired),
            own_resampled: resampled.map(|resampled| resampled.own),
        }
    }
}

impl<'a> Row<'a> {
    fn of(one: &'a Widths) -> Row<'a> {
        Row {
            name: &one.benchmark,
            mode: one.mode.word(),
            forks_measured: one.forks_measured,
            forks_short: one.forks_short,
            forks: one.forks,
            iterations: one.iterations,
            ratio: one.paired.ratio,
            interval: [one.paired.interval.low, one.paired.interval.high],
            own_interval: one.own.map(|own| [own.low, own.high]),
            widths: Kinds {
                paired: one.width(Kind::Paired),
                shuffled: one.width(Kind::Shuffled),
                standard: one.width(Kind::Standard),
                own: one.width(Kind::Own),
                shuffled_by_paired: one.times_wider(Kind::Shuffled),
                standard_by_paired: one.times_wider(Kind::Standard),
            },
            level: one.level,
        }
    }
}
