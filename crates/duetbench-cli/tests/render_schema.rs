//! The golden JSON reports keep to the published schema.

mod schema;

use serde_json::{Value, json};

use schema::{REPORT, TUNE, departures, departures_from, read};

#[test]
fn rendered_reports_keep_to_the_schema() {
    for golden in ["tests/golden/everything.json", "tests/golden/empty.json", "tests/golden/fleet.json"] {
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
    for root in [REPORT, TUNE].map(read) {
        check(&root, "report");
        for (name, definition) in root["$defs"].as_object().expect("there are definitions") {
            check(definition, name);
        }
    }
}

#[test]
fn what_tune_finds_keeps_to_its_schema() {
    let mut found = read("tests/golden/tune.json");
    assert_eq!(departures_from(TUNE, &found), Vec::<String>::new());
    found["recordings"][0]["results"][0]["benchmarks"][0]["stable"] = json!("yes");
    let at = "report.recordings[0].results[0].benchmarks[0].stable: type";
    assert!(departures_from(TUNE, &found).iter().any(|departure| departure.starts_with(at)));
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
