//! The CSV files of `pa` (<https://github.com/chrstphlbr/pa>) and of `bencher`, which writes them: one row for every value of the
//! histogram of an iteration, its place in columns, sorted by benchmark.
//!
//! Numbers of trials, forks and iterations need not begin at 1 nor be without gaps, so places are given by their order within a
//! benchmark. The value of an iteration is the mean over its histogram, as it is in `pa` unless it is told otherwise.

use std::collections::HashMap;

use duetbench_core::Recording;
use duetbench_core::foreign;
use duetbench_core::recording::{Better, Cost, Level, Recorded};

use crate::error::{FormatError, Wrong};
use crate::reading::cells::{self, Cell, Outline, cells_of};
use crate::reading::names::Names;
use crate::reading::rows::{Column, Row, Rows, has_columns};
use crate::reading::{Contents, LeftOut, unit};
use crate::tool::{Reader, Sign, Tool, Writer};
use crate::writing::fit::{Frame, Units, fit};
use crate::writing::{About, Written};

/// Its entry in the table.
pub(super) static TOOL: Tool = Tool {
    name: "pa",
    about: "CSV of `pa`",
    reader: Some(Reader::of("CSV of `pa`", Sign::Text(|bytes| has_columns(bytes, SEPARATOR, &[NAME, COUNT])), parse)),
    writer: Some(Writer::of(write)),
};

/// Separator of cells.
const SEPARATOR: u8 = b';';
/// The column with the names.
const NAME: &str = "benchmark";
/// The column with JMH's mode, and the term that it is.
const MODE: &str = "mode";
/// The column with the number of times that a value was seen.
const COUNT: &str = "value_count";

const LEVELS: [Level; 4] = [Level::Instance, Level::SuiteRun, Level::Fork, Level::Iteration];
/// Nobody says how long iterations took, so that times are numbers of iterations.
const INNERMOST_S: f64 = 1.0;

/// The columns that are read.
struct Columns {
    benchmark: Column,
    params: Column,
    commit: Option<Column>,
    instance: Column,
    trial: Column,
    fork: Column,
    iteration: Column,
    mode: Option<Column>,
    unit: Column,
    count: Column,
    value: Column,
}

/// A value of a histogram.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    benchmark: u32,
    /// Its place, one number for each level, as the file counts them.
    place: [u64; 4],
    count: f64,
    value: f64,
}

/// Names and units as they are met.
#[derive(Default)]
struct Met {
    benchmarks: Names,
    instances: Names,
    units: Vec<Vec<u8>>,
    /// JMH's modes, empty where there is no such column.
    modes: Vec<Vec<u8>>,
    /// The name that is being put together.
    name: Vec<u8>,
    commit: Option<Vec<u8>>,
}

/// Reads such a file.
fn parse(bytes: &[u8]) -> Result<Contents, Wrong> {
    let mut rows = Rows::of(bytes, SEPARATOR)?;
    let columns = Columns::of(&rows)?;
    let mut met = Met::default();
    let mut left_out = LeftOut::default();
    let mut entries = Vec::new();
    while let Some(row) = rows.advance()? {
        let (benchmark, place) = met.place(row, &columns)?;
        let count = row.whole(columns.count)?;
        if let Some(value) = left_out.checked(row.number(columns.value)?, row.line())
            && count > 0
        {
            entries.push(Entry { benchmark, place, count: count as f64, value });
        }
    }
    entries.sort_by_key(|entry| (entry.benchmark, entry.place));
    let units: Vec<unit::Unit> = met.units.iter().map(|word| unit::of(&String::from_utf8_lossy(word))).collect();
    let mut shapes = vec![vec![0; LEVELS.len()]; units.len()];
    let mut values = Vec::new();
    for of_one in entries.chunk_by(|a, b| a.benchmark == b.benchmark) {
        let number = of_one[0].benchmark as usize;
        shapes[number] = arranged(of_one, units[number].factor, &mut values)?;
    }
    let outlines = met.benchmarks.list().into_iter().zip(units).zip(&met.modes).zip(shapes);
    let outlines = outlines.map(|(((benchmark, unit), mode), shape)| Outline {
        benchmark,
        unit,
        cost: Cost { innermost_s: INNERMOST_S, overhead_s: vec![0.0; LEVELS.len()] },
        harness_warm_up: None,
        terms: term(mode).into_iter().collect(),
        shape,
    });
    let mut recording = cells::recording(&LEVELS, outlines.collect(), &values)?;
    recording.warnings.extend(left_out.warning());
    recording
        .warnings
        .push("the file does not say how long an iteration took: times are given as if each took 1 s".into());
    Ok(Contents::from(recording))
}

/// The mode in which values were measured: those of another are no such values.
fn term(mode: &[u8]) -> Option<(&'static str, String)> {
    (!mode.is_empty()).then(|| (MODE, String::from_utf8_lossy(mode).into_owned()))
}

impl Columns {
    fn of(rows: &Rows<'_>) -> Result<Columns, Wrong> {
        Ok(Columns {
            benchmark: rows.required(NAME)?,
            params: rows.required("params")?,
            commit: rows.column("commit"),
            instance: rows.required("instance")?,
            trial: rows.required("trial")?,
            fork: rows.required("fork")?,
            iteration: rows.required("iteration")?,
            mode: rows.column(MODE),
            unit: rows.required("unit")?,
            count: rows.required(COUNT)?,
            value: rows.required("value")?,
        })
    }
}

impl Met {
    /// The number of a row's benchmark, and its place as the file has it.
    fn place(&mut self, row: Row<'_>, columns: &Columns) -> Result<(u32, [u64; 4]), Wrong> {
        self.check_commit(row, columns)?;
        self.name.clear();
        self.name.extend_from_slice(row.bytes(columns.benchmark));
        let params = row.bytes(columns.params);
        if !params.is_empty() {
            self.name.push(b':');
            self.name.extend_from_slice(params);
        }
        let benchmark = self.benchmarks.number(&self.name);
        for (firsts, column) in [(&mut self.units, Some(columns.unit)), (&mut self.modes, columns.mode)] {
            let value = column.map_or(&[][..], |column| row.bytes(column));
            if self.benchmarks.len() > firsts.len() {
                firsts.push(value.to_vec());
            }
            let first = &firsts[benchmark as usize];
            if let Some(column) = column.filter(|_| first != value) {
                let first = String::from_utf8_lossy(first);
                return Err(row.wrong(column, &format!("`{first}` as in the benchmark's first row")));
            }
        }
        let instance = u64::from(self.instances.number(row.bytes(columns.instance)));
        let place = [instance, row.whole(columns.trial)?, row.whole(columns.fork)?, row.whole(columns.iteration)?];
        Ok((benchmark, place))
    }

    /// Refuses a file that holds several versions.
    fn check_commit(&mut self, row: Row<'_>, columns: &Columns) -> Result<(), Wrong> {
        let Some(column) = columns.commit else { return Ok(()) };
        let commit = row.bytes(column);
        let first = self.commit.get_or_insert_with(|| commit.to_vec());
        if first == commit {
            return Ok(());
        }
        let first = String::from_utf8_lossy(first);
        Err(row.wrong(column, &format!("one version in the file, `{first}`")))
    }
}

/// Puts the iterations of one benchmark, which are in order, into their cells; gives its shape.
fn arranged(entries: &[Entry], factor: f64, values: &mut Vec<Cell>) -> Result<Vec<usize>, Wrong> {
    let ranks: [HashMap<u64, usize>; 4] = std::array::from_fn(|level| {
        let mut numbers: Vec<u64> = entries.iter().map(|entry| entry.place[level]).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into_iter().enumerate().map(|(rank, number)| (number, rank)).collect()
    });
    let shape: Vec<usize> = ranks.iter().map(HashMap::len).collect();
    if cells_of(&shape).is_none() {
        return Err(Wrong::in_file(
            "has more combinations of instances, trials, forks and iterations than can be kept",
        ));
    }
    for iteration in entries.chunk_by(|a, b| a.place == b.place) {
        let index = (0..LEVELS.len()).fold(0, |index, level| {
            let rank = ranks[level].get(&iteration[0].place[level]).copied().unwrap_or(0);
            index * shape[level] + rank
        });
        let count: f64 = iteration.iter().map(|entry| entry.count).sum();
        let mean = iteration.iter().map(|entry| entry.value * entry.count).sum::<f64>() / count;
        values.push((iteration[0].benchmark, u32::try_from(index).unwrap_or(u32::MAX), mean * factor));
    }
    Ok(shape)
}

const FRAME: Frame = Frame { title: "CSV of `pa`", levels: &LEVELS, units: Units::One, gaps: true };
const HEADINGS: [&str; 12] = [
    "project", "commit", "benchmark", "params", "instance", "trial", "fork", "iteration", "mode", "unit",
    "value_count", "value",
];

/// The recording as such a file.
fn write(recording: &Recording, about: &About) -> Result<Written, FormatError> {
    let (mut fitted, lost) = fit(recording, &FRAME)?;
    // `pa` reads one benchmark after the other and wants them in this order.
    fitted.sort_by(|a, b| parameters(a.name()).cmp(&parameters(b.name())));
    let mut writer = csv::WriterBuilder::new().delimiter(SEPARATOR).from_writer(Vec::new());
    let commit = if about.version.is_empty() { "unknown" } else { &about.version };
    let mut write = |row: &[&str]| {
        writer.write_record(row.iter().map(|text| foreign::cell(text))).map_err(|e| FormatError::nothing(e.to_string()))
    };
    write(&HEADINGS)?;
    for benchmark in &fitted {
        let (name, params) = parameters(benchmark.name());
        let mode = mode(benchmark.recorded);
        for (index, value) in benchmark.cells.iter().enumerate().filter(|(_, value)| value.is_finite()) {
            let [instance, trial, fork, iteration] = place(index, &benchmark.shape).map(|at| at.to_string());
            let (instance, value) = (format!("i{instance}"), value.to_string());
            let of_run = [&recording.name, commit, name, params];
            let at = [instance.as_str(), &trial, &fork, &iteration];
            write(&[of_run, at, [mode, &benchmark.recorded.unit, "1", &value]].concat())?;
        }
    }
    let bytes = writer.into_inner().map_err(|e| FormatError::nothing(e.to_string()))?;
    Ok(Written::file(bytes, lost))
}

/// JMH's mode of a benchmark; by its direction where nothing tells it.
fn mode(recorded: &Recorded) -> &str {
    let told = recorded.terms.iter().find(|(term, _)| *term == MODE).map(|(_, mode)| mode.as_str());
    told.unwrap_or(if recorded.better == Better::Higher { "thrpt" } else { "avgt" })
}

/// The place of a cell, counted from 1 at each level.
fn place(index: usize, shape: &[usize]) -> [usize; LEVELS.len()] {
    let mut rest = index;
    let mut place = [0; LEVELS.len()];
    for (at, size) in place.iter_mut().zip(shape).rev() {
        (*at, rest) = (rest % size + 1, rest / size);
    }
    place
}

/// Name and parameters, which a colon puts together.
fn parameters(full: &str) -> (&str, &str) {
    full.split_once(':').filter(|(_, params)| !params.is_empty()).unwrap_or((full, ""))
}
