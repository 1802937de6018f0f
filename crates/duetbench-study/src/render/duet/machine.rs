//! The tables for programs: CSV, numbers at full precision, fractions.

use duetbench_cli::render::document::Table;

use super::{DuetStudy, Samples, StudiedRun};
use crate::papers::duet::{Kind, Quantiles, Widths};

/// A row for every benchmark of every run.
pub(super) fn rows(study: &DuetStudy) -> Table {
    let mut table = Table::plain(&[
        "run",
        "name",
        "mode",
        "forks_measured",
        "forks",
        "iterations",
        "ratio",
        "ratio_low",
        "ratio_high",
        "paired",
        "shuffled",
        "standard",
        "own",
        "shuffled_by_paired",
        "standard_by_paired",
        "level",
        "left_out",
    ]);
    for StudiedRun { widths, .. } in &study.runs {
        for one in &widths.measured {
            table.push([vec![widths.run.clone()], row(one)].concat());
        }
        for out in &widths.left_out {
            let mut row = vec![widths.run.clone(), out.benchmark.clone()];
            row.resize(16, String::new());
            row.push(out.reason.clone());
            table.push(row);
        }
    }
    table
}

/// All tables, each with the name of its file.
#[must_use]
pub fn tables(study: &DuetStudy, samples: &[Samples]) -> Vec<(String, String)> {
    let mut tables = vec![
        ("widths.csv".to_owned(), rows(study).csv()),
        ("improvement.csv".to_owned(), improvement(study).csv()),
        ("distribution.csv".to_owned(), distribution(study).csv()),
    ];
    tables.extend(samples.iter().map(|samples| (format!("samples-{}.csv", samples.run), iterations(samples).csv())));
    tables
}

/// A number that there may not be.
fn known(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn row(one: &Widths) -> Vec<String> {
    let mut row = vec![one.benchmark.clone(), one.mode.word().to_owned()];
    row.extend([one.forks_measured, one.forks, one.iterations].map(|n| n.to_string()));
    let interval = one.paired.interval;
    row.extend([one.paired.ratio, interval.low, interval.high].map(|v| v.to_string()));
    row.extend(Kind::ALL.map(|kind| known(one.width(kind))));
    row.extend([Kind::Shuffled, Kind::Standard].map(|kind| known(one.times_wider(kind))));
    row.push(one.level.to_string());
    row
}

/// The paper's Table 1, a row for every run.
fn improvement(study: &DuetStudy) -> Table {
    let mut table = Table::plain(&[
        "run",
        "same_version",
        "benchmarks",
        "shuffled_by_paired",
        "standard_by_paired",
        "own_by_paired",
        "level",
        "called_changed",
        "own_called_changed",
        "resamples",
        "level_resampled",
        "own_level_resampled",
    ]);
    for StudiedRun { widths, same, resampled, .. } in &study.runs {
        let mut row = vec![widths.run.clone(), same.to_string(), widths.measured.len().to_string()];
        let factor = |kind| known(widths.improvement(kind).map(|improvement| improvement.factor));
        row.extend([Kind::Shuffled, Kind::Standard, Kind::Own].map(factor));
        row.push(known(widths.level()));
        row.extend([widths.called_changed(), widths.own_called_changed().0].map(|n| n.to_string()));
        row.push(resampled.map_or_else(String::new, |resampled| resampled.resamples.to_string()));
        row.extend([resampled.map(|r| r.paired), resampled.map(|r| r.own)].map(known));
        table.push(row);
    }
    table
}

/// The data of figures 2, 4 and 5, a row for every run and kind of interval.
fn distribution(study: &DuetStudy) -> Table {
    let shares = Quantiles::SHARES.map(|share| format!("q{:02.0}", 100.0 * share));
    let headings: Vec<&str> =
        ["run", "interval", "benchmarks"].into_iter().chain(shares.iter().map(String::as_str)).collect();
    let mut table = Table::plain(&headings);
    for StudiedRun { widths, .. } in &study.runs {
        for kind in Kind::ALL {
            let Some(quantiles) = widths.quantiles(kind) else { continue };
            let mut row = vec![widths.run.clone(), kind.word().to_owned(), quantiles.count.to_string()];
            row.extend(quantiles.at.map(|width| width.to_string()));
            table.push(row);
        }
    }
    table
}

/// The data of figure 3, a row for every pair.
fn iterations(samples: &Samples) -> Table {
    let mut table = Table::plain(&["run", "name", "fork", "iteration", "baseline_ns", "candidate_ns"]);
    for (fork, pairs) in samples.forks.iter().enumerate() {
        for (iteration, [baseline, candidate]) in pairs.times.iter().enumerate() {
            let mut row = vec![samples.run.clone(), samples.benchmark.clone()];
            row.extend([fork, iteration].map(|n| n.to_string()));
            row.extend([baseline, candidate].map(|ns| ns.to_string()));
            table.push(row);
        }
    }
    table
}
