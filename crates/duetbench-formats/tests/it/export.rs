//! Recordings in other tools' forms: sealed by golden files, and read back as what they were.
//!
//! `DUET_BLESS=1 cargo test` writes the golden files anew.

use std::fs;
use std::path::{Path, PathBuf};

use duetbench_core::Recording;
use duetbench_core::recording::{Better, Cost, Grid, HarnessWarmUp, Level, Recorded};
use duetbench_formats::{About, Content, FormatError, Written, named, parse};
use proptest::prelude::*;

/// The forms, with the names of their golden files.
const FORMS: [(&str, &str); 11] = [
    ("go", "go.txt"),
    ("benchstat-csv", "benchstat.csv"),
    ("jmh", "jmh.json"),
    ("google-benchmark", "google-benchmark.json"),
    ("pytest-benchmark", "pytest-benchmark.json"),
    ("pyperf", "pyperf.json"),
    ("hyperfine", "hyperfine.json"),
    ("pa", "pa.csv"),
    ("papers", "papers.csv"),
    ("bmf", "bmf.json"),
    ("github-action-benchmark", "github-action-benchmark.json"),
];

/// The part of a recording that each readable form holds: levels, and whether units other than time.
const READ_BACK: [(&str, &[Level], bool); 9] = [
    ("go", &[Level::Fork, Level::Iteration], false),
    ("jmh", &[Level::Fork, Level::Iteration], true),
    ("hyperfine", &[Level::Fork], false),
    ("google-benchmark", &[Level::Iteration], false),
    ("pytest-benchmark", &[Level::Iteration], false),
    ("pyperf", &[Level::Fork, Level::Iteration], false),
    ("criterion", &[Level::Iteration], false),
    ("pa", &[Level::Instance, Level::SuiteRun, Level::Fork, Level::Iteration], true),
    ("papers", &Level::ALL, false),
];

fn recorded(benchmark: &str, unit: &str, shape: &[usize], cells: Vec<f64>) -> Recorded {
    let better = if unit.starts_with("ops/") { Better::Higher } else { Better::Lower };
    let cost = Cost { innermost_s: 0.001, overhead_s: vec![0.0; shape.len()] };
    let (benchmark, unit) = (benchmark.to_owned(), unit.to_owned());
    let grid = Grid::of(shape, cells).unwrap();
    Recorded { benchmark, unit, better, cost, harness_warm_up: None, terms: Vec::new(), grid }
}

fn recording(levels: &[Level], benchmarks: Vec<Recorded>) -> Recording {
    Recording { name: "r7".into(), levels: levels.to_vec(), benchmarks, warnings: Vec::new() }
}

/// Two suite runs of two forks of three iterations, of benchmarks whose names and units some forms cannot hold.
fn everything() -> Recording {
    let values = |scale: f64| (0..12).map(|i| scale * (100.0 + f64::from(i * 7 % 5))).collect::<Vec<f64>>();
    let mut gap = values(0.31);
    gap[7] = f64::NAN;
    let shape = [2, 2, 3];
    let warmed = HarnessWarmUp { iterations: 5, iteration_s: 0.5, ran: true };
    let benchmarks = vec![
        recorded("example.com/shop.BenchmarkGet/size=1-8", "ns/op", &shape, values(1.0)),
        Recorded { harness_warm_up: Some(warmed), ..recorded("p.C.m:kind=a,size=10", "ns/op", &shape, gap) },
        recorded("say \"hi; there\", <you>", "ns/op", &shape, values(1e6)),
        recorded("example.com/shop.BenchmarkRate-8", "ops/s", &shape, values(3e4)),
        recorded("example.com/shop.BenchmarkGet/size=1-8", "B/op", &shape, vec![16.0; 12]),
    ];
    recording(&[Level::SuiteRun, Level::Fork, Level::Iteration], benchmarks)
}

fn about() -> About {
    let lines = [("goos", "linux"), ("goarch", "amd64"), ("cpu", "AMD EPYC 7B13"), ("duet-run", "r7")];
    About {
        lines: lines.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec(),
        version: "1a2b3c4d5e".into(),
        started: "2026-03-01T09:30:00Z".into(),
    }
}

/// The recording in the form of this name.
fn write(recording: &Recording, about: &About, form: &str) -> Result<Written, FormatError> {
    let writer = named(form).and_then(|tool| tool.writer.as_ref()).unwrap();
    (writer.recording)(recording, about)
}

fn bytes(written: &Written) -> &[u8] {
    match &written.content {
        Content::File(bytes) => bytes,
        Content::Folder(_) => panic!("a folder"),
    }
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/export").join(name)
}

#[track_caller]
fn check_golden(name: &str, got: &str) {
    let path = golden(name);
    if std::env::var_os("DUET_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, got).unwrap();
    }
    let want = fs::read_to_string(&path).unwrap_or_default();
    assert!(want == got, "{} differs: look at it with `DUET_BLESS=1`, `git diff`\n{got}", path.display());
}

#[test]
fn every_form_is_sealed_with_what_it_loses() {
    let mut lost = String::new();
    for (form, name) in FORMS {
        let written = write(&everything(), &about(), form).unwrap();
        check_golden(name, std::str::from_utf8(bytes(&written)).unwrap());
        lost += &format!("{name}\n");
        lost.extend(written.lost.iter().map(|what| format!("  {what}\n")));
    }
    check_golden("lost.txt", &lost);
}

#[test]
fn the_folder_of_criterion_is_sealed() {
    let written = write(&everything(), &about(), "criterion").unwrap();
    let Content::Folder(files) = &written.content else { panic!("a file") };
    let text = |(path, bytes): &(String, Vec<u8>)| format!("{path}\n{}\n", String::from_utf8_lossy(bytes));
    check_golden("criterion.txt", &files.iter().map(text).collect::<String>());
}

#[test]
fn a_folder_is_saved_below_its_path() {
    let written = write(&everything(), &about(), "criterion").unwrap();
    let place = tempfile::tempdir().unwrap();
    written.content.save(place.path()).unwrap();
    let found =
        fs::read_to_string(place.path().join("example.com/shop.BenchmarkGet/size=1-8/new/sample.json")).unwrap();
    assert!(found.starts_with("{\"sampling_mode\":\"Flat\""), "{found}");
}

#[test]
fn what_a_form_has_no_unit_for_alone_is_refused() {
    let rates = recording(&[Level::Iteration], vec![recorded("A", "ops/s", &[1], vec![1.0])]);
    for form in ["hyperfine", "google-benchmark", "pytest-benchmark", "criterion", "papers", "pyperf"] {
        let refused = write(&rates, &about(), form).unwrap_err();
        assert!(
            refused.to_string().contains("`A [ops/s]`") && refused.advice().unwrap().contains("--as parquet"),
            "{refused}"
        );
    }
    assert!(write(&rates, &about(), "jmh").is_ok());
}

#[test]
fn a_file_of_github_action_benchmark_has_one_direction() {
    let rates = recording(&[Level::Iteration], vec![recorded("A", "ops/s", &[1], vec![1.0])]);
    let written = write(&rates, &about(), "github-action-benchmark").unwrap();
    assert!(written.lost.iter().any(|said| said.contains("tool: customBiggerIsBetter")), "{:?}", written.lost);
}

/// Values as they are measured: some whole, some not, some equal.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![(1_u32..1_000_000).prop_map(f64::from), 1e-3..1e12_f64, Just(0.1), Just(1234.5)]
}

/// A recording of some of these levels, with names as harnesses have them.
fn any_recording(levels: &'static [Level], units: bool) -> impl Strategy<Value = Recording> {
    let names = prop::collection::btree_set("[a-z]{1,4}(\\.[A-Z][a-z]{0,3})?(:[a-z]=[0-9]{1,2})?", 1..4);
    let unit = if units { vec!["ns/op", "ops/s", "B/op"] } else { vec!["ns/op"] };
    let shape = prop::collection::vec(1_usize..4, levels.len());
    let one = (shape, prop::sample::select(unit));
    let all = names.prop_flat_map(move |names| {
        let each: Vec<_> = names
            .into_iter()
            .map(|name| {
                one.clone().prop_flat_map(move |(shape, unit)| {
                    let name = name.clone();
                    let cells = prop::collection::vec(value(), shape.iter().product::<usize>());
                    cells.prop_map(move |cells| recorded(&name, unit, &shape, cells))
                })
            })
            .collect();
        each
    });
    all.prop_map(move |benchmarks| recording(levels, benchmarks))
}

/// The same benchmark as a reader names it: only Go's names are other ones.
fn respelt(form: &str, name: &str) -> String {
    if form == "go" { format!("Benchmark_{name}") } else { name.to_owned() }
}

/// The recording that is read from a written form, or the error in words.
fn read(written: &Written) -> Result<Recording, String> {
    match &written.content {
        Content::File(bytes) => parse(bytes).map(|read| read.recording).map_err(|e| format!("the file{e}")),
        Content::Folder(_) => {
            let place = tempfile::tempdir().unwrap();
            written.content.save(place.path()).unwrap();
            duetbench_formats::read(place.path()).map(|read| read.recording).map_err(|e| e.to_string())
        }
    }
}

fn check_read_back(form: &str, recording: &Recording) -> Result<(), TestCaseError> {
    let written = write(recording, &about(), form).unwrap();
    let read = read(&written).map_err(TestCaseError::fail)?;
    prop_assert_eq!(read.benchmarks.len(), recording.benchmarks.len());
    for recorded in &recording.benchmarks {
        let name = respelt(form, &recorded.benchmark);
        let found = read.benchmarks.iter().find(|found| found.benchmark == name);
        let found = found.ok_or_else(|| TestCaseError::fail(format!("no `{name}`")))?;
        prop_assert_eq!((&found.unit, found.better), (&recorded.unit, recorded.better));
        let (found_values, values) = (found.grid.values(), recorded.grid.values());
        prop_assert_eq!(found_values.len(), values.len());
        for (a, b) in found_values.iter().zip(&values) {
            // Seconds cannot say every nanosecond to its last bit.
            prop_assert!((a - b).abs() <= b * f64::EPSILON, "{} is not {}", a, b);
        }
        // A level of which there is one anyway may have gone.
        let repeated = |r: &Recorded| r.grid.shape().iter().copied().filter(|n| *n > 1).collect::<Vec<_>>();
        prop_assert_eq!(repeated(found), repeated(recorded));
    }
    Ok(())
}

#[test]
fn what_is_read_back_is_what_was_written() {
    for (form, levels, units) in READ_BACK {
        let cases = if form == "criterion" { 30 } else { 200 };
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(cases));
        let checked = runner.run(&any_recording(levels, units), |recording| check_read_back(form, &recording));
        checked.unwrap_or_else(|e| panic!("{form:?}: {e}"));
    }
}

#[test]
fn gaps_come_back_as_gaps_where_the_form_has_a_place_for_them() {
    let levels = [Level::Fork, Level::Iteration];
    let cells = vec![1.0, f64::NAN, 3.0, 4.0, 5.0, f64::NAN];
    let gapped = recording(&levels, vec![recorded("A", "ns/op", &[2, 3], cells)]);
    for form in ["jmh", "papers"] {
        let written = write(&gapped, &about(), form).unwrap();
        let read = parse(bytes(&written)).unwrap().recording;
        let bits = |r: &Recording| r.benchmarks[0].grid.cells().iter().map(|v| v.is_nan()).collect::<Vec<_>>();
        assert_eq!((bits(&read), written.lost), (bits(&gapped), Vec::new()), "{form:?}");
    }
    let go = write(&gapped, &about(), "go").unwrap();
    assert!(go.lost.iter().any(|said| said.contains("gaps (2)")), "{:?}", go.lost);
}

#[test]
fn medians_for_benchstat_come_back_as_what_they_are() {
    let one = recorded("p.BenchmarkGet-8", "ns/op", &[3, 2], vec![1.0, 3.0, 2.0, 2.0, 2.0, 2.0]);
    let all = recording(&[Level::Fork, Level::Iteration], vec![one]);
    let read = parse(bytes(&write(&all, &about(), "benchstat-csv").unwrap())).unwrap().recording;
    assert_eq!(
        (read.benchmarks[0].benchmark.as_str(), read.benchmarks[0].grid.values()),
        ("p.BenchmarkGet-8", vec![2.0])
    );
}

#[test]
fn jmh_keeps_what_repetitions_cost_and_its_terms() {
    let warmed = HarnessWarmUp { iterations: 3, iteration_s: 0.25, ran: true };
    let mut one = recorded("p.C.m", "ns/op", &[2, 2], vec![1.0, 2.0, 3.0, 4.0]);
    one.harness_warm_up = Some(warmed);
    one.terms = vec![("mode", "ss".into()), ("number of threads", "4".into()), ("batch size", "1".into())];
    one.cost = Cost { innermost_s: 2.5, overhead_s: vec![warmed.time_s(), 0.0] };
    let all = recording(&[Level::Fork, Level::Iteration], vec![one]);
    let read = parse(bytes(&write(&all, &about(), "jmh").unwrap())).unwrap().recording;
    assert_eq!(read.benchmarks, all.benchmarks);
}
