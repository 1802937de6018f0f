//! Google Benchmark's JSON (`--benchmark_format=json`): a row for every repetition.
//!
//! Invocations are what the length of an iteration comes to.

use std::collections::BTreeMap;

use duetbench_core::Recording;
use duetbench_core::recording::Level;
use serde::Serialize;

use super::fit::{Fitted, Frame, Units, fit, invocations};
use super::{About, Written};
use crate::error::FormatError;

const FRAME: Frame =
    Frame { title: "Google Benchmark's JSON", levels: &[Level::Iteration], units: Units::Times, gaps: false };

#[derive(Serialize)]
struct File<'a> {
    context: BTreeMap<&'a str, &'a str>,
    benchmarks: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    family_index: usize,
    per_family_instance_index: usize,
    run_name: &'a str,
    run_type: &'static str,
    repetitions: usize,
    repetition_index: usize,
    threads: u32,
    iterations: u64,
    real_time: f64,
    cpu_time: f64,
    time_unit: &'static str,
}

/// The recording as such a file.
pub(super) fn write(recording: &Recording, about: &About) -> Result<Written, FormatError> {
    let (fitted, mut lost) = fit(recording, &FRAME)?;
    lost.push(
        "CPU times are not known: `cpu_time` repeats `real_time`, because the format's readers need one".to_owned(),
    );
    let mut context: BTreeMap<&str, &str> = about.lines.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    context.insert("date", &about.started);
    let benchmarks = fitted.iter().enumerate().flat_map(rows).collect();
    Written::json(&File { context, benchmarks }, lost)
}

fn rows<'a>((number, benchmark): (usize, &'a Fitted<'a>)) -> Vec<Row<'a>> {
    let values = benchmark.values();
    let row = |(repetition, value): (usize, &f64)| Row {
        name: benchmark.name(),
        family_index: number,
        per_family_instance_index: 0,
        run_name: benchmark.name(),
        run_type: "iteration",
        repetitions: values.len(),
        repetition_index: repetition,
        threads: 1,
        iterations: invocations(benchmark.recorded, *value),
        real_time: *value,
        cpu_time: *value,
        time_unit: "ns",
    };
    values.iter().enumerate().map(row).collect()
}
