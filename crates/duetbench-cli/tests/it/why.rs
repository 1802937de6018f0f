//! One change, with everything that a stored run knows about it.

use duetbench_cli::options::Format;
use duetbench_cli::render::sarif::Site;
use duetbench_cli::render::why::document;

use duetbench_cli::render::palette::Palette;
use serde_json::{Value, json};

use crate::common::Place;
use crate::golden_files::check;
use crate::render_support::{with_instructions, written};
use crate::schema::{REPORT, WHY, departures_from, read};

const SCRIPT: &str = r#"{
    "BenchmarkDecode": {"baseline_ns": 100, "candidate_ns": 110, "spread": 0.002, "allocs": [2, 3]},
    "BenchmarkEncode": {"baseline_ns": 100, "candidate_ns": 140, "spread": 0.002},
    "BenchmarkFaster": {"baseline_ns": 100, "candidate_ns": 20, "spread": 0.002},
    "BenchmarkSame": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002}
}"#;

#[test]
fn every_form_of_a_change_that_was_profiled_and_counted() {
    let report = with_instructions();
    let site = Site { path: "codec/codec_test.go".into(), line: Some(41) };
    let encode = document(&report, &report.benchmarks[0], Some(&site));
    check("why.txt", &written(&encode, Format::Text));
    check("why.md", &written(&encode, Format::Markdown));
    // It says of one that was neither how to see more.
    let once = report.benchmarks.iter().find(|b| b.id.name == "BenchmarkOnce").expect("it is there");
    check("why_little.txt", &written(&document(&report, once, None), Format::Text));
}

#[test]
fn for_programs_it_has_the_parts_of_the_report() {
    let report = with_instructions();
    let site = Site { path: "codec/codec_test.go".into(), line: Some(41) };
    let encode = document(&report, &report.benchmarks[0], Some(&site));
    check("why.csv", &written(&encode, Format::Csv));
    let json = written(&encode, Format::Json);
    check("why.json", &json);
    let mut whole: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(departures_from(WHY, &whole), Vec::<String>::new());
    let once = report.benchmarks.iter().find(|b| b.id.name == "BenchmarkOnce").expect("it is there");
    let little: Value = serde_json::from_str(&written(&document(&report, once, None), Format::Json)).unwrap();
    assert_eq!(departures_from(WHY, &little), Vec::<String>::new());
    assert_eq!((&little["source"], &little["lacking"]), (&Value::Null, &json!(["--profile", "--count"])));
    whole["layout"] = json!("shuffled");
    assert!(departures_from(WHY, &whole).iter().any(|one| one.starts_with("report.layout: enum")));
    let refused = document(&report, once, None).write(Format::Sarif, &Palette::plain(), None);
    assert!(refused.is_err_and(|failure| failure.to_string().contains("`duet why`")));
}

#[test]
fn definitions_of_its_schema_are_those_of_the_report() {
    let (why, report) = (read(WHY), read(REPORT));
    for (name, definition) in why["$defs"].as_object().unwrap() {
        assert_eq!(Some(definition), report["$defs"].get(name), "{name}");
    }
}

#[test]
fn without_a_name_it_is_the_largest_change_that_stops() {
    let place = Place::new();
    place.scripted(SCRIPT, &[]).expect(3);
    let why = |args: &[&str]| place.duet(&[&["why"], args].concat());
    // The improvement is larger, and stops nothing.
    let largest = why(&[]).expect(0).stdout;
    assert!(largest.contains("Encode: regression") && !largest.contains("Decode"), "{largest}");
    for name in ["BenchmarkDecode", "Decode", "example.com/scripted.BenchmarkDecode"] {
        let decode = why(&["r1", name]).expect(0).stdout;
        assert!(decode.contains("Decode: regression") && decode.contains("allocs/op 2 → 3"), "{name}: {decode}");
    }
    assert!(why(&["latest", "Faster", "--format", "markdown"]).expect(0).stdout.contains("improvement"));
    why(&["r1", "Decod"]).expect(2).says(&["there is no benchmark `Decod` in `r1`", "did you mean `Decode`"]);
    why(&["r7"]).expect(1).says(&["r7"]);
}

#[test]
fn where_nothing_changed_it_asks_for_a_name() {
    let place = Place::new();
    let same = r#"{"BenchmarkSame": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002}}"#;
    place.scripted(same, &[]).expect(0);
    let refused = place.duet(&["why"]).expect(2);
    refused.says(&["no benchmark of `r1` is known to have changed", "`duet why r1 BENCH`"]);
    assert!(place.duet(&["why", "r1", "Same"]).expect(0).stdout.contains("Same: no change"));
}
