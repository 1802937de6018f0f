//! Parquet (<https://parquet.apache.org/docs/file-format/>), for notebooks: a row for every value, with all that is known of it.
//!
//! The rows of a stored run are its samples, warm-up included; those of another recording are its values. A column is null where a row
//! has nothing to say: a recording of another tool has no builds, a sample has no seconds.

use std::sync::Arc;

use ::parquet::basic::Compression;
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::parser::parse_message_type;
use duetbench_core::plan::Mode;
use duetbench_core::recording::{Better, Level, Recorded};
use duetbench_core::{Recording, Sample};

use crate::error::FormatError;
use crate::tool::{Tool, Writer};
use crate::writing::fit::TIME;
use crate::writing::{About, StoredSample, Written};

/// Its entry in the table.
pub(super) static TOOL: Tool = Tool {
    name: "parquet",
    about: "Parquet: of stored runs every sample",
    reader: None,
    writer: Some(Writer { samples: Some(of_samples), ..Writer::of(of_recording) }),
};

/// Rows that are kept in memory as columns at a time.
const ROWS_PER_GROUP: usize = 1 << 17;

/// A value with what is known of it.
#[derive(Debug, Clone, Copy, Default)]
struct Row<'a> {
    run: &'a str,
    benchmark: &'a str,
    unit: &'a str,
    better: Option<Better>,
    value: Option<f64>,
    version: Option<&'a str>,
    mode: Option<Mode>,
    /// By level, counted from 0.
    levels: [Option<u32>; Level::ALL.len()],
    sample: Option<&'a Sample>,
}

/// Type of a column, with the function that takes its value from a row.
enum Cells {
    Words(fn(&Row<'_>) -> Option<String>),
    Small(fn(&Row<'_>) -> Option<u32>),
    Whole(fn(&Row<'_>) -> Option<u64>),
    Real(fn(&Row<'_>) -> Option<f64>),
    Flag(fn(&Row<'_>) -> Option<bool>),
}

/// All columns in their order. Times are nanoseconds; what a block allocated stands at its last sample.
const COLUMNS: [(&str, Cells); 25] = [
    ("run", Cells::Words(|row| Some(row.run.to_owned()))),
    ("benchmark", Cells::Words(|row| Some(row.benchmark.to_owned()))),
    ("side", Cells::Words(|row| row.mode.and(row.sample).map(|s| s.at.role.word().to_owned()))),
    ("version", Cells::Words(|row| row.version.map(str::to_owned))),
    ("mode", Cells::Words(|row| row.mode.map(|mode| mode.word().to_owned()))),
    ("instance", Cells::Small(|row| row.levels[0])),
    ("round", Cells::Small(|row| row.sample.map(|s| s.at.round))),
    ("build", Cells::Small(|row| row.sample.map(|s| s.at.build))),
    ("suite_run", Cells::Small(|row| row.levels[1])),
    ("fork", Cells::Small(|row| row.levels[2])),
    ("iteration", Cells::Small(|row| row.levels[3])),
    ("second", Cells::Small(|row| row.levels[4])),
    ("warm_up", Cells::Flag(|row| row.sample.map(|s| s.warm_up))),
    ("value", Cells::Real(|row| row.value)),
    ("unit", Cells::Words(|row| Some(row.unit.to_owned()))),
    ("better", Cells::Words(|row| row.better.map(|better| better.word().to_owned()))),
    ("invocations", Cells::Whole(|row| row.sample.map(|s| s.invocations))),
    ("wall_ns", Cells::Whole(|row| row.sample.map(|s| s.wall_ns))),
    ("cpu_ns", Cells::Whole(|row| row.sample?.cpu_ns)),
    ("start_ns", Cells::Whole(|row| row.sample.map(|s| s.start_ns))),
    ("block", Cells::Small(|row| row.sample.map(|s| s.block))),
    ("block_invocations", Cells::Whole(|row| Some(row.sample?.memory?.invocations))),
    ("block_allocations", Cells::Whole(|row| row.sample?.memory?.allocations)),
    ("block_bytes", Cells::Whole(|row| Some(row.sample?.memory?.bytes))),
    ("block_collections", Cells::Small(|row| Some(row.sample?.memory?.collections))),
];

/// Every sample of a stored run, in this order.
fn of_samples(samples: &mut dyn Iterator<Item = StoredSample<'_>>) -> Result<Written, FormatError> {
    written(samples.map(Row::of))
}

impl<'a> Row<'a> {
    fn of(stored: StoredSample<'a>) -> Row<'a> {
        let StoredSample { run, benchmark, version, mode, sample } = stored;
        let at = sample.at;
        Row {
            run,
            benchmark,
            unit: TIME,
            better: Some(Better::Lower),
            value: (sample.invocations > 0).then(|| sample.wall_ns as f64 / sample.invocations as f64),
            version: Some(version),
            mode,
            levels: [Some(at.instance), Some(at.suite_run), Some(at.fork), Some(at.iteration), None],
            sample: Some(sample),
        }
    }
}

/// Every value of a recording.
fn of_recording(recording: &Recording, _: &About) -> Result<Written, FormatError> {
    let of = |recorded: &'_ Recorded| {
        let cells = recorded.grid.cells().iter().enumerate().filter(|(_, value)| value.is_finite());
        cells.map(|(index, value)| (index, *value)).collect::<Vec<_>>()
    };
    let rows = recording.benchmarks.iter().flat_map(|recorded| {
        of(recorded).into_iter().map(move |(index, value)| Row {
            run: &recording.name,
            benchmark: &recorded.benchmark,
            unit: &recorded.unit,
            better: Some(recorded.better),
            value: Some(value),
            levels: places(index, recorded.grid.shape(), &recording.levels),
            ..Row::default()
        })
    });
    written(rows)
}

/// The place of a cell in row-major order, by level.
fn places(index: usize, shape: &[usize], levels: &[Level]) -> [Option<u32>; Level::ALL.len()] {
    let mut places = [None; Level::ALL.len()];
    let mut rest = index;
    for (level, size) in levels.iter().zip(shape).rev() {
        places[*level as usize] = u32::try_from(rest % size).ok();
        rest /= size;
    }
    places
}

/// All rows as a file.
fn written<'a>(rows: impl Iterator<Item = Row<'a>>) -> Result<Written, FormatError> {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return Err(FormatError::nothing("not one value was measured"));
    }
    let bytes = file(rows).map_err(|e| FormatError::nothing(e.to_string()))?;
    Ok(Written::file(bytes, Vec::new()))
}

fn file<'a>(mut rows: impl Iterator<Item = Row<'a>>) -> Result<Vec<u8>, ParquetError> {
    let schema = Arc::new(parse_message_type(&schema())?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(format!("duet {}", env!("CARGO_PKG_VERSION")))
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    loop {
        let group: Vec<Row<'_>> = rows.by_ref().take(ROWS_PER_GROUP).collect();
        if group.is_empty() {
            return writer.into_inner();
        }
        let mut columns = writer.next_row_group()?;
        for (_, cells) in &COLUMNS {
            let column = columns.next_column()?;
            let column = column.ok_or_else(|| ParquetError::General("the schema lacks a column".into()))?;
            cells.write(&group, column)?;
        }
        columns.close()?;
    }
}

/// The columns as Parquet's own description of them.
fn schema() -> String {
    let columns = COLUMNS.iter().map(|(name, cells)| match cells {
        Cells::Words(_) => format!("OPTIONAL BYTE_ARRAY {name} (UTF8);"),
        Cells::Small(_) => format!("OPTIONAL INT32 {name};"),
        Cells::Whole(_) => format!("OPTIONAL INT64 {name};"),
        Cells::Real(_) => format!("OPTIONAL DOUBLE {name};"),
        Cells::Flag(_) => format!("OPTIONAL BOOLEAN {name};"),
    });
    format!("message duet {{ {} }}", columns.collect::<Vec<_>>().join(" "))
}

impl Cells {
    fn write(&self, rows: &[Row<'_>], column: SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        match self {
            Cells::Words(of) => {
                let bytes = |row: &Row<'_>| of(row).map(|words| ByteArray::from(words.into_bytes()));
                put::<ByteArrayType>(rows.iter().map(bytes), column)
            }
            Cells::Small(of) => {
                put::<Int32Type>(rows.iter().map(|row| of(row).map(|n| i32::try_from(n).unwrap_or(i32::MAX))), column)
            }
            Cells::Whole(of) => {
                put::<Int64Type>(rows.iter().map(|row| of(row).map(|n| i64::try_from(n).unwrap_or(i64::MAX))), column)
            }
            Cells::Real(of) => put::<DoubleType>(rows.iter().map(of), column),
            Cells::Flag(of) => put::<BoolType>(rows.iter().map(of), column),
        }
    }
}

/// Writes a column: the cells that there are, and for every row whether it has one.
fn put<T: DataType>(
    cells: impl Iterator<Item = Option<T::T>>,
    mut column: SerializedColumnWriter<'_>,
) -> Result<(), ParquetError> {
    let (mut values, mut there) = (Vec::new(), Vec::new());
    for cell in cells {
        there.push(i16::from(cell.is_some()));
        values.extend(cell);
    }
    column.typed::<T>().write_batch(&values, Some(&there), None)?;
    column.close()
}
