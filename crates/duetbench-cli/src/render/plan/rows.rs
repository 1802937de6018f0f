//! A plan for spreadsheets: a row per benchmark.

use duetbench_core::calibrate::{Proposal, Proposed};

use super::Planned;
use crate::render::document::Table;

const HEADINGS: [&str; 13] = [
    "package",
    "name",
    "sees",
    "builds",
    "forks_per_build",
    "slices",
    "takes_s",
    "minimal_detectable_change",
    "needed_builds",
    "needed_forks_per_build",
    "needed_slices",
    "needed_takes_s",
    "needed_minimal_detectable_change",
];

/// The rows.
pub(super) fn of(planned: &Planned) -> Table {
    let mut table = Table::plain(&HEADINGS);
    planned.suite.benchmarks.iter().for_each(|proposed| table.push(row(proposed)));
    table
}

fn row(proposed: &Proposed) -> Vec<String> {
    let mut row = vec![proposed.id.package.clone(), proposed.id.name.clone(), proposed.sees().to_string()];
    row.extend(cells(proposed.design()));
    row.extend(cells(needed(proposed)));
    row
}

/// The design that a benchmark would need to see the change, where the planned one is not enough.
pub(super) fn needed(proposed: &Proposed) -> Option<Proposal> {
    proposed.answer?.err()?.needed
}

fn cells(design: Option<Proposal>) -> [String; 5] {
    design.map_or_else(Default::default, |p| {
        [
            p.builds.to_string(),
            p.forks_per_build.to_string(),
            p.slices.to_string(),
            p.takes_s.to_string(),
            p.minimal_detectable_change.to_string(),
        ]
    })
}
