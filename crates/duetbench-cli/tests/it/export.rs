//! `duet export` by the real binary: what is written of runs and of files, what is said about losses, what is refused.

use std::fs;

use duetbench_core::Report;
use duetbench_formats::{Content, FormatError, Written, named};

use crate::common::Place;
use crate::golden_files;
use crate::render_support::{empty, everything};

const SCRIPT: &str = r#"{
    "BenchmarkA": {"baseline_ns": 100, "candidate_ns": 120, "spread": 0.004, "allocs": [3, 3]},
    "BenchmarkB": {"baseline_ns": 5000, "candidate_ns": 5000, "spread": 0.004}
}"#;

const HYPERFINE: &str = r#"{"results": [{"command": "sort a", "times": [0.25, 0.5, 0.375, null]}]}"#;

/// A place with a comparison, `r1`, and a run of one version, `r2`.
fn place() -> Place {
    let place = Place::new();
    place.scripted(SCRIPT, &["--forks", "6", "--fixed"]).expect(3);
    place.duet(&[
        "run", "--scripted", "script.json", "--seed", "1", "--suite-runs", "3", "--forks", "2", "--iterations", "4",
    ]);
    place.write("sort.json", HYPERFINE);
    place
}

#[test]
fn packages_of_go_s_text_begin_once_in_every_process() {
    let place = Place::new();
    let one = "pkg: p/a\nBenchmarkX-2 100 5 ns/op 16 B/op\npkg: p/b\nBenchmarkY-2 100 7 ns/op 8 B/op\n";
    place.write("bench.txt", &one.repeat(3));
    place.duet(&["export", "bench.txt", "--as", "go", "-o", "again.txt"]).expect(0);
    let again = fs::read_to_string(place.path().join("again.txt")).unwrap();
    for package in ["pkg: p/a\n", "pkg: p/b\n"] {
        assert_eq!(again.matches(package).count(), 3, "{again}");
    }
    let read = |name: &str| place.duet(&["export", name, "--as", "pa"]).expect(0).stdout;
    assert_eq!(read("again.txt").replace("again;", "bench;"), read("bench.txt"));
}

const FORMS: [&str; 11] = [
    "go", "benchstat-csv", "jmh", "google-benchmark", "pytest-benchmark", "pyperf", "hyperfine", "pa", "papers", "bmf",
    "github-action-benchmark",
];

#[test]
fn runs_and_files_are_written_in_every_form() {
    let place = place();
    for source in ["r1", "r2", "sort.json"] {
        for form in FORMS {
            let ran = place.duet(&["export", source, "--as", form]).expect(0);
            let name = if source == "sort.json" { "sort" } else { "Benchmark" };
            let named = form == "benchstat-csv" || ran.stdout.contains(name);
            assert!(named && !ran.stdout.is_empty(), "{source} as {form}:\n{}", ran.stdout);
        }
        for (form, file) in [("parquet", "all.parquet"), ("criterion", "criterion")] {
            place.duet(&["export", source, "--as", form, "-o", file]).expect(0);
        }
        assert!(fs::read(place.path().join("all.parquet")).unwrap().starts_with(b"PAR1"));
    }
    assert!(place.path().join("criterion/sort a/new/sample.json").is_file());
}

#[test]
fn what_is_read_back_of_a_run_is_what_it_is_to_detecting() {
    let place = place();
    for (form, file) in [("papers", "r2.csv"), ("pa", "r2-pa.csv"), ("jmh", "r2.json")] {
        place.duet(&["export", "r2", "--as", form, "-o", file]).expect(0);
        let ran = place.duet(&["analyze", "r2", file, "--method", "both", "--format", "json"]).expect(0);
        for benchmark in ran.json()["benchmarks"].as_array().unwrap() {
            assert_eq!(benchmark["base"], benchmark["head"], "{form}: {benchmark}");
        }
    }
}

#[test]
fn what_stands_beside_the_time_goes_along_where_there_is_a_place() {
    let place = place();
    let text = "goos: linux\npkg: p\ncpu: AMD\nBenchmarkA-8\t10\t5 ns/op\t16 B/op\t2 allocs/op\npkg: p\nBenchmarkA-8\t10\t6 ns/op\t16 B/op\t2 allocs/op\n";
    place.write("go.txt", text);
    let again = place.duet(&["export", "go.txt", "--as", "go"]).expect(0);
    assert!(!again.stderr.contains("warning"), "{}", again.stderr);
    for words in ["goos: linux\ncpu: AMD\npkg: p\n", "\t5 ns/op", "\t6 ns/op", "\t16 B/op", "\t2 allocs/op"] {
        assert!(again.stdout.contains(words), "{words} in\n{}", again.stdout);
    }
    let bmf = place.duet(&["export", "go.txt", "--as", "bmf"]).expect(0).json();
    assert_eq!(bmf["p.BenchmarkA"]["allocations"]["value"], 2.0);
    place.duet(&["export", "go.txt", "--as", "pyperf"]).expect(0).says(&["left out", "`p.BenchmarkA [allocs/op]`"]);
}

#[test]
fn losses_are_named_even_to_those_who_want_quiet() {
    let place = place();
    let ran = place.duet(&["export", "r2", "--as", "hyperfine", "--quiet"]).expect(0);
    let ran = ran.says(&["warning: hyperfine's JSON has no iterations", "does not tell suite runs apart"]);
    let times = &ran.json()["results"][0]["times"];
    assert_eq!(times.as_array().unwrap().len(), 6, "three suite runs of two forks, one value each: {times}");
    let none = place.duet(&["export", "r2", "--as", "papers"]).expect(0);
    assert!(!none.stderr.contains("warning"), "{}", none.stderr);
}

#[test]
fn sides_are_chosen_and_both_stand_in_three_forms() {
    let place = place();
    let value = |side: &str| {
        let ran = place.duet(&["export", "r1", "--as", "hyperfine", "--side", side]).expect(0);
        ran.json()["results"][0]["mean"].as_f64().unwrap() * 1e9
    };
    // Scripted forks drift, both sides alike.
    assert!((value("head") / value("base") - 1.2).abs() < 0.01);
    assert_eq!([value("candidate"), value("baseline")], [value("head"), value("base")], "former names");
    let both = place.duet(&["export", "r1", "--as", "benchstat-csv", "--side", "both"]).expect(0).stdout;
    assert!(both.contains(",sec/op,CI,sec/op,CI,vs base,P\n") && both.contains("\nA,"), "{both}");
    let row = both.lines().find(|line| line.starts_with("A,")).unwrap();
    assert!(row.contains("+20.00%,p=0.0") && row.ends_with(" n=6"), "{row}");
    let mean = |side: &str| {
        let file =
            fs::read(place.path().join("both/example.com/scripted.BenchmarkA").join(side).join("estimates.json"))
                .unwrap();
        serde_json::from_slice::<serde_json::Value>(&file).unwrap()["mean"]["point_estimate"].as_f64().unwrap()
    };
    place.duet(&["export", "r1", "--as", "criterion", "-o", "both"]).expect(0);
    assert!((mean("new") / mean("base") - 1.2).abs() < 0.01, "{} {}", mean("new"), mean("base"));
    place.duet(&["export", "r1", "--as", "criterion", "--side", "head", "-o", "both"]).expect(0);
    assert_eq!(mean("new"), mean("base"));
    place.duet(&["export", "r1", "--as", "jmh", "--side", "both"]).expect(2).says(&["`--side base`"]);
    place.duet(&["export", "r1", "--as", "go", "--side", "both"]).expect(2).says(&["`duet show r1 --format go`"]);
    place.duet(&["export", "r1", "--as", "parquet", "--side", "baseline"]).expect(2).says(&["the column `side`"]);
    place.duet(&["export", "r2", "--as", "jmh", "--side", "baseline"]).expect(2).says(&["`r2` measured one version"]);
    place.duet(&["export", "sort.json", "--as", "jmh", "--side", "both"]).expect(2).says(&["`sort.json` is a file"]);
}

#[test]
fn what_cannot_be_written_says_why() {
    let place = place();
    place.duet(&["export", "r1", "--as", "criterion"]).expect(2).says(&["`--output DIR`"]);
    place.duet(&["export", "r9", "--as", "jmh"]).expect(1).says(&["r9"]);
    place.duet(&["export", "nowhere.json", "--as", "jmh"]).expect(1).says(&["nowhere.json"]);
    place.duet(&["export", "r1", "--as", "jmh", "-o", "no/such/folder.json"]).expect(1).says(&["no/such/folder.json"]);
    place.duet(&["export", "r1"]).expect(2).says(&["--as"]);
    let known = place.duet(&["export", "r1", "--as", "nosuch"]).expect(2).stderr;
    assert!(known.contains("pyperf") && !known.contains(" csv,"), "{known}");
    place.duet(&["export", "r1", "--as", "csv"]).expect(2).says(&["`duet show --format csv` writes it"]);
}

/// A report in the form of this name.
fn written(report: &Report, form: &str) -> Result<Written, FormatError> {
    let writer = named(form).and_then(|tool| tool.writer.as_ref()).unwrap();
    writer.report.unwrap()(report)
}

fn text(written: Written) -> String {
    match written.content {
        Content::File(bytes) => String::from_utf8(bytes).unwrap(),
        Content::Folder(_) => panic!("a folder"),
    }
}

#[test]
fn reports_of_comparisons_are_sealed() {
    let sealed = [("bmf", "everything.bmf.json"), ("github-action-benchmark", "everything.github-action.json")];
    for (form, golden) in sealed {
        golden_files::check(golden, &text(written(&everything(), form).unwrap()));
        assert!(written(&empty(), form).is_err());
    }
}
