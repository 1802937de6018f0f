//! The CSV files of the µOpTime study: one row for every value, its place in columns `…_pos`, the full configuration in columns
//! `…_setup`, of instances (`ir`), suite runs (`sr`), forks (`fork`), iterations (`it`) and seconds (`bed`).

use duetbench_core::Recording;
use duetbench_core::foreign;
use duetbench_core::recording::{Cost, Level};

use crate::error::{FormatError, Wrong};
use crate::reading::cells::{self, Cell, Outline, cells_of};
use crate::reading::names::Names;
use crate::reading::rows::{Column, Row, Rows, has_columns, missing};
use crate::reading::{Contents, LeftOut, unit};
use crate::tool::{Reader, Sign, Tool, Writer};
use crate::writing::fit::{Fitted, Frame, Units, fit, invocations};
use crate::writing::{About, Written};

/// Its entry in the table.
pub(super) static TOOL: Tool = Tool {
    name: "papers",
    about: "CSV of the µOpTime study",
    reader: Some(Reader::of(
        "CSV of the µOpTime study",
        Sign::Text(|bytes| has_columns(bytes, SEPARATOR, &[VALUE, NAME])),
        parse,
    )),
    writer: Some(Writer::of(write)),
};

/// Separator of cells.
const SEPARATOR: u8 = b',';
/// The column with the values.
const VALUE: &str = "ns_per_op";
/// The column with the names.
const NAME: &str = "b_name";
/// Levels with their columns, outermost first.
const LEVELS: [(Level, &str, &str); 5] = [
    (Level::Instance, "ir_setup", "ir_pos"),
    (Level::SuiteRun, "sr_setup", "sr_pos"),
    (Level::Fork, "fork_setup", "fork_pos"),
    (Level::Iteration, "it_setup", "it_pos"),
    (Level::Second, "bed_setup", "bed_pos"),
];
/// In all of these files the innermost repetition takes a second.
const INNERMOST_S: f64 = 1.0;

/// A level's two columns.
struct LevelColumns {
    level: Level,
    setup: Column,
    position: Column,
}

/// Reads such a file.
fn parse(bytes: &[u8]) -> Result<Contents, Wrong> {
    let mut rows = Rows::of(bytes, SEPARATOR)?;
    let (value, name) = (rows.required(VALUE)?, rows.required(NAME)?);
    let levels = levels(&rows)?;
    let mut names = Names::default();
    let mut shapes: Vec<Vec<usize>> = Vec::new();
    let mut values: Vec<Cell> = Vec::new();
    let mut left_out = LeftOut::default();
    while let Some(row) = rows.advance()? {
        let benchmark = names.number(row.bytes(name));
        if names.len() > shapes.len() {
            shapes.push(shape(row, &levels)?);
        }
        let at = place(row, &levels, &shapes[benchmark as usize])?;
        if let Some(number) = left_out.checked(row.number(value)?, row.line()) {
            values.push((benchmark, at, number));
        }
    }
    let outlines = names.list().into_iter().zip(shapes).map(|(benchmark, shape)| Outline {
        benchmark,
        unit: unit::of("ns/op"),
        cost: Cost { innermost_s: INNERMOST_S, overhead_s: vec![0.0; shape.len()] },
        harness_warm_up: None,
        terms: Vec::new(),
        shape,
    });
    let words: Vec<Level> = levels.iter().map(|columns| columns.level).collect();
    let mut recording = cells::recording(&words, outlines.collect(), &values)?;
    recording.warnings.extend(left_out.warning());
    Ok(Contents::from(recording))
}

/// The levels that the file has.
fn levels(rows: &Rows<'_>) -> Result<Vec<LevelColumns>, Wrong> {
    let mut found = Vec::new();
    for (level, setup, position) in LEVELS {
        match (rows.column(setup), rows.column(position)) {
            (Some(setup), Some(position)) => found.push(LevelColumns { level, setup, position }),
            (None, None) => {}
            (None, Some(_)) => return Err(missing(setup)),
            (Some(_), None) => return Err(missing(position)),
        }
    }
    if found.is_empty() { Err(missing("it_pos")) } else { Ok(found) }
}

/// The full configuration as a benchmark's first row has it.
fn shape(row: Row<'_>, levels: &[LevelColumns]) -> Result<Vec<usize>, Wrong> {
    let mut shape = Vec::with_capacity(levels.len());
    for columns in levels {
        let repetitions = usize::try_from(row.whole(columns.setup)?).unwrap_or(usize::MAX);
        shape.push(repetitions);
        if repetitions == 0 || cells_of(&shape).is_none() {
            return Err(row.wrong(columns.setup, "a number of repetitions"));
        }
    }
    Ok(shape)
}

/// The number of a row's cell in row-major order.
fn place(row: Row<'_>, levels: &[LevelColumns], shape: &[usize]) -> Result<u32, Wrong> {
    let mut index = 0_u64;
    for (columns, repetitions) in levels.iter().zip(shape) {
        let repetitions = *repetitions as u64;
        if row.whole(columns.setup)? != repetitions {
            return Err(row.wrong(columns.setup, &format!("{repetitions} as in the benchmark's first row")));
        }
        let position = row.whole(columns.position)?;
        if position == 0 || position > repetitions {
            return Err(row.wrong(columns.position, &format!("a position from 1 to {repetitions}")));
        }
        index = index * repetitions + (position - 1);
    }
    Ok(u32::try_from(index).unwrap_or(u32::MAX))
}

const FRAME: Frame = Frame { title: "CSV of the µOpTime study", levels: &Level::ALL, units: Units::Times, gaps: true };

/// The recording as such a file: the columns of the levels that it has.
fn write(recording: &Recording, _: &About) -> Result<Written, FormatError> {
    let (fitted, lost) = fit(recording, &FRAME)?;
    let levels: Vec<Level> = Level::ALL.into_iter().filter(|level| recording.levels.contains(level)).collect();
    let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
    let mut write = |row: Vec<String>| {
        writer.write_record(row.iter().map(|text| foreign::cell(text))).map_err(|e| FormatError::nothing(e.to_string()))
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
    let bytes = writer.into_inner().map_err(|e| FormatError::nothing(e.to_string()))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_may_stand_in_any_order() {
        let text = "b_name,it_pos,fork_pos,ns_per_op,fork_setup,it_setup,extra\n\
                    \"a,b\",2,1,12.5,2,2,x\n\"a,b\",1,2,21,2,2,x\n\"a,b\",2,2,22,2,2,x\n\"a,b\",1,1,11,2,2,x\n";
        let recording = parse(text.as_bytes()).unwrap().recording;
        assert_eq!(recording.levels, [Level::Fork, Level::Iteration]);
        assert_eq!(recording.benchmarks[0].benchmark, "a,b");
        assert_eq!(recording.benchmarks[0].grid.cells(), [11.0, 12.5, 21.0, 22.0]);
        assert_eq!(recording.warnings, Vec::<String>::new());
    }
}
