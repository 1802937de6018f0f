//! The golden JSON reports keep to the published schema.

use serde_json::{Value, json};

use crate::common::Place;
use crate::schema::{
    BISECT, CALIBRATE, DETECTION, DRY_RUN, DRY_RUN_OF_ONE, LIST, PLAN, PLAN_CHECK, REPORT, RUN, SETTINGS, TUNE,
    WAIVERS, WHY, assert_keeps_to, departures, departures_from, read,
};

#[test]
fn rendered_reports_keep_to_the_schema() {
    for golden in [
        "tests/golden/everything.json", "tests/golden/empty.json", "tests/golden/fleet.json",
        "tests/golden/sight.json", "tests/golden/profile.json", "tests/golden/counts.json",
    ] {
        assert_eq!(departures(&read(golden)), Vec::<String>::new(), "{golden}");
    }
}

#[test]
fn the_schema_describes_everything_in_words() {
    fn check(schema: &Value, at: &str) {
        for (key, inner) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let described = inner.get("description").is_some() || inner.get("$ref").is_some();
            assert!(described, "{at}.{key} has no description");
            check(inner, &format!("{at}.{key}"));
        }
    }
    let reports = [REPORT, RUN, DETECTION, TUNE, BISECT, CALIBRATE, WHY];
    let others = [DRY_RUN, DRY_RUN_OF_ONE, LIST, PLAN, PLAN_CHECK, SETTINGS, WAIVERS];
    for root in reports.into_iter().chain(others).map(read) {
        check(&root, "report");
        for (name, definition) in root["$defs"].as_object().expect("there are definitions") {
            check(definition, name);
        }
    }
}

#[test]
fn what_tune_finds_keeps_to_its_schema() {
    let mut found = read("tests/golden/tune.json");
    assert_keeps_to(TUNE, &found);
    found["recordings"][0]["results"][0]["benchmarks"][0]["stable"] = json!("yes");
    let at = "report.recordings[0].results[0].benchmarks[0].stable: type";
    assert!(departures_from(TUNE, &found).iter().any(|departure| departure.starts_with(at)));
}

#[test]
fn two_recordings_keep_to_their_schema() {
    let mut found = read("tests/golden/analyze_few.json");
    assert_keeps_to(DETECTION, &found);
    found["benchmarks"][0]["duet"]["verdict"] = json!("slower");
    let departures = departures_from(DETECTION, &found);
    assert!(departures.iter().any(|one| one.starts_with("report.benchmarks[0].duet.verdict: enum")), "{departures:?}");
}

#[test]
fn a_dry_run_keeps_to_its_schema() {
    let script = r#"{
        "BenchmarkA": {"baseline_ns": 100, "candidate_ns": 100, "takes_ms": 100},
        "BenchmarkOld": {"baseline_ns": 100}
    }"#;
    let place = Place::new();
    let ran = place.scripted(script, &["--dry-run", "--budget", "20s", "--format", "json"]).expect(0);
    let mut planned = ran.json();
    assert_keeps_to(DRY_RUN, &planned);
    assert_eq!((&planned["benchmarks"][0]["name"], &planned["budget_s"]), (&json!("BenchmarkA"), &json!(20.0)));
    let old = &planned["excluded"][0];
    assert_eq!(
        (&old["name"], &old["reason"], &old["role"]),
        (&json!("BenchmarkOld"), &json!("only_in_one"), &json!("baseline"))
    );
    planned["benchmarks"][0]["mode"] = json!("fast");
    assert!(departures_from(DRY_RUN, &planned).iter().any(|one| one.starts_with("report.benchmarks[0].mode: enum")));
    // Nothing was measured, and nothing is stored.
    place.duet(&["show"]).expect(1);
}

#[test]
fn a_list_keeps_to_its_schema_and_has_no_other_form() {
    let place = Place::new();
    let list = |format: &str| place.duet(&["list", "--command", "true", "--format", format]);
    let mut listed = list("json").expect(0).json();
    assert_keeps_to(LIST, &listed);
    let one = &listed["benchmarks"][0];
    assert_eq!((&one["name"], &one["failed"]), (&json!("true"), &Value::Null));
    listed["benchmarks"][0]["style"] = json!("fast");
    assert!(departures_from(LIST, &listed).iter().any(|one| one.starts_with("report.benchmarks[0].style: enum")));
    list("csv").expect(2).says(&["a list of benchmarks cannot be written as CSV"]);
}

#[test]
fn a_dry_run_of_one_version_keeps_to_its_schema() {
    let script = r#"{"BenchmarkA": {"candidate_ns": 100}}"#;
    let place = Place::new();
    place.write("script.json", script);
    let args =
        ["run", "--scripted", "script.json", "--dry-run", "--forks", "3", "--seconds", "0.5", "--format", "json"];
    let mut planned = place.duet(&args).expect(0).json();
    assert_keeps_to(DRY_RUN_OF_ONE, &planned);
    let one = &planned["benchmarks"][0];
    assert_eq!((&one["name"], &one["forks"], &one["iteration_s"]), (&json!("BenchmarkA"), &json!(3), &json!(0.5)));
    assert_eq!(planned["version"]["resolved"], json!("scripted"));
    planned["benchmarks"][0]["forks"] = json!(0);
    let departures = departures_from(DRY_RUN_OF_ONE, &planned);
    assert!(departures.iter().any(|one| one.starts_with("report.benchmarks[0].forks: minimum")), "{departures:?}");
    place.duet(&["show"]).expect(1);
}

#[test]
fn calibrations_and_plans_keep_to_their_schemas() {
    let check = |schema, golden: &str, break_it: fn(&mut Value), want: &str| {
        let mut found = read(golden);
        assert_eq!(departures_from(schema, &found), Vec::<String>::new(), "{golden}");
        break_it(&mut found);
        let departures = departures_from(schema, &found);
        assert!(departures.iter().any(|departure| departure.starts_with(want)), "{want} not in {departures:?}");
    };
    let blind = "report.benchmarks[0].blind: enum";
    check(CALIBRATE, "tests/golden/calibrate.json", |c| c["benchmarks"][0]["blind"] = json!("dark"), blind);
    let sees = "report.benchmarks[0].sees: type";
    check(PLAN, "tests/golden/plan.json", |p| p["benchmarks"][0]["sees"] = json!("yes"), sees);
}

#[test]
fn departures_from_the_schema_are_seen() {
    let check = |break_it: fn(&mut Value), want: &str| {
        let mut report = read("tests/golden/everything.json");
        break_it(&mut report);
        let found = departures(&report);
        assert!(found.iter().any(|departure| departure.starts_with(want)), "{want} not in {found:?}");
    };
    check(|r| r["schema_version"] = json!(2), "report.schema_version: const");
    check(|r| r["benchmarks"][0]["verdict"] = json!("slower"), "report.benchmarks[0].verdict: enum");
    check(|r| r["benchmarks"][1]["ratio"] = json!("1.05"), "report.benchmarks[1].ratio: type");
    check(|r| r["exit_code"] = json!(256), "report.exit_code: maximum");
    check(|r| r["seed"] = json!(-1), "report.seed: minimum");
    check(|r| r["surprise"] = json!(1), "report.surprise: the schema does not describe");
    check(|r| r["benchmarks"][1]["counts"]["forks"] = json!(1.5), "report.benchmarks[1].counts.forks: type");
    check(|r| drop(r.as_object_mut().and_then(|o| o.remove("plan"))), "report: required");
}
