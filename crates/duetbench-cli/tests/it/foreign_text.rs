//! Names and words from outside in whole outputs: whatever they hold, they are one line of visible characters, and do nothing where they are shown.

use std::io::Write;

use duetbench_cli::render::palette::Palette;
use duetbench_cli::render::text::Look;
use duetbench_cli::render::{csv, gobench, markdown, sarif, text};
use duetbench_core::report::BenchmarkReport;
use duetbench_core::reported::ReportedMetric;
use duetbench_core::{Report, Verdict};
use serde_json::Value;

use crate::common::{Place, Ran};
use crate::render_support::{everything, on_a_fleet, profiled, with_instructions, with_units};

/// Colours a terminal and sets its title, goes back to the start of the line, begins a workflow command, and turns the reading order round.
const HOSTILE: &str =
    "\u{1b}[31m\u{1b}]0;title\u{7}\r\n::error::owned\u{9b}2J\u{202e}txet\u{2066}\u{200d}\u{2028}\u{ad}";

/// Fails unless every line is one that we may print.
#[track_caller]
fn check(what: &str, output: &str) {
    for line in output.split('\n') {
        let odd = line.chars().find(|c| match c {
            '\t' => false,
            // With it Markdown's links and mentions are broken up.
            '\u{200b}' => !what.contains("markdown"),
            c => c.is_control() || matches!(c, '\u{ad}' | '\u{200c}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'),
        });
        assert_eq!(odd, None, "{what}: {line:?}");
        assert!(!line.starts_with("::"), "{what}: {line:?}");
    }
}

/// Appends what is hostile to every text of a report that comes from outside.
fn infected(report: &Report) -> Report {
    const FOREIGN: [&str; 14] = [
        "name", "package", "requested", "resolved", "cpu_model", "kernel", "toolchain", "duet_version", "mode_reason",
        "reason", "harness_args", "warnings", "function", "unit",
    ];
    fn walk(value: &mut Value, foreign: bool) {
        match value {
            Value::String(text) if foreign => text.push_str(HOSTILE),
            Value::Array(all) => all.iter_mut().for_each(|one| walk(one, foreign)),
            Value::Object(all) => {
                let is_breach = all.contains_key("standing");
                for (key, one) in all.iter_mut() {
                    if is_breach && key == "change" && one.is_null() {
                        *one = 9.5.into();
                    }
                    let is_text = one.is_string() || one.as_array().is_some_and(|a| a.iter().all(Value::is_string));
                    walk(one, is_text && FOREIGN.contains(&key.as_str()));
                }
            }
            _ => {}
        }
    }
    let mut report = report.clone();
    // An infinite value is no number in JSON.
    report.reported.retain(|one| serde_json::from_value::<ReportedMetric>(serde_json::to_value(one).unwrap()).is_ok());
    report
        .benchmarks
        .retain(|one| serde_json::from_value::<BenchmarkReport>(serde_json::to_value(one).unwrap()).is_ok());
    assert!(!report.benchmarks.is_empty());
    let mut value = serde_json::to_value(report).unwrap();
    // These are no names of anybody's, but words of ours.
    let kept = value["spec"]["harness"]["name"].take();
    walk(&mut value, false);
    value["spec"]["harness"]["name"] = kept;
    serde_json::from_value(value).unwrap()
}

#[test]
fn no_format_of_a_report_lets_anything_through() {
    for report in [everything(), with_units(), on_a_fleet(), profiled(), with_instructions()] {
        let report = infected(&report);
        check("text", &text::render(&report, &Palette::plain(), Look::default()));
        check(
            "text, narrow",
            &text::render(&report, &Palette::plain(), Look { width: Some(80), plot: true, all: true }),
        );
        check("markdown", &markdown::render(&report));
        check("csv", &csv::render(&report));
        check("go", &gobench::render(&report));
        check("sarif", &sarif::render(&report, &sarif::Sites::default()));
    }
}

#[test]
fn no_command_lets_a_hostile_name_through() {
    let place = Place::new();
    let name = format!("x{HOSTILE}");
    let check = |ran: Ran, what: &str| {
        check(what, &ran.stdout);
        check(what, &ran.stderr);
    };
    let measured = ["--command-name", &name, "--forks", "3", "--fixed"];
    let line = format!("true '{HOSTILE}'");
    for extra in [&["--dry-run"][..], &[]] {
        check(place.duet(&[&["compare", "--command", &line, &line][..], &measured, extra].concat()), "compare");
    }
    let alone = ["--command-name", &name, "--suite-runs", "2", "--forks", "2", "--iterations", "3"];
    for extra in [&["--dry-run"][..], &[]] {
        check(place.duet(&[&["run", "--command", &line][..], &alone, extra].concat()), "run");
    }
    check(place.duet(&["list", "--command", &line, "--command-name", &name]), "list");
    check(place.duet(&["list", "--command", "false", "--command-name", &name]), "list of what fails");
    for format in ["text", "markdown", "csv", "go"] {
        for run in ["r1", "r2"] {
            check(place.duet(&["show", run, "--format", format]), &format!("show {format}"));
        }
        if format != "go" {
            check(place.duet(&["tune", "r2", "--format", format]), &format!("tune {format}"));
            check(
                place.duet(&["analyze", "r2", "r2", "--method", "both", "--format", format]),
                &format!("detect {format}"),
            );
        }
    }
    check(place.duet(&["show", &name]), "show");
    check(place.duet(&["compare", &name, "."]), "compare");
    check(place.duet(&["compare", "--bench", &name, "--command", "true", "true"]), "compare");
    place.write("duet.toml", &format!("threshold = {:?}", "a\u{202e}b\u{7}"));
    check(place.duet(&["show"]), "duet.toml");
}

#[test]
fn the_holder_of_the_lock_cannot_speak_for_us() {
    let place = Place::new();
    let lock = place.path().join("lock");
    let us = std::process::id();
    let hostile = [
        (format!("evil {HOSTILE}"), "on this machine\n"),
        (format!("process 1 in `/gone` {HOSTILE}"), "on this machine\n"),
        (format!("process {us} in `/here{HOSTILE}` run this"), ": process"),
    ];
    for (words, told) in hostile {
        let mut file = std::fs::File::create(&lock).unwrap();
        file.write_all(words.as_bytes()).unwrap();
        file.lock().unwrap();
        let mut command = place.command(&["compare", "--command", "true", "true", "--no-wait"]);
        let ran = Ran::from(command.env("DUET_LOCK", &lock).output().unwrap()).expect(1).says(&[told]);
        assert!(!ran.stderr.contains("evil") && !ran.stderr.contains("run this"), "{}", ran.stderr);
        check("lock", &ran.stderr);
    }
}

#[test]
fn cells_that_would_be_formulas_are_text() {
    let mut report = everything();
    let formulas = ["=HYPERLINK(1)", "+1+cmd|x", "@SUM(1)", "-2+3", "\t=1"];
    for (benchmark, name) in report.benchmarks.iter_mut().zip(formulas) {
        (benchmark.id.name, benchmark.id.package) = (name.into(), name.into());
    }
    let csv = csv::render(&report);
    for line in csv.lines().skip(1).take(formulas.len()) {
        assert!(line.starts_with(['\'', '"']) && line.contains(",'"), "{line}");
    }
    assert!(!csv.contains("'-0.") && !csv.contains("'0"), "{csv}");
}

#[test]
fn a_pipe_in_a_command_is_escaped_in_tables_alone() {
    let mut report = everything();
    let regressed = |b: &&mut BenchmarkReport| b.verdict == Verdict::Regression;
    report.benchmarks.iter_mut().filter(regressed).for_each(|b| b.id.name = "BenchmarkA|B".into());
    let page = markdown::render(&report);
    assert!(page.contains(r"| `codec.A\|B` |"), "{page}");
    assert!(page.contains(r"--bench '^BenchmarkA\|B$' --forks"), "the pattern's own backslash is missing\n{page}");
    assert!(!page.contains(r"A\\|B"), "{page}");
}

#[test]
fn very_long_names_leave_room_for_what_is_said_of_them() {
    let mut report = everything();
    report.benchmarks[0].id.name = format!("Benchmark{}", "x".repeat(3000));
    let page = text::render(&report, &Palette::plain(), Look::default());
    let longest = page.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(longest < 700, "{longest}");
    let place = Place::new();
    let name = "x".repeat(3000);
    for (seed, ns) in [("1", 100.0), ("2", 100.1)] {
        let script = format!(r#"{{"Benchmark{name}": {{"baseline_ns": {ns}, "candidate_ns": {ns}, "spread": 0.01}}}}"#);
        place.write("script.json", &script);
        let shape = ["--suite-runs", "3", "--forks", "2", "--iterations", "3", "--seed", seed];
        place.duet(&[&["run", "--scripted", "script.json"][..], &shape].concat()).expect(0);
    }
    for words in ["show r1", "tune r1", "tune r1 --metric all", "detect r1 r2", "analyze r1 r2"] {
        let words: Vec<&str> = words.split(' ').collect();
        let rows = place.duet(&words).stdout;
        let rows: Vec<usize> =
            rows.lines().filter(|line| line.contains("xxx")).map(|line| line.chars().count()).collect();
        assert!(!rows.is_empty() && rows.iter().all(|width| *width < 500), "{words:?} {rows:?}");
        let whole = place.duet(&[&words[..], &["--format", "csv"]].concat()).stdout;
        assert!(whole.contains(&name), "{words:?}");
    }
    let flood = "sh -c 'i=0; while [ $i -lt 400 ]; do printf 0123456789; i=$((i+1)); done; exit 1'";
    let listed = place.duet(&["list", "--command", flood, "--command-name", &"y".repeat(3000)]).expect(1).stdout;
    assert!(listed.chars().count() < 800, "{}", listed.len());
}
