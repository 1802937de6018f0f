//! Any bytes as a result file of another tool: whatever they are, reading ends, takes no more room than it may, and gives numbers alone.
//!
//! One program for all forms: what tells them apart is the seeds that a run begins with.

#![no_main]

use duetbench_core::recording::Recorded;
use duetbench_run::import::parse_whole;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(imported) = parse_whole(bytes) else { return };
    let packed = bytes.starts_with(&[0x1f, 0x8b]);
    let benchmarks = &imported.recording.benchmarks;
    let cells: usize = benchmarks.iter().map(|recorded| recorded.grid.cells().len()).sum();
    assert!(packed || cells <= 1_000_000 + 16 * bytes.len(), "{cells} cells of {} bytes", bytes.len());
    let levels = imported.recording.levels.len();
    let good = |recorded: &Recorded| {
        let values = recorded.grid.values();
        recorded.grid.shape().len() == levels && !values.is_empty() && values.iter().all(|value| *value >= 0.0)
    };
    assert!(!benchmarks.is_empty() && benchmarks.iter().all(good));
    assert!(imported.beside.iter().all(|metric| good(&metric.recorded)));
});
