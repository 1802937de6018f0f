//! From a run to a plan, from the plan to the next run, and back: what `duet tune --check` finds. Outcomes by script.

use serde_json::Value;

use crate::common::{Place, Ran};
use crate::schema::{PLAN_CHECK, assert_keeps_to};

/// Benchmarks that vary by so much between iterations and forks.
fn script(parts: &[(&str, f64)]) -> String {
    let part = |(name, spread): &(&str, f64)| {
        format!(r#""Benchmark{name}": {{"baseline_ns": 100, "candidate_ns": 100, "spread": {spread}}}"#)
    };
    format!("{{{}}}", parts.iter().map(part).collect::<Vec<_>>().join(","))
}

fn run(place: &Place, parts: &[(&str, f64)], args: &[&str]) -> Ran {
    place.write("script.json", &script(parts));
    place.duet(&[&["run", "--scripted", "script.json", "--seed", "1"], args].concat())
}

/// A place with a plan that was learnt from a run of `Steady` and `Other`. In a script suite runs differ by a tenth whatever else,
/// so the threshold is wide.
fn learnt() -> Place {
    let place = Place::new();
    let shape = ["--suite-runs", "3", "--forks", "4", "--iterations", "6", "--warmup", "1", "--seconds", "0.1"];
    run(&place, &[("Steady", 0.0), ("Other", 0.0)], &shape).expect(0);
    place.duet(&["tune", "r1", "--metric", "cv", "--threshold", "12%"]).expect(0);
    place
}

fn check(place: &Place, more: &[&str]) -> Ran {
    let ran = place.duet(&[&["tune", "--check", "latest", "--format", "json"], more].concat());
    assert_keeps_to(PLAN_CHECK, &ran.json());
    ran
}

#[track_caller]
fn reasons(ran: &Ran, name: &str) -> Vec<String> {
    let row = ran.benchmark(&format!("example.com/scripted.Benchmark{name}"));
    row["reasons"].as_array().unwrap().iter().map(|r| r.as_str().unwrap().to_owned()).collect()
}

fn plan(place: &Place) -> String {
    std::fs::read_to_string(place.path().join("duet-plan.toml")).unwrap()
}

#[test]
fn a_plan_that_is_learnt_says_where_and_is_followed() {
    let place = learnt();
    let text = plan(&place);
    for words in ["from = [\"r1\"]", "version = \"scripted\"", "machine = ", "toolchain = \"script\"", "warmup = 1"] {
        assert!(text.contains(words), "`{words}` is not in\n{text}");
    }
    let ran =
        run(&place, &[("Steady", 0.0), ("Other", 0.0)], &["--plan", "duet-plan.toml", "--format", "json"]).expect(0);
    let planned = ran.benchmark("BenchmarkSteady")["planned"].clone();
    let all: u64 = ["suite_runs", "forks", "iterations"].map(|key| planned[key].as_u64().unwrap()).iter().product();
    assert!((3..3 * 4 * 6).contains(&all), "{planned}");
    place.write("script.json", &script(&[("Steady", 0.0), ("Other", 0.0)]));
    let args = ["compare", "--scripted", "script.json", "--plan", "duet-plan.toml", "--fixed", "--format", "json"];
    let forks = place.duet(&args).expect(0).benchmark("BenchmarkSteady")["forks"].as_array().unwrap().len() as u64;
    let processes = planned["suite_runs"].as_u64().unwrap() * planned["forks"].as_u64().unwrap();
    assert_eq!(forks, processes.max(4));
}

#[test]
fn a_plan_that_holds_is_left_as_it_is() {
    let place = learnt();
    let before = plan(&place);
    run(&place, &[("Steady", 0.0), ("Other", 0.0)], &["--plan", "duet-plan.toml"]).expect(0);
    let ran = check(&place, &[]).expect(0);
    assert_eq!((ran.json()["stale"].clone(), ran.json()["hold"].clone()), (0.into(), 2.into()), "{}", ran.stdout);
    assert_eq!(plan(&place), before);
    assert!(place.duet(&["tune", "--check", "latest"]).expect(0).stdout.contains("the plan holds"));
}

#[test]
fn a_comparison_renews_no_plan() {
    let place = learnt();
    let before = plan(&place);
    place.scripted(&script(&[("Steady", 0.0), ("Other", 0.0), ("Young", 0.0)]), &["--fixed"]);
    let ran = check(&place, &[]).expect(1).says(&["no plan was written: `r2` has no iterations to plan"]);
    assert_eq!(reasons(&ran, "Young"), ["new"]);
    assert_eq!(plan(&place), before);
}

#[test]
fn what_is_stale_is_named_and_nothing_else_changes() {
    let place = learnt();
    let before = plan(&place);
    // One became wild, one is gone, one is new.
    let shape = ["--suite-runs", "3", "--forks", "4", "--iterations", "6", "--seconds", "0.1"];
    run(&place, &[("Steady", 0.9), ("New", 0.0)], &shape).expect(0);
    let ran = check(&place, &["--no-write"]).expect(1);
    assert_eq!(reasons(&ran, "Steady"), ["violates"]);
    assert_eq!(reasons(&ran, "Other"), ["gone"]);
    assert_eq!(reasons(&ran, "New"), ["new"]);
    assert_eq!(plan(&place), before);
    let ran = check(&place, &[]).expect(0);
    assert_eq!(ran.json()["written"], true);
    let after = plan(&place);
    assert!(after.contains("BenchmarkNew") && !after.contains("BenchmarkOther"), "{after}");
    assert!(after.contains("from = [\"r1\", \"r2\"]"), "{after}");
    // An entry that was tuned again on these data holds on them, or is known not to be stable.
    let again = check(&place, &["--no-write"]).expect(0);
    assert_eq!(again.json()["stale"], 0, "{}", again.stdout);
}

#[test]
fn what_is_new_is_learnt_by_the_rules_of_the_plan() {
    let place = Place::new();
    let shape = ["--suite-runs", "3", "--forks", "4", "--iterations", "6", "--seconds", "0.1"];
    run(&place, &[("Steady", 0.0)], &shape).expect(0);
    let rules = ["--metric", "cv", "--threshold", "12%", "--keep", "fork", "--warmup", "2"];
    place.duet(&[&["tune", "r1"], &rules[..]].concat()).expect(0);
    run(&place, &[("Steady", 0.0), ("New", 0.0)], &shape).expect(0);
    check(&place, &[]).expect(0);
    let plan: toml::Table = plan(&place).parse().unwrap();
    let entries = plan["benchmark"].as_array().unwrap();
    let of = |key: &str| entries.iter().map(|entry| entry[key].as_integer().unwrap()).collect::<Vec<_>>();
    assert_eq!((of("forks"), of("warmup")), (vec![4, 4], vec![2, 2]), "{plan}");
}

#[test]
fn what_a_run_did_not_look_at_is_not_taken_for_gone() {
    let place = learnt();
    let before = plan(&place);
    run(&place, &[("Steady", 0.0), ("Other", 0.0)], &["--bench", "Steady"]).expect(0);
    let ran = check(&place, &[]).expect(0);
    assert!(reasons(&ran, "Other").is_empty());
    let why = ran.benchmark("example.com/scripted.BenchmarkOther")["unknown"].clone();
    assert!(why.as_str().unwrap().contains("left it out"), "{why}");
    assert_eq!(plan(&place), before);
}

#[test]
fn a_run_of_fewer_repetitions_than_planned_says_nothing() {
    let place = learnt();
    let before = plan(&place);
    let shape = ["--suite-runs", "1", "--forks", "1", "--iterations", "1", "--warmup", "0", "--seconds", "0.1"];
    run(&place, &[("Steady", 0.0), ("Other", 0.0)], &shape).expect(0);
    let ran = check(&place, &[]).expect(1);
    assert_eq!([&ran.json()["hold"], &ran.json()["not_checked"]], [&Value::from(0), &Value::from(2)], "{}", ran.stdout);
    assert!(ran.stdout.contains("the run has fewer repetitions than the plan"), "{}", ran.stdout);
    assert!(place.duet(&["tune", "--check", "latest"]).expect(1).stdout.contains("nothing was checked"));
    assert_eq!(plan(&place), before);
}

#[test]
fn an_entry_that_a_run_of_some_benchmarks_renewed_is_no_longer_stale() {
    let place = learnt();
    let other = plan(&place).replacen("machine = \"", "machine = \"another ", 1);
    place.write("duet-plan.toml", &other);
    let steady = || run(&place, &[("Steady", 0.0), ("Other", 0.0)], &["--forks", "4", "--bench", "Steady"]);
    steady().expect(0);
    assert_eq!(reasons(&check(&place, &[]).expect(0), "Steady"), ["machine"]);
    steady().expect(0);
    assert_eq!(reasons(&check(&place, &[]).expect(0), "Steady"), [""; 0]);
    // The other one was not seen on this machine before.
    run(&place, &[("Steady", 0.0), ("Other", 0.0)], &["--forks", "4"]).expect(0);
    let ran = check(&place, &[]).expect(0);
    assert_eq!([reasons(&ran, "Steady"), reasons(&ran, "Other")], [vec![], vec!["machine".to_owned()]]);
    let plan = plan(&place);
    assert!(!plan.contains("another ") && plan.matches("machine = ").count() == 1, "{plan}");
}

#[test]
fn another_machine_makes_everything_stale() {
    let place = learnt();
    let other = plan(&place).replacen("machine = \"", "machine = \"another ", 1);
    place.write("duet-plan.toml", &other);
    run(&place, &[("Steady", 0.0), ("Other", 0.0)], &["--forks", "4"]).expect(0);
    let ran = check(&place, &[]).expect(0);
    assert_eq!([reasons(&ran, "Steady"), reasons(&ran, "Other")], [["machine"], ["machine"]]);
    // From now on it is this one.
    assert!(!plan(&place).contains("another "), "{}", plan(&place));
    assert_eq!(check(&place, &[]).expect(0).json()["stale"], 0);
}

#[test]
fn code_is_compared_by_package_where_that_is_known() {
    let place = learnt();
    let db = rusqlite::Connection::open(place.path().join(".duet/duet.db")).unwrap();
    run(&place, &[("Steady", 0.0), ("Other", 0.0)], &["--forks", "4"]).expect(0);
    // A script has no test binaries, so their digests are set here.
    let built = |run: u32, digest: &str| {
        let head: String = db.query_row("SELECT head FROM runs WHERE id = ?1", [run], |row| row.get(0)).unwrap();
        let mut head: Value = serde_json::from_str(&head).unwrap();
        head["artifacts"] = serde_json::json!({"example.com": "other", "example.com/scripted": digest});
        head["version"]["artifact_digest"] = format!("all of run {run}").into();
        db.execute("UPDATE runs SET head = ?1 WHERE id = ?2", (head.to_string(), run)).unwrap();
    };
    built(1, "one");
    built(2, "one");
    // The whole differs, but not this package.
    assert_eq!(check(&place, &["--no-write"]).expect(0).json()["stale"], 0);
    built(2, "two");
    assert_eq!(reasons(&check(&place, &["--no-write"]).expect(1), "Steady"), ["code"]);
}

#[test]
fn a_run_that_was_interrupted_tells_nothing_of_a_plan() {
    let place = learnt();
    let db = rusqlite::Connection::open(place.path().join(".duet/duet.db")).unwrap();
    db.execute_batch("UPDATE runs SET complete = 0").unwrap();
    let refused = place.duet(&["tune", "--check", "r1", "--db", ".duet/duet.db"]).expect(2);
    refused.says(&["did not come to its end", "`duet run --resume r1 --db .duet/duet.db`"]);
}

#[test]
fn a_plan_is_held_against_a_run_and_nothing_else() {
    let place = learnt();
    place.duet(&["tune", "--check", "results.csv"]).expect(2).says(&["against one run"]);
    place.duet(&["tune", "--check", "r1", "--plan-file", "nowhere.toml"]).expect(1).says(&["nowhere.toml"]);
    place.duet(&["tune", "r1", "--no-write"]).expect(2);
    let text = plan(&place);
    place.write("duet-plan.toml", &text.replace("confidence = 0.99", "confidence = 99.0"));
    place.duet(&["tune", "--check", "r1"]).expect(2).says(&["the plan's `confidence` must be"]);
}

#[test]
fn the_plan_that_the_settings_name_is_written_and_followed() {
    let place = learnt();
    let text = plan(&place);
    std::fs::remove_file(place.path().join("duet-plan.toml")).unwrap();
    std::fs::create_dir(place.path().join("ci")).unwrap();
    place.write("duet.toml", "plan = \"ci/plan.toml\"\n");
    place.duet(&["tune", "r1", "--metric", "cv", "--threshold", "12%"]).expect(0);
    assert_eq!(std::fs::read_to_string(place.path().join("ci/plan.toml")).unwrap(), text);
    assert!(!place.path().join("duet-plan.toml").exists());
}
