//! Every parser of foreign bytes, by name: what `fuzz/run` gives to a fuzzer, and what an ordinary test gives the seeds and some changes of them.

use std::io::Write;

use duetbench_cli::options::{Dollars, Layer, Setting};
use duetbench_core::calibrate::{Calibration, Machine};
use duetbench_core::foreign;
use duetbench_core::gate::Day;
use duetbench_core::hotspot::BenchmarkProfile;
use duetbench_core::instructions::BenchmarkInstructions;
use duetbench_core::recording::Recorded;
use duetbench_core::reported::Readings;
use duetbench_core::spec::Selection;
use duetbench_run::adapter::{go, jmh, rust};
use duetbench_run::fleet::wire::{Instance, Request, Response};
use duetbench_run::plan_file::PlanFile;
use duetbench_run::pprof;
use duetbench_run::store::{RunHead, SoloHead};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Reads bytes as something, and fails where what it makes of them cannot be.
pub(crate) type Parser = fn(&[u8]);

/// A parser, by the name that `fuzz/run` has for it.
pub(crate) const PARSERS: [(&str, Parser); 23] = [
    ("plan-file", |bytes| with_text(bytes, plan_file)),
    ("settings", |bytes| with_text(bytes, |text| drop(toml::from_str::<Layer>(text)))),
    ("waivers", |bytes| with_text(bytes, |text| drop(duetbench_cli::gate::understood(text)))),
    ("go-list", |bytes| with_text(bytes, go::fuzzing::packages)),
    ("go-hook-list", |bytes| with_text(bytes, go::fuzzing::listed)),
    ("go-program", go::identity::fuzz),
    ("jmh-list", |bytes| with_text(bytes, jmh::fuzzing::listed)),
    ("jvm", |bytes| with_text(bytes, jmh::fuzzing::jvm)),
    ("rust-list", |bytes| with_text(bytes, rust::fuzzing::listed)),
    ("cargo-metadata", |bytes| with_text(bytes, rust::fuzzing::metadata)),
    ("rust-program", rust::fuzzing::functions),
    ("wire", wire),
    ("calibration", calibration),
    ("kernel", |bytes| with_text(bytes, duetbench_run::noise::fuzz)),
    ("words", |bytes| with_text(bytes, words)),
    ("pprof", profile),
    ("callgrind", duetbench_run::callgrind::fuzz),
    ("store", store),
    ("linker", go::fuzzing::inventory),
    ("graph", go::fuzzing::graph),
    ("go-words", |bytes| with_text(bytes, go::fuzzing::words)),
    ("lock", |bytes| with_text(bytes, duetbench_run::lock::fuzz)),
    ("foreign-text", |bytes| with_text(bytes, foreign_text)),
];

/// Any bytes as a result file of another tool: whatever they are, reading ends, takes no more room than it may, and gives numbers alone.
pub(crate) fn import(bytes: &[u8]) {
    let Ok(imported) = duetbench_formats::parse(bytes) else { return };
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
}

fn with_text(bytes: &[u8], parse: impl Fn(&str)) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        parse(text);
    }
}

/// A plan that is understood can be written, and is understood again.
fn plan_file(text: &str) {
    if let Ok(plan) = PlanFile::parse(text) {
        let written = plan.text().expect("a plan can be written");
        assert_eq!(PlanFile::parse(&written).expect("a plan that was written is one"), plan);
    }
}

/// Values that a store holds as JSON.
fn store(bytes: &[u8]) {
    fn read<T: Serialize + DeserializeOwned>(bytes: &[u8]) {
        if let Ok(read) = serde_json::from_slice::<T>(bytes) {
            let written = serde_json::to_vec(&read).expect("what was read can be written");
            serde_json::from_slice::<T>(&written).expect("and is read again");
        }
    }
    read::<Instance>(bytes);
    read::<BenchmarkProfile>(bytes);
    read::<BenchmarkInstructions>(bytes);
    read::<Readings>(bytes);
    let _ = serde_json::from_slice::<RunHead>(bytes).map(|head| {
        head.plan.benchmarks.iter().map(|one| one.configuration.is_possible()).filter(|possible| *possible).count()
    });
    let _ = serde_json::from_slice::<SoloHead>(bytes);
}

/// Whatever the words are, what is shown of them does nothing.
fn foreign_text(text: &str) {
    let harmless =
        |shown: &str| shown.chars().all(|c| !c.is_control() && foreign::visible(&c.to_string()) == c.to_string());
    assert!(harmless(&foreign::one_line(text)) && harmless(&foreign::cell(text)));
    let json = serde_json::to_string(text).expect("a string is JSON");
    let clean = foreign::in_json(&json);
    assert!(harmless(&clean));
    assert_eq!(serde_json::from_str::<String>(&clean).ok().as_deref(), Some(text));
}

fn wire(bytes: &[u8]) {
    let _ = Request::read(bytes);
    if let Ok(response) = Response::read(bytes) {
        let written = response.write(usize::MAX);
        Response::read(&written).expect("a response that was written is one");
    }
}

fn calibration(bytes: &[u8]) {
    let _ = serde_json::from_slice::<Calibration>(bytes);
    let _ = serde_json::from_slice::<Machine>(bytes);
}

/// A CPU profile, whose messages are compressed here: hardly a changed byte of a compressed file would get past its check sum.
fn profile(bytes: &[u8]) {
    let mut file = GzEncoder::new(Vec::new(), Compression::fast());
    file.write_all(bytes).and_then(|()| file.try_finish()).expect("memory can be written to");
    if let Ok(profile) = pprof::parse(file.get_ref()) {
        drop(profile.count(1));
        if let Ok(merged) = pprof::merge(std::slice::from_ref(&profile)) {
            pprof::parse(&merged).expect("what was merged can be read");
        }
    }
}

/// Short things that stand in settings and arguments; a line each.
fn words(text: &str) {
    for line in text.lines() {
        drop(line.parse::<Day>());
        drop(Dollars::parse(line));
        drop(f64::parse(line));
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        drop(go::GoArguments::parse(&arguments));
    }
    drop(duetbench_run::fleet::prices::parse(text));
    if let Some((pattern, name)) = text.split_once('\n') {
        let selection = Selection { bench: Some(pattern.to_owned()), exclude: None, packages: Vec::new() };
        if let Ok(filter) = selection.filter() {
            let _ = filter.keeps(name);
        }
    }
}
