//! The tables for programs: CSV, numbers at full precision, fractions.

use duetbench_cli::render::document::Table;
use serde_json::Value;

use super::{DuetStudy, Samples, StudiedRun, json};
use crate::papers::duet::Quantiles;

/// A row for every benchmark of every run.
pub(super) fn rows(study: &DuetStudy) -> Table {
    let columns = "run name mode forks_measured forks iterations ratio ratio_low=interval/0 ratio_high=interval/1 \
        paired=widths/paired shuffled=widths/shuffled standard=widths/standard own=widths/own \
        shuffled_by_paired=widths/shuffled_by_paired standard_by_paired=widths/standard_by_paired level left_out=reason";
    let benchmarks = |run: &StudiedRun| {
        let (measured, left_out) = (run.widths.measured.iter().map(json::benchmark), json::left_out(run));
        measured.chain(left_out).collect()
    };
    of_runs(study, columns, benchmarks)
}

/// A table of what runs have, with the run in front of every row.
fn of_runs(study: &DuetStudy, columns: &str, of: impl Fn(&StudiedRun) -> Vec<Value>) -> Table {
    let named = |run: &StudiedRun| {
        let name = Value::from(run.widths.run.as_str());
        of(run).into_iter().map(move |mut object| {
            object["run"] = name.clone();
            object
        })
    };
    Table::of_objects(columns, study.runs.iter().flat_map(named))
}

/// All tables, each with the name of its file.
pub fn tables(study: &DuetStudy, samples: &[Samples]) -> Vec<(String, String)> {
    let mut tables = vec![
        ("widths.csv".to_owned(), rows(study).csv()),
        ("improvement.csv".to_owned(), improvement(study).csv()),
        ("distribution.csv".to_owned(), distribution(study).csv()),
    ];
    tables.extend(samples.iter().map(|samples| (format!("samples-{}.csv", samples.run), iterations(samples).csv())));
    tables
}

/// The paper's Table 1, a row for every run.
fn improvement(study: &DuetStudy) -> Table {
    let columns = "run same_version benchmarks=measured shuffled_by_paired=times_wider/shuffled/factor \
        standard_by_paired=times_wider/standard/factor own_by_paired=times_wider/own/factor level=levels/paired \
        called_changed=levels/called_changed own_called_changed=levels/own_called_changed resamples=levels/resamples \
        level_resampled=levels/paired_resampled own_level_resampled=levels/own_resampled";
    of_runs(study, columns, |run| {
        let mut object = json::run(run);
        object["measured"] = run.widths.measured.len().into();
        vec![object]
    })
}

/// The data of figures 2, 4 and 5, a row for every run and kind of interval.
fn distribution(study: &DuetStudy) -> Table {
    let share = |(at, share): (usize, f64)| format!(" q{:02.0}=quantiles/{at}/width", 100.0 * share);
    let shares: String = Quantiles::SHARES.into_iter().enumerate().map(share).collect();
    of_runs(study, &format!("run interval benchmarks{shares}"), json::distributions)
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
