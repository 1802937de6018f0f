//! `duet run` and plan files with outcomes by script: what is measured how often, what is printed, and that a run that was killed
//! ends as if nobody had disturbed it.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use duetbench_cli::assemble::solo_report;
use duetbench_cli::options::Format;
use duetbench_cli::render::palette::Palette;
use duetbench_cli::render::solo;
use duetbench_core::SoloReport;
use duetbench_core::noise::{Finding, Kind, Severity};
use duetbench_run::store::Store;
use serde_json::Value;

use crate::common::{Place, Ran, trials};
use crate::schema::{RUN, assert_keeps_to};

const SCRIPT: &str = r#"{
    "BenchmarkFast": {"baseline_ns": 1, "candidate_ns": 100, "spread": 0.02, "allocs": [0, 3]},
    "BenchmarkSlow": {"baseline_ns": 1, "candidate_ns": 5000, "spread": 0.01},
    "BenchmarkOld": {"baseline_ns": 1}
}"#;

fn run(place: &Place, script: &str, args: &[&str]) -> Ran {
    place.write("script.json", script);
    place.duet(&[&["run", "--scripted", "script.json", "--seed", "1"], args].concat())
}

/// Iterations of every process of a benchmark in a JSON report.
#[track_caller]
fn iterations(ran: &Ran, name: &str) -> BTreeMap<(u64, u64), usize> {
    assert_keeps_to(RUN, &ran.json());
    let benchmark = ran.benchmark(name);
    let forks = benchmark["forks"].as_array().unwrap().clone();
    let place = |fork: &Value| (fork["suite_run"].as_u64().unwrap(), fork["fork"].as_u64().unwrap());
    forks.iter().map(|fork| (place(fork), fork["iterations_ns"].as_array().unwrap().len())).collect()
}

#[test]
fn what_disturbed_a_run_is_told_below_its_table() {
    let place = Place::new();
    run(&place, SCRIPT, &[]).expect(0);
    let store = Store::open_to_read(&place.path().join(".duet/duet.db")).unwrap();
    let mut report = solo_report(store.load("r1").unwrap().solo().unwrap());
    let text = |report: &SoloReport| solo::document(report).write(Format::Text, &Palette::plain(), None).unwrap();
    report.noise.findings.clear();
    assert!(!text(&report).contains("noise:"));
    report.noise.findings = vec![Finding { kind: Kind::Migrated { times: 3 }, severity: Severity::Severe }];
    let told = text(&report);
    assert!(told.lines().last().is_some_and(|line| line.starts_with("noise: severe: ")), "{told}");
}

#[test]
fn everything_is_measured_as_often_as_was_asked_for() {
    let place = Place::new();
    let args = ["--suite-runs", "4", "--forks", "2", "--iterations", "6", "--warmup", "3", "--format", "json"];
    let ran = run(&place, SCRIPT, &args).expect(0);
    for name in ["BenchmarkFast", "BenchmarkSlow"] {
        let all = iterations(&ran, name);
        let want: BTreeMap<(u64, u64), usize> = (0..4).flat_map(|s| (0..2).map(move |f| ((s, f), 6))).collect();
        assert_eq!(all, want, "{name}");
    }
    let report = ran.json();
    assert_eq!((report["complete"].clone(), report["kind"].clone()), (true.into(), "run".into()));
    // One that only the other version has is not there.
    assert_eq!(report["benchmarks"].as_array().unwrap().len(), 2);
    assert_eq!(ran.benchmark("BenchmarkFast")["allocs_per_op"], 3.0);
    let again = run(&Place::new(), SCRIPT, &args).expect(0);
    assert_eq!(essence(&again), essence(&ran), "the same seed gives the same run");
}

#[test]
fn a_run_of_one_version_is_shown_again_in_every_format() {
    let place = Place::new();
    let text = run(&place, SCRIPT, &["--format", "text"]).expect(0).says(&["`duet tune r1`"]);
    for word in ["benchmark", "Fast", "sec/op", "between forks", "15 in 3 forks"] {
        assert!(text.stdout.contains(word), "{}", text.stdout);
    }
    assert_eq!(place.duet(&["show", "r1"]).expect(0).stdout, text.stdout);
    let csv = place.duet(&["show", "r1", "--format", "csv"]).expect(0).stdout;
    assert!(csv.starts_with("package,name,median_ns,") && csv.lines().count() == 3, "{csv}");
    let go = place.duet(&["show", "r1", "--format", "go"]).expect(0).stdout;
    let lines: Vec<&str> = go.lines().filter(|line| line.starts_with("BenchmarkFast\t")).collect();
    assert_eq!(lines.len(), 3, "a line for every process\n{go}");
    assert!(lines.iter().all(|line| line.contains(" ns/op\t48 B/op\t3 allocs/op")), "{go}");
    let markdown = place.duet(&["show", "r1", "--format", "markdown"]).expect(0).stdout;
    assert!(markdown.contains("| `Fast` |"), "{markdown}");
}

#[test]
fn a_run_of_one_version_cannot_be_judged_and_a_comparison_is_not_one() {
    let place = Place::new();
    run(&place, SCRIPT, &[]).expect(0);
    place.duet(&["analyze", "r1"]).expect(2).says(&["`r1` measured one version", "`duet tune r1`", "duet analyze r1"]);
    place.duet(&["compare", "--resume", "r1"]).expect(2).says(&["`r1` measured one version"]);
    place.duet(&["run", "--resume", "r1"]).expect(2).says(&["`r1` came to its end"]);
    place.scripted(r#"{"BenchmarkA": {"baseline_ns": 1, "candidate_ns": 1}}"#, &[]).expect(0);
    place.duet(&["run", "--resume", "r2"]).expect(2).says(&["`r2` is a comparison", "`duet compare --resume r2`"]);
}

#[test]
fn what_cannot_be_measured_is_refused_before_anything_is() {
    let place = Place::new();
    for (args, words) in [
        (["--suite-runs", "0"], "`suite-runs` is 0"),
        (["--iterations", "3000"], "`iterations` is 3000"),
        (["--seconds", "0"], "longer than nothing"),
        (["--bench", "("], "regular expression"),
        (["--bench", "Nothing"], "no benchmark is left"),
    ] {
        let ran = run(&place, SCRIPT, &args);
        assert!(ran.code != 0 && ran.stderr.contains(words), "{args:?}: {}", ran.stderr);
    }
    assert!(!place.path().join(".duet").exists());
    run(&place, SCRIPT, &["--dry-run", "--bench", "Typo"])
        .expect(1)
        .says(&["no benchmark is left after `--bench Typo`"]);
}

#[test]
fn failures_are_gaps_and_what_never_works_is_given_up() {
    let script = r#"{
        "BenchmarkBroken": {"candidate_ns": 100, "failure": "no luck today"},
        "BenchmarkFlaky": {"candidate_ns": 100, "failure_in": 1},
        "BenchmarkGood": {"candidate_ns": 100}
    }"#;
    let ran = run(&Place::new(), script, &["--suite-runs", "4", "--format", "json"]).expect(1);
    assert_eq!(iterations(&ran, "BenchmarkGood").len(), 4);
    assert_eq!(iterations(&ran, "BenchmarkFlaky").into_keys().map(|at| at.0).collect::<Vec<_>>(), [0, 2, 3]);
    assert_eq!(ran.benchmark("BenchmarkBroken")["failures"].as_array().unwrap().len(), 2);
    assert_eq!(ran.benchmark("BenchmarkBroken")["median_ns"], Value::Null);
}

#[test]
fn a_dry_run_says_what_would_be_measured_and_how_long_it_takes() {
    let place = Place::new();
    let args = ["--dry-run", "--suite-runs", "2", "--iterations", "4", "--seconds", "0.5", "--warmup", "1"];
    let out = run(&place, SCRIPT, &args).expect(0).stdout;
    // Four iterations, one to warm up, one to calibrate.
    for words in [
        "BenchmarkFast: suite runs 2 × forks 1 × iterations 4 of 500ms after 1 to warm up, 6.0s",
        "2 benchmarks, about 12.1s",
    ] {
        assert!(out.contains(words), "{out}");
    }
    assert!(!place.path().join(".duet").exists());
}

/// A report without what may differ between two runs on the same data.
fn essence(ran: &Ran) -> Value {
    let mut report = ran.json();
    for key in ["run", "started", "measured_s", "environment"] {
        assert!(report.as_object_mut().unwrap().remove(key).is_some(), "there is no `{key}`");
    }
    report
}

#[test]
fn a_run_that_is_killed_again_and_again_ends_like_one_that_nobody_disturbed() {
    let part = |name: &str, more: &str| {
        format!(r#""Benchmark{name}": {{"candidate_ns": 100, "spread": 0.03, "pause_us": 2000{more}}}"#)
    };
    let parts = [part("A", ""), part("B", r#", "failure_in": 3"#), part("C", r#", "failure": "never""#), part("D", "")];
    let script = format!("{{{}}}", parts.join(","));
    // Different numbers of suite runs, so that not everybody takes part every time.
    let plan = plan_file(&[("A", (9, 2)), ("B", (5, 1)), ("C", (7, 1)), ("D", (2, 3))]);
    let args = ["--plan", "plan.toml", "--format", "json"];
    let calm = Place::new();
    calm.write("plan.toml", &plan);
    let calm = essence(&run(&calm, &script, &args).expect(1));
    let mut kills = 0;
    for step in 1..6 {
        let place = Place::new();
        place.write("plan.toml", &plan).write("script.json", &script);
        let begin = [&["run", "--scripted", "script.json", "--seed", "1"], &args[..]].concat();
        let go_on = ["run", "--scripted", "script.json", "--resume", "latest", "--format", "json"];
        loop {
            let begun = trials(&place) > 0;
            let mut child = place
                .command(if begun { &go_on } else { &begin })
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let goal = trials(&place) + step;
            let ended = loop {
                if let Some(status) = child.try_wait().unwrap() {
                    break Some(status);
                }
                if trials(&place) >= goal {
                    let _ = child.kill();
                    break None;
                }
                std::thread::sleep(Duration::from_millis(1));
            };
            child.wait().unwrap();
            if let Some(status) = ended {
                // It may have been killed after its end and before its report.
                assert!([Some(1), Some(2)].contains(&status.code()), "{status}");
                break;
            }
            kills += 1;
        }
        let ran = place.duet(&["show", "latest", "--format", "json"]).expect(1);
        assert_eq!(essence(&ran), calm, "killed after every {step} trials");
    }
    assert!(kills > 10, "{kills}");
}

#[test]
fn an_interrupted_run_says_how_to_go_on() {
    let place = Place::new();
    let script = |more: &str| format!(r#"{{"BenchmarkA": {{"candidate_ns": 100{more}}}}}"#);
    let args = ["--suite-runs", "6", "--format", "json"];
    let ran = run(&place, &script(r#", "interrupt_in": 3"#), &args).expect(130).says(&["`duet run --resume r1`"]);
    assert_eq!((iterations(&ran, "BenchmarkA").len(), ran.json()["complete"].clone()), (3, false.into()));
    place.write("script.json", &script(""));
    let ran = place.duet(&["run", "--resume", "r1", "--scripted", "script.json", "--format", "json"]).expect(0);
    assert_eq!((iterations(&ran, "BenchmarkA").len(), ran.json()["complete"].clone()), (6, true.into()));
}

/// A plan file with these suite runs and forks of benchmarks of these names.
fn plan_file(entries: &[(&str, (u32, u32))]) -> String {
    let mut text = "format = 1\n\n[learnt]\ndate = \"2026-11-22\"\nfrom = [\"r1\"]\nmetric = \"rciw3\"\nthreshold = 0.01\nconfidence = 0.99\n".to_owned();
    for (name, (suite_runs, forks)) in entries {
        text += &format!(
            "\n[[benchmark]]\nname = \"example.com/scripted.Benchmark{name}\"\nsuite_runs = {suite_runs}\nforks = {forks}\niterations = 3\nwarmup = 1\niteration_s = 0.1\nstability = 0.005\nstable = true\n"
        );
    }
    text
}

#[test]
fn a_run_measures_as_often_as_its_plan_says() {
    let place = Place::new();
    place.write("plan.toml", &plan_file(&[("Fast", (5, 2)), ("Gone", (1, 1))]));
    let args = ["--plan", "plan.toml", "--suite-runs", "2", "--iterations", "4", "--format", "json"];
    let ran = run(&place, SCRIPT, &args)
        .expect(0)
        .says(&["not in `plan.toml`", "BenchmarkSlow", "but not found", "BenchmarkGone"]);
    let fast = iterations(&ran, "BenchmarkFast");
    assert_eq!((fast.len(), fast.values().copied().collect::<Vec<_>>()), (10, vec![3; 10]));
    let slow = iterations(&ran, "BenchmarkSlow");
    assert_eq!((slow.len(), slow.values().copied().collect::<Vec<_>>()), (2, vec![4; 2]));
    // By a variable and by the file of settings too.
    place.write("duet.toml", "plan = 'plan.toml'\n");
    let ran = run(&place, SCRIPT, &["--format", "json"]).expect(0);
    assert_eq!(iterations(&ran, "BenchmarkFast").len(), 10);
    place.write("plan.toml", &plan_file(&[("Fast", (5, 0))]));
    run(&place, SCRIPT, &[]);
    let ran = run(&place, SCRIPT, &[]);
    assert!(ran.code != 0 && ran.stderr.contains("plan.toml") && ran.stderr.contains("`forks`"), "{}", ran.stderr);
}

/// Fork pairs of a benchmark in the report of a comparison.
#[track_caller]
fn fork_pairs(ran: &Ran, name: &str) -> usize {
    ran.benchmark(name)["forks"].as_array().unwrap().len()
}

const PAIRS: &str = r#"{
    "BenchmarkA": {"baseline_ns": 100, "candidate_ns": 101, "spread": 0.05},
    "BenchmarkB": {"baseline_ns": 100, "candidate_ns": 101, "spread": 0.05},
    "BenchmarkC": {"baseline_ns": 100, "candidate_ns": 101, "spread": 0.05},
    "BenchmarkClear": {"baseline_ns": 100, "candidate_ns": 150, "spread": 0.001},
    "BenchmarkNew": {"baseline_ns": 100, "candidate_ns": 101, "spread": 0.05}
}"#;

#[test]
fn a_comparison_begins_with_the_fork_pairs_that_its_plan_says() {
    let place = Place::new();
    place.write("plan.toml", &plan_file(&[("A", (3, 4)), ("B", (1, 1)), ("C", (5, 1)), ("Clear", (20, 1))]));
    let args = ["--plan", "plan.toml", "--forks", "9", "--threshold", "1%", "--format", "json"];
    let ran = place.scripted(PAIRS, &[&args[..], &["--fixed"]].concat()).expect(3).says(&["BenchmarkNew"]);
    let all = ["A", "B", "C", "Clear", "New"].map(|name| fork_pairs(&ran, &format!("Benchmark{name}")));
    // Never fewer than four, and those that are not planned as was asked for all.
    assert_eq!(all, [12, 4, 5, 20, 9]);
    // A benchmark whose verdict is clear sooner ends sooner, and one that varies too much for any.
    let ran = place.scripted(PAIRS, &args).expect(3);
    let all = ["A", "B", "C", "Clear", "New"].map(|name| fork_pairs(&ran, &format!("Benchmark{name}")));
    assert!(all[3] < 20, "{all:?}");
    assert_eq!(all[..3], [4, 4, 4]);
}

#[test]
fn trials_of_a_planned_comparison_are_mixed_to_its_end() {
    let place = Place::new();
    place.write(
        "plan.toml",
        &plan_file(&[("A", (6, 1)), ("B", (6, 1)), ("C", (12, 1)), ("Clear", (6, 1)), ("New", (6, 1))]),
    );
    place.scripted(PAIRS, &["--plan", "plan.toml", "--fixed"]).expect(3);
    let store = rusqlite::Connection::open(place.path().join(".duet/duet.db")).unwrap();
    let mut statement = store.prepare("SELECT benchmark FROM trials WHERE round = 0 ORDER BY id").unwrap();
    let order: Vec<i64> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(order.len(), 4 * 6 + 12);
    // Three benchmarks in each of twelve suite runs, `C` among them every time.
    for (number, members) in order.chunks(3).enumerate() {
        let mut members = members.to_vec();
        members.sort_unstable();
        members.dedup();
        assert!(members.len() == 3 && members.contains(&2), "suite run {number}: {members:?}");
    }
}

#[test]
fn a_planned_comparison_that_was_interrupted_ends_like_one_that_was_not() {
    let plan = plan_file(&[("A", (12, 1)), ("B", (1, 1)), ("C", (5, 1)), ("Clear", (20, 1))]);
    // More of them may show a change, so that it is measured to the end.
    let pairs = PAIRS.replace("101", "104");
    let args = ["--plan", "plan.toml", "--threshold", "1%", "--format", "json"];
    let calm = Place::new();
    calm.write("plan.toml", &plan);
    let calm = essence(&calm.scripted(&pairs, &args).expect(3));
    for suite_run in [0, 2, 3, 7] {
        let place = Place::new();
        place.write("plan.toml", &plan);
        let interrupted = pairs.replacen("\"spread\"", &format!("\"interrupt_in\": {suite_run}, \"spread\""), 1);
        place.scripted(&interrupted, &args).expect(130);
        place.write("script.json", &pairs);
        let ran = place.duet(&["compare", "--scripted", "script.json", "--resume", "r1", "--format", "json"]).expect(3);
        assert_eq!(essence(&ran), calm, "interrupted in suite run {suite_run}");
    }
}
