//! The CSV of `pa` (<https://github.com/chrstphlbr/pa>): a row for every value, its place in columns, sorted by benchmark.

use duetbench_core::Recording;
use duetbench_core::foreign;
use duetbench_core::recording::{Better, Level};

use super::fit::{Fitted, Frame, Units, fit};
use super::{About, Written, nothing};
use crate::error::FormatError;

const LEVELS: [Level; 4] = [Level::Instance, Level::SuiteRun, Level::Fork, Level::Iteration];
const FRAME: Frame = Frame { title: "CSV of `pa`", levels: &LEVELS, units: Units::One, gaps: true };
const HEADINGS: [&str; 12] = [
    "project",
    "commit",
    "benchmark",
    "params",
    "instance",
    "trial",
    "fork",
    "iteration",
    "mode",
    "unit",
    "value_count",
    "value",
];

/// The recording as such a file.
pub(super) fn write(recording: &Recording, about: &About) -> Result<Written, FormatError> {
    let (mut fitted, lost) = fit(recording, &FRAME)?;
    // `pa` reads one benchmark after the other and wants them in this order.
    fitted.sort_by(|a, b| parameters(a.name()).cmp(&parameters(b.name())));
    let mut writer = csv::WriterBuilder::new().delimiter(b';').from_writer(Vec::new());
    let commit = if about.version.is_empty() { "unknown" } else { &about.version };
    let mut write = |row: &[String]| {
        writer.write_record(row.iter().map(|text| foreign::cell(text))).map_err(|e| nothing(&e.to_string()))
    };
    write(&HEADINGS.map(str::to_owned))?;
    for benchmark in &fitted {
        for (index, value) in benchmark.cells.iter().enumerate().filter(|(_, value)| value.is_finite()) {
            write(&row(benchmark, (index, *value), (&recording.name, commit)))?;
        }
    }
    let bytes = writer.into_inner().map_err(|e| nothing(&e.to_string()))?;
    Ok(Written::file(bytes, lost))
}

fn row(benchmark: &Fitted<'_>, (index, value): (usize, f64), (project, commit): (&str, &str)) -> [String; 12] {
    let recorded = benchmark.recorded;
    let (name, params) = parameters(benchmark.name());
    let mut rest = index;
    let mut place = [0; LEVELS.len()];
    for (at, size) in place.iter_mut().zip(&benchmark.shape).rev() {
        (*at, rest) = (rest % size + 1, rest / size);
    }
    let [instance, trial, fork, iteration] = place.map(|at| at.to_string());
    let mode = if recorded.better == Better::Higher { "thrpt" } else { "avgt" };
    let of = |text: &str| text.to_owned();
    [
        of(project),
        of(commit),
        of(name),
        of(params),
        format!("i{instance}"),
        trial,
        fork,
        iteration,
        of(mode),
        recorded.unit.clone(),
        of("1"),
        value.to_string(),
    ]
}

/// Name and parameters, which a colon puts together.
fn parameters(full: &str) -> (&str, &str) {
    full.split_once(':').filter(|(_, params)| !params.is_empty()).unwrap_or((full, ""))
}
