//! Parquet, read back by its own reader: every column, of recordings and of the samples of stored runs.

use duetbench_core::Recording;
use duetbench_core::recording::{Better, Cost, Grid, Level, Recorded};
use duetbench_formats::{About, Content, named};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;

fn recording(cells: Vec<f64>) -> Recording {
    let recorded = Recorded {
        benchmark: "p.C.m:größe=1".into(),
        unit: "ops/s".into(),
        better: Better::Higher,
        cost: Cost { innermost_s: 1.0, overhead_s: vec![0.0; 2] },
        harness_warm_up: None,
        terms: Vec::new(),
        grid: Grid::of(&[cells.len() / 2, 2], cells).unwrap(),
    };
    let levels = vec![Level::Fork, Level::Iteration];
    Recording { name: "jmh-result".into(), levels, benchmarks: vec![recorded], warnings: Vec::new() }
}

fn reader(recording: &Recording) -> SerializedFileReader<bytes::Bytes> {
    let writer = named("parquet").and_then(|tool| tool.writer.as_ref()).unwrap();
    let written = (writer.recording)(recording, &About::default()).unwrap();
    assert_eq!(written.lost, Vec::<String>::new());
    let Content::File(file) = written.content else { panic!("a folder") };
    SerializedFileReader::new(bytes::Bytes::from(file)).unwrap()
}

#[test]
fn a_value_has_its_place_and_what_is_not_known_is_null() {
    let reader = reader(&recording(vec![1.5, f64::NAN, 3.25, 4.0]));
    let rows: Vec<String> = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
    let want = "{run: \"jmh-result\", benchmark: \"p.C.m:größe=1\", side: null, version: null, mode: null, instance: null, round: null, \
                build: null, suite_run: null, fork: 1, iteration: 0, second: null, warm_up: null, value: 3.25, unit: \"ops/s\", \
                better: \"higher\", invocations: null, wall_ns: null, cpu_ns: null, start_ns: null, block: null, \
                block_invocations: null, block_allocations: null, block_bytes: null, block_collections: null}";
    assert_eq!((rows.len(), rows[1].as_str()), (3, want));
}

#[test]
fn more_rows_than_a_group_holds_come_back_in_order() {
    let count = (1 << 17) + 3_000;
    let reader = reader(&recording((0..count).map(f64::from).collect()));
    assert_eq!(reader.metadata().num_row_groups(), 2);
    let value = 13;
    let values = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().get_double(value).unwrap());
    assert!(values.eq((0..count).map(f64::from)));
}
