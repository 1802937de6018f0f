//! Any text as each of the other things that duet reads. `DUET_FUZZ` says as which.

#![no_main]

use std::io::Write;
use std::sync::OnceLock;

use duetbench_cli::args::{parse_dollars, parse_fraction};
use duetbench_cli::settings::Layer;
use duetbench_core::calibrate::{Calibration, Machine};
use duetbench_core::gate::Day;
use duetbench_core::spec::Selection;
use duetbench_run::adapter::{go, jmh};
use duetbench_run::fleet::wire::{Request, Response};
use duetbench_run::plan_file::PlanFile;
use duetbench_run::pprof;
use flate2::Compression;
use flate2::write::GzEncoder;
use libfuzzer_sys::fuzz_target;

/// A parser, by the name that `fuzz/run` has for it.
const PARSERS: [(&str, fn(&[u8])); 13] = [
    ("plan-file", |bytes| with_text(bytes, plan_file)),
    ("settings", |bytes| with_text(bytes, |text| drop(toml::from_str::<Layer>(text)))),
    ("waivers", |bytes| with_text(bytes, |text| drop(duetbench_cli::gate::understood(text)))),
    ("go-list", |bytes| with_text(bytes, go::fuzzing::packages)),
    ("go-hook-list", |bytes| with_text(bytes, go::fuzzing::listed)),
    ("go-program", go::identity::fuzz),
    ("jmh-list", |bytes| with_text(bytes, jmh::fuzzing::listed)),
    ("jvm", |bytes| with_text(bytes, jmh::fuzzing::jvm)),
    ("wire", wire),
    ("calibration", calibration),
    ("kernel", |bytes| with_text(bytes, duetbench_run::noise::fuzz)),
    ("words", |bytes| with_text(bytes, words)),
    ("pprof", profile),
];

fuzz_target!(|bytes: &[u8]| {
    static PARSER: OnceLock<fn(&[u8])> = OnceLock::new();
    let parser = PARSER.get_or_init(|| {
        let name = std::env::var("DUET_FUZZ").expect("DUET_FUZZ names a parser");
        PARSERS.iter().find(|(known, _)| *known == name).expect("DUET_FUZZ names a parser that there is").1
    });
    parser(bytes);
});

fn with_text(bytes: &[u8], parse: impl Fn(&str)) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        parse(text);
    }
}

/// What is understood can be written, and is understood again.
fn plan_file(text: &str) {
    if let Ok(plan) = PlanFile::parse(text) {
        let written = plan.text().expect("a plan can be written");
        assert_eq!(PlanFile::parse(&written).expect("a plan that was written is one"), plan);
    }
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
        drop(parse_dollars(line));
        drop(parse_fraction(line));
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
