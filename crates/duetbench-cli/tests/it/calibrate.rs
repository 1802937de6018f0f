//! `duet calibrate` with outcomes by script: what it says and keeps, what later reports make of it, and what it refuses.

use crate::common::{Place, Ran};
use crate::schema::{CALIBRATE, departures, departures_from};

const SCRIPT: &str = r#"{
    "BenchmarkA": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002},
    "BenchmarkB": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.02}
}"#;

fn calibrate(place: &Place, script: &str, args: &[&str]) -> Ran {
    place.write("script.json", script);
    place.duet(&[&["calibrate", "--scripted", "script.json", "--seed", "1"], args].concat())
}

/// Changes what the store says.
fn execute(place: &Place, sql: &str) {
    rusqlite::Connection::open(place.path().join(".duet/duet.db")).unwrap().execute_batch(sql).unwrap();
}

const OTHER_KERNEL: &str = "UPDATE calibrations SET machine = json_set(machine, '$.kernel', 'of old')";

#[test]
fn a_version_is_measured_against_itself_and_what_it_sees_is_said() {
    let place = Place::new();
    let ran = calibrate(&place, SCRIPT, &[]).expect(0);
    for word in [
        "baseline (scripted baseline) against itself",
        "with 30s per benchmark you will see",
        "median of 2",
        "called changed",
    ] {
        assert!(ran.stdout.contains(word), "`{word}` is missing\n{}", ran.stdout);
    }
    let run = place.duet(&["show", "r1", "--format", "json"]);
    assert_eq!(run.json()["versions"]["baseline"], run.json()["versions"]["candidate"]);
    assert_eq!(run.json()["request"]["fixed"], true);
    assert_eq!(run.benchmark("BenchmarkA")["forks"].as_array().unwrap().len(), 20);
}

#[test]
fn programs_are_told_everything() {
    let place = Place::new();
    let ran = calibrate(&place, SCRIPT, &["--format", "json", "--seen-after", "2s,1m"]).expect(0);
    assert_eq!(departures_from(CALIBRATE, &ran.json()), Vec::<String>::new());
    assert_eq!(ran.json()["budgets_s"], serde_json::json!([2.0, 60.0]));
    let sees = |name: &str, budget: usize| {
        ran.benchmark(name)["sights"][budget]["minimal_detectable_change"].as_f64().unwrap()
    };
    assert!(sees("BenchmarkA", 0) < sees("BenchmarkB", 0), "less spread sees more");
    assert!(sees("BenchmarkB", 1) <= sees("BenchmarkB", 0), "more time sees more");
    let fork = |name: &str| ran.benchmark(name)["sources"]["fork"].as_f64().unwrap();
    // The script's pattern of five forks has a standard deviation of 0.79 spreads.
    assert!((fork("BenchmarkB") / 0.02 - 0.79).abs() < 0.2, "{}", fork("BenchmarkB"));
    assert!((fork("BenchmarkB") / fork("BenchmarkA") - 10.0).abs() < 0.5);
    let called = &ran.json()["alarms"]["called_changed"];
    assert_eq!(called["times"], 0);
    assert!(called["of"].as_u64().unwrap() > 0 && called["high"].as_f64().unwrap() < 1.0, "{called}");
}

#[test]
fn every_format_but_that_of_go_is_written() {
    let place = Place::new();
    calibrate(&place, SCRIPT, &[]).expect(0);
    let again = |format: &str| place.duet(&["calibrate", "--run", "latest", "--format", format]);
    assert!(
        again("markdown")
            .expect(0)
            .stdout
            .starts_with("### duet calibrate: baseline (scripted baseline) against itself")
    );
    assert!(again("csv").expect(0).stdout.starts_with("package,name,mode,layout,fork,slice,"));
    again("go").expect(2);
    let elsewhere = Place::new();
    calibrate(&elsewhere, SCRIPT, &["--format", "go"]).expect(2).says(&["cannot be written as Go benchmark text"]);
    assert!(!elsewhere.path().join(".duet").exists(), "what cannot be written is not measured");
}

#[test]
fn later_reports_say_what_can_be_seen() {
    let place = Place::new();
    let before = place.scripted(SCRIPT, &["--format", "json"]);
    assert_eq!(before.json().get("calibration"), None);
    calibrate(&place, SCRIPT, &[]).expect(0);
    let compared = place.scripted(SCRIPT, &["--format", "json"]);
    assert_eq!(departures(&compared.json()), Vec::<String>::new());
    let note = &compared.json()["calibration"];
    assert_eq!(
        (&note["run"], &note["changed"], &note["benchmarks"]),
        (&"r2".into(), &serde_json::json!([]), &2.into())
    );
    assert!(note["seen"]["median"].as_f64().unwrap() > 0.0);
    for again in [vec!["show", "r1"], vec!["analyze", "r1", "--threshold", "5%"]] {
        let text = place.duet(&again).stdout;
        assert!(text.contains("sight:") && text.contains("by the calibration of run r2"), "{again:?}\n{text}");
    }
    let markdown = place.duet(&["show", "--format", "markdown"]).stdout;
    assert!(markdown.contains("by the calibration of run r2"), "{markdown}");
}

#[test]
fn a_calibration_of_other_benchmarks_says_nothing() {
    let place = Place::new();
    calibrate(&place, &SCRIPT.replace("Benchmark", "BenchmarkOther"), &[]).expect(0);
    assert_eq!(place.scripted(SCRIPT, &["--format", "json"]).json().get("calibration"), None);
}

#[test]
fn on_another_machine_it_says_what_changed() {
    let place = Place::new();
    calibrate(&place, SCRIPT, &[]).expect(0);
    execute(&place, OTHER_KERNEL);
    let ran = place.scripted(SCRIPT, &["--format", "json"]);
    let changed = &ran.json()["calibration"]["changed"];
    assert_eq!((&changed[0]["fact"], &changed[0]["then"]), (&"kernel".into(), &"of old".into()), "{changed}");
    let text = place.duet(&["show"]).stdout;
    assert!(text.contains("kernel of old is now") && text.contains("`duet calibrate` again"), "{text}");
    // One that was made here says more than a newer one that was not.
    calibrate(&place, SCRIPT, &[]).expect(0);
    place.duet(&["calibrate", "--run", "r1"]).expect(0);
    execute(&place, &format!("{OTHER_KERNEL} WHERE id = (SELECT max(id) FROM calibrations)"));
    assert_eq!(place.duet(&["show", "--format", "json"]).json()["calibration"]["run"], "r3");
}

#[test]
fn it_is_made_again_only_where_something_changed() {
    let place = Place::new();
    let if_changed = |script: &str| calibrate(&place, script, &["--if-changed"]).expect(0);
    assert!(if_changed(SCRIPT).stdout.contains("you will see"), "there was none");
    let again = if_changed(SCRIPT).says(&["nothing has changed since the calibration of run r1"]);
    assert_eq!(again.stdout, "");
    place.duet(&["show", "r2"]).expect(1);
    let fewer = r#"{"BenchmarkA": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002}}"#;
    let measured = if_changed(fewer).says(&["calibrating again, since the benchmarks are not the same", "run r2"]);
    assert!(measured.stdout.contains("you will see"));
    execute(&place, OTHER_KERNEL);
    if_changed(SCRIPT).says(&["the kernel is not the same", "run r3"]);
}

#[test]
fn one_that_learnt_nothing_is_not_kept() {
    let place = Place::new();
    let short = calibrate(&place, SCRIPT, &["--forks", "2"]).expect(1).says(&["is not kept"]);
    assert!(
        short.stdout.contains("nothing: too few fork pairs") && !short.stdout.contains("too short"),
        "{}",
        short.stdout
    );
    place.duet(&["calibrate", "--see", "3%"]).expect(1).says(&["there is no calibration"]);
    // The next one is measured, and stays the one that counts after another such run.
    calibrate(&place, SCRIPT, &["--if-changed"]).expect(0);
    calibrate(&place, SCRIPT, &["--forks", "2"]).expect(1);
    calibrate(&place, SCRIPT, &["--if-changed"])
        .expect(0)
        .says(&["nothing has changed since the calibration of run r2"]);
    assert_eq!(place.duet(&["calibrate", "--see", "3%", "--format", "json"]).json()["calibration"]["run"], "r2");
}

#[test]
fn one_that_is_interrupted_goes_on_and_comes_to_the_same() {
    let place = Place::new();
    let interrupting = SCRIPT.replace("0.02}", r#"0.02, "interrupt_in": 4}"#);
    let ran = calibrate(&place, &interrupting, &[])
        .expect(130)
        .says(&["`duet calibrate --resume r1`", "nothing is calibrated"]);
    assert_eq!(ran.stdout, "");
    place
        .duet(&["calibrate", "--run", "r1"])
        .expect(2)
        .says(&["did not come to its end", "`duet calibrate --resume r1`"]);
    place.write("script.json", SCRIPT);
    let resumed =
        place.duet(&["calibrate", "--resume", "r1", "--scripted", "script.json", "--format", "csv"]).expect(0);
    let at_once = calibrate(&Place::new(), SCRIPT, &["--format", "csv"]).expect(0);
    assert_eq!(resumed.stdout, at_once.stdout);
    place.duet(&["calibrate", "--resume", "r1"]).expect(2).says(&["`duet calibrate --run r1`"]);
}

#[test]
fn a_stored_run_is_calibrated_from_without_measuring() {
    let place = Place::new();
    let first = calibrate(&place, SCRIPT, &["--format", "csv"]).expect(0);
    let again = place.duet(&["calibrate", "--run", "r1", "--format", "csv"]).expect(0);
    assert_eq!(first.stdout, again.stdout);
    place.duet(&["show", "r2"]).expect(1);
}

#[test]
fn runs_that_tell_nothing_are_refused() {
    let place = Place::new();
    place.duet(&["calibrate", "--run", "latest"]).expect(1).says(&["nothing has been measured here"]);
    place.scripted(SCRIPT, &[]);
    let refused = |words: &[&str]| drop(place.duet(&["calibrate", "--run", "r1"]).expect(2).says(words));
    refused(&["compares two versions, `scripted baseline` and `scripted candidate`", "hint: `duet calibrate`"]);
    execute(&place, "UPDATE runs SET head = json_set(head, '$.candidate.resolved', 'scripted baseline')");
    refused(&["ended benchmarks as soon as their answer was known", "`duet calibrate` measures all fork pairs"]);
    place.duet(&["run", "--scripted", "script.json"]).expect(0);
    place.duet(&["calibrate", "--run", "r2"]).expect(2).says(&["measured one version"]);
    place.duet(&["calibrate", "--run", "r9"]).expect(1).says(&["`r9`"]);
}

#[test]
fn what_fails_is_named_and_the_rest_is_calibrated() {
    let place = Place::new();
    let failing = SCRIPT.replace("0.02}", r#"0.02, "failure": "no luck today"}"#);
    let ran = calibrate(&place, &failing, &["--format", "json"]).expect(1);
    assert_eq!(ran.json()["failed"][0]["reason"], "no luck today");
    assert_eq!(ran.json()["exit_code"], 1);
    assert_eq!(ran.benchmark("BenchmarkB")["blind"], "too_few_forks");
    assert!(ran.benchmark("BenchmarkA")["sources"].is_object());
    calibrate(&place, SCRIPT, &["--bench", "Nope"]).expect(1).says(&["`--bench Nope`"]);
}

#[test]
fn a_dry_run_and_fewer_forks_are_as_for_a_comparison() {
    let place = Place::new();
    let dry = calibrate(&place, SCRIPT, &["--dry-run", "--forks", "8"]).expect(0);
    assert!(dry.stdout.contains("BenchmarkA: 8 fork pairs"), "{}", dry.stdout);
    assert!(!place.path().join(".duet").exists());
    calibrate(&place, SCRIPT, &["--forks", "8"]).expect(0);
    let run = place.duet(&["show", "--format", "json"]);
    assert_eq!(run.benchmark("BenchmarkB")["forks"].as_array().unwrap().len(), 8);
}

#[test]
fn help_teaches() {
    let help = Place::new().duet(&["calibrate", "--help"]).expect(0).stdout;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in ["duet calibrate --if-changed", "[default: 10s,30s,1m]", "against itself", "Exit codes"] {
        assert!(help.contains(word), "`{word}` is missing\n{help}");
    }
}

#[test]
fn what_a_calibration_knows_of_layouts_is_said_of_a_change_between_two_binaries() {
    let place = Place::new();
    calibrate(&place, SCRIPT, &[]).expect(0);
    let slower = SCRIPT.replacen("\"candidate_ns\": 100", "\"candidate_ns\": 130", 1);
    let words =
        |place: &Place| place.scripted(&slower, &["--format", "json"]).benchmark("BenchmarkA")["warnings"].to_string();
    assert!(words(&place).contains("a few by up to 34%, and may explain all of it"), "{}", words(&place));
    // As if it had been calibrated with builds of which layout makes 12 %.
    execute(
        &place,
        "UPDATE calibrations SET calibration = json_set(calibration, '$.benchmarks[0].sources.layout', 0.12)",
    );
    let known = words(&place);
    assert!(
        known.contains("moves this benchmark by up to 36%, by a calibration, and may explain all of it"),
        "{known}"
    );
    assert!(place.duet(&["show"]).stdout.contains("regression of these binaries"));
    execute(
        &place,
        "UPDATE calibrations SET calibration = json_set(calibration, '$.benchmarks[0].sources.layout', 0.05)",
    );
    let little = words(&place);
    assert!(little.contains("moves this benchmark by up to 14%, by a calibration:"), "{little}");
    assert!(!place.duet(&["show"]).stdout.contains("of these binaries"));
}
