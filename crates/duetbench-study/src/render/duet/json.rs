//! The JSON form, written key by key. Keys are always there: what is not known is `null`.

use duetbench_cli::render::document;
use serde_json::{Value, json};

use super::{DuetStudy, StudiedRun};
use crate::papers::duet::{Kind, Quantiles, Widths};

/// Version of the format; goes up when a reader of the previous one could misread the next.
const SCHEMA_VERSION: u32 = 1;

/// The study as JSON.
pub(super) fn json(study: &DuetStudy) -> String {
    let procedure = &study.procedure;
    document::json(&json!({
        "schema_version": SCHEMA_VERSION,
        "duet_version": study.duet_version,
        "study": "duet",
        "confidence": procedure.confidence,
        // `null` is all.
        "forks_drawn": procedure.forks,
        "winsorised_beyond": procedure.winsorise,
        "seed": procedure.seed,
        "runs": study.runs.iter().map(run).collect::<Vec<_>>(),
        "warnings": study.warnings,
    }))
}

/// A run with everything that its benchmarks say.
pub(super) fn run(studied: &StudiedRun) -> Value {
    let StudiedRun { widths, versions: [baseline, candidate], same, .. } = studied;
    json!({
        "run": widths.run,
        "baseline": baseline,
        "candidate": candidate,
        "same_version": same,
        // Geometric means over benchmarks, by how many times wider than paired intervals others are.
        "times_wider": {
            "shuffled": widths.improvement(Kind::Shuffled),
            "standard": widths.improvement(Kind::Standard),
            "own": widths.improvement(Kind::Own),
        },
        "distribution": distributions(studied),
        "levels": levels(studied),
        "benchmarks": widths.measured.iter().map(benchmark).collect::<Vec<_>>(),
        "left_out": left_out(studied),
    })
}

/// Benchmarks that say nothing, each with the reason.
pub(super) fn left_out(studied: &StudiedRun) -> Vec<Value> {
    studied.widths.left_out.iter().map(|out| json!({ "name": out.benchmark, "reason": out.reason })).collect()
}

/// Quantiles of the widths of every kind of interval.
pub(super) fn distributions(studied: &StudiedRun) -> Vec<Value> {
    let of = |kind| Some(distribution(kind, studied.widths.quantiles(kind)?));
    Kind::ALL.into_iter().filter_map(of).collect()
}

fn distribution(kind: Kind, quantiles: Quantiles) -> Value {
    let shares = Quantiles::SHARES.into_iter().zip(quantiles.at);
    json!({
        "interval": kind.word(),
        "benchmarks": quantiles.count,
        "quantiles": shares.map(|(share, width)| json!({ "share": share, "width": width })).collect::<Vec<_>>(),
    })
}

/// Rates and counts of intervals that miss the truth.
fn levels(StudiedRun { widths, resampled, .. }: &StudiedRun) -> Value {
    let (own_called_changed, own_intervals) = widths.own_called_changed();
    json!({
        "paired": widths.level(),
        "called_changed": widths.called_changed(),
        "own_called_changed": own_called_changed,
        "own_intervals": own_intervals,
        "resamples": resampled.map(|resampled| resampled.resamples),
        "paired_resampled": resampled.map(|resampled| resampled.paired),
        "own_resampled": resampled.map(|resampled| resampled.own),
    })
}

/// A benchmark with the widths of its intervals.
pub(super) fn benchmark(one: &Widths) -> Value {
    json!({
        "name": one.benchmark,
        "mode": one.mode.word(),
        "forks_measured": one.forks_measured,
        "forks_short": one.forks_short,
        "forks": one.forks,
        "iterations": one.iterations,
        "ratio": one.paired.ratio,
        "interval": [one.paired.interval.low, one.paired.interval.high],
        "own_interval": one.own.map(|own| [own.low, own.high]),
        "widths": {
            "paired": one.width(Kind::Paired),
            "shuffled": one.width(Kind::Shuffled),
            "standard": one.width(Kind::Standard),
            "own": one.width(Kind::Own),
            "shuffled_by_paired": one.times_wider(Kind::Shuffled),
            "standard_by_paired": one.times_wider(Kind::Standard),
        },
        "level": one.level,
    })
}
