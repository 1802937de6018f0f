//! The CSV of the µOpTime study: a row for every value, its place in columns `…_pos`, the full configuration in columns `…_setup`.

use duetbench_core::Recording;
use duetbench_core::foreign;
use duetbench_core::recording::Level;

use super::fit::{Fitted, Frame, Units, fit, invocations};
use super::{Written, nothing};
use crate::error::FormatError;

const FRAME: Frame = Frame { title: "CSV of the µOpTime study", levels: &Level::ALL, units: Units::Times, gaps: true };

/// The recording as such a file: the columns of the levels that it has.
pub(super) fn write(recording: &Recording) -> Result<Written, FormatError> {
    let (fitted, lost) = fit(recording, &FRAME)?;
    let levels: Vec<Level> = Level::ALL.into_iter().filter(|level| recording.levels.contains(level)).collect();
    let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
    let mut write = |row: Vec<String>| {
        writer.write_record(row.iter().map(|text| foreign::cell(text))).map_err(|e| nothing(&e.to_string()))
    };
    write(headings(&levels))?;
    let mut number = 0_usize;
    for benchmark in &fitted {
        for (index, value) in benchmark.cells.iter().enumerate().filter(|(_, value)| value.is_finite()) {
            number += 1;
            let n = invocations(benchmark.recorded, *value).to_string();
            let mut row = vec![number.to_string(), n, value.to_string()];
            row.extend(places(benchmark, index, &levels));
            row.push(benchmark.name().to_owned());
            write(row)?;
        }
    }
    let bytes = writer.into_inner().map_err(|e| nothing(&e.to_string()))?;
    Ok(Written::file(bytes, lost))
}

/// Innermost level first, as the study has it.
fn headings(levels: &[Level]) -> Vec<String> {
    let of = |kind: &str| levels.iter().rev().map(|level| format!("{}_{kind}", word(*level))).collect::<Vec<_>>();
    let fixed = ["m_id", "n", "ns_per_op"].map(str::to_owned);
    fixed.into_iter().chain(of("setup")).chain(of("pos")).chain(["b_name".to_owned()]).collect()
}

/// The full configuration, and the place of a cell in it.
fn places(benchmark: &Fitted<'_>, index: usize, levels: &[Level]) -> Vec<String> {
    let (mut setup, mut positions) = (Vec::new(), Vec::new());
    let mut rest = index;
    for (level, size) in Level::ALL.iter().zip(&benchmark.shape).rev() {
        let at = rest % size;
        rest /= size;
        if levels.contains(level) {
            setup.push(size.to_string());
            positions.push((at + 1).to_string());
        }
    }
    setup.into_iter().chain(positions).collect()
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Instance => "ir",
        Level::SuiteRun => "sr",
        Level::Fork => "fork",
        Level::Iteration => "it",
        Level::Second => "bed",
    }
}
