//! The tables for programs: CSV, numbers at full precision, fractions.

use duetbench_cli::render::document::Table;

use super::{Studied, StudiedFile};
use crate::papers::uoptime::Savings;

/// The tables that were asked for, each with the name of its file.
pub fn tables(studied: &Studied) -> Vec<(&'static str, String)> {
    let all = [
        ("rq1.csv", savings(studied, |file| &file.savings)),
        ("rq2.csv", contrasts(studied)),
        ("rq3.csv", savings(studied, |file| &file.warm)),
        ("rq4.csv", pairs(studied)),
    ];
    all.into_iter().filter(|(_, table)| !table.is_empty()).map(|(name, table)| (name, table.csv())).collect()
}

fn savings(studied: &Studied, of: fn(&StudiedFile) -> &Vec<Savings>) -> Table {
    let mut table = Table::plain(&[
        "project", "version", "file", "newest", "method", "metric", "warm_up_iterations", "benchmarks", "full_s",
        "reduced_s", "saved", "warm_up_full_s", "warm_up_reduced_s", "overall_saved", "within_1pct", "within_3pct",
        "within_5pct", "within_10pct", "not_reduced",
    ]);
    for file in &studied.files {
        for s in of(file) {
            let mut row = vec![
                file.name.project.clone(),
                file.name.version.clone().unwrap_or_default(),
                file.stem.clone(),
                file.newest.to_string(),
                s.method.word().to_owned(),
                s.metric.word().to_owned(),
            ];
            row.extend([s.warm_up, s.benchmarks].map(|n| n.to_string()));
            let numbers = [s.full_s, s.reduced_s, s.saved(), s.warm_up_full_s, s.warm_up_reduced_s, s.overall_saved()];
            row.extend(numbers.map(|v| v.to_string()));
            row.extend(s.within.map(|n| n.to_string()));
            row.push(s.not_reduced.to_string());
            table.push(row);
        }
    }
    table
}

fn contrasts(studied: &Studied) -> Table {
    let mut table = Table::plain(&[
        "project", "version", "file", "changes", "kruskal_h", "kruskal_p", "first", "second", "dunn_p",
        "dunn_p_bonferroni", "cliffs_delta", "size",
    ]);
    for file in &studied.files {
        for contrast in &file.contrasts {
            for pair in &contrast.pairs {
                table.push(vec![
                    file.name.project.clone(),
                    file.name.version.clone().unwrap_or_default(),
                    file.stem.clone(),
                    (if contrast.absolute { "absolute" } else { "signed" }).to_owned(),
                    contrast.statistic.to_string(),
                    contrast.p_value.to_string(),
                    pair.first.word().to_owned(),
                    pair.second.word().to_owned(),
                    pair.p_value.to_string(),
                    pair.p_adjusted.to_string(),
                    pair.delta.to_string(),
                    pair.size.word().to_owned(),
                ]);
            }
        }
    }
    table
}

fn pairs(studied: &Studied) -> Table {
    let mut table = Table::plain(&["project", "method", "v1", "v2", "n", "full", "min", "fp", "fn"]);
    for project in &studied.projects {
        for pair in &project.pairs {
            let f = &pair.fidelity;
            let mut row =
                vec![project.project.clone(), pair.method.word().to_owned(), pair.v1.clone(), pair.v2.clone()];
            let counts = [f.compared, f.full, f.reduced, f.false_changes.len(), f.missed.len()];
            row.extend(counts.map(|n| n.to_string()));
            table.push(row);
        }
    }
    table
}
