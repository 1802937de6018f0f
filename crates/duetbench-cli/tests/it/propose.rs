//! `duet calibrate --see` on calibrations by script: what it takes to see a change, the command that measures so, and what cannot be had.

use serde_json::Value;

use crate::common::{Place, Ran};
use crate::schema::{PLAN, departures_from};

const SCRIPT: &str = r#"{
    "BenchmarkA": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002},
    "BenchmarkB": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.02}
}"#;

/// A place with a calibration.
fn calibrated() -> Place {
    let place = Place::new();
    place.write("script.json", SCRIPT);
    place.duet(&["calibrate", "--scripted", "script.json", "--seed", "1", "--quiet"]).expect(0);
    place
}

fn plan(place: &Place, args: &[&str]) -> Ran {
    place.duet(&[&["calibrate"], args].concat())
}

fn json(place: &Place, code: i32, args: &[&str]) -> Value {
    let ran = plan(place, &[args, &["--format", "json"]].concat()).expect(code);
    assert_eq!(departures_from(PLAN, &ran.json()), Vec::<String>::new());
    ran.json()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn every_benchmark_gets_what_it_takes() {
    let place = calibrated();
    let plan = json(&place, 0, &["--see", "3%"]);
    for benchmark in plan["benchmarks"].as_array().unwrap() {
        let design = &benchmark["design"];
        assert_eq!((&benchmark["sees"], &benchmark["needed"]), (&true.into(), &Value::Null));
        assert!(number(&design["minimal_detectable_change"]) <= 0.03, "{benchmark:#}");
        assert_eq!(design["builds"], 1, "nothing is linked here");
    }
    let forks = |i: usize| number(&plan["benchmarks"][i]["design"]["forks_per_build"]);
    assert!(forks(0) < forks(1), "more spread needs more");
    let harder = json(&place, 0, &["--see", "1%"]);
    assert!(number(&harder["takes_s"]) > number(&plan["takes_s"]), "a smaller change takes longer");
    let surer = json(&place, 0, &["--see", "3%", "--confidence", "99.9%", "--power", "99%"]);
    assert!(number(&surer["takes_s"]) > number(&plan["takes_s"]), "being surer takes longer");
}

#[test]
fn the_command_that_is_printed_measures_so() {
    let place = calibrated();
    for args in [&["--see", "3%"][..], &["--see", "3%", "--within", "1m", "--confidence", "95%"]] {
        let plan = json(&place, 0, args);
        let command = plan["command"].as_str().unwrap();
        let words: Vec<&str> = command.split(' ').skip(1).chain(["--scripted", "script.json"]).collect();
        let dry = place.duet(&[&words[..], &["--dry-run"]].concat()).expect(0);
        assert!(dry.stdout.contains("fork pairs"), "{command}\n{}", dry.stdout);
        assert!(self::plan(&place, args).stdout.contains(&format!("hint: measure so with `{command}`")));
    }
    let command = |args: &[&str]| json(&place, 0, args)["command"].as_str().unwrap().to_owned();
    let forks = number(&json(&place, 0, &["--see", "3%"])["benchmarks"][1]["design"]["forks_per_build"]);
    // The variable of these tests says 0.1 %.
    assert_eq!(command(&["--see", "3%"]), format!("duet compare --builds 1 --forks {forks} --alpha 0.01"));
    let in_time = command(&["--see", "3%", "--within", "1m", "--confidence", "99.9%"]);
    assert_eq!(in_time, "duet compare --builds 1 --budget 1m");
    let fleet = command(&["--see", "3%", "--instances", "8"]);
    assert_eq!(fleet, format!("duet compare --builds 1 --forks {forks} --alpha 0.01 --on lambda --parallel 8"));
    let text = self::plan(&place, &["--see", "3%", "--instances", "8"]).stdout;
    assert!(text.contains("does not know what instances differ by: `duet calibrate --on lambda` does"), "{text}");
    // A change below the usual threshold would be called no change.
    assert!(command(&["--see", "2%", "--within", "1m"]).ends_with("--budget 1m --threshold 0.02 --alpha 0.01"));
}

#[test]
fn what_cannot_be_had_is_said_with_what_would_do() {
    let place = calibrated();
    let args = ["--see", "0.1%", "--within", "50ms"];
    let plan = json(&place, 4, &args);
    assert_eq!(plan["exit_code"], 4);
    let missed = &plan["benchmarks"][1];
    assert_eq!(missed["sees"], false);
    assert!(number(&missed["needed"]["takes_s"]) > 0.05, "{missed:#}");
    let enough_s = number(&plan["enough_s"]);
    assert!(enough_s > number(&plan["takes_s"]));
    // The targets that the hints name can be reached.
    let text = self::plan(&place, &args).expect(4).stdout;
    let within = text.split("`--within ").nth(1).unwrap().split('`').next().unwrap();
    json(&place, 0, &["--see", "0.1%", "--within", within]);
    let instances = plan["instances_enough"].as_u64().unwrap().to_string();
    assert!(text.contains(&format!("`--instances {instances}` would do")), "{text}");
    json(&place, 0, &[&args[..], &["--instances", &instances]].concat());
}

#[test]
fn out_of_reach_is_out_of_reach() {
    let place = calibrated();
    let ran = plan(&place, &["--see", "0.0001%"]).expect(4);
    for word in ["cannot be had with any number of repetitions within reason", "hint: no time shows", "`duet doctor`"] {
        assert!(ran.stdout.contains(word), "`{word}` is missing\n{}", ran.stdout);
    }
    assert_eq!(json(&place, 4, &["--see", "0.0001%"])["enough_s"], Value::Null);
}

#[test]
fn the_calibration_of_a_run_may_be_named() {
    let place = calibrated();
    place.duet(&["calibrate", "--scripted", "script.json", "--bench", "A$", "--quiet"]).expect(0);
    let benchmarks = |plan: Value| plan["benchmarks"].as_array().unwrap().len();
    assert_eq!(benchmarks(json(&place, 0, &["--see", "3%"])), 1);
    assert_eq!(benchmarks(json(&place, 0, &["--see", "3%", "--run", "r1"])), 2);
    place.duet(&["compare", "--scripted", "script.json", "--quiet"]).expect(0);
    plan(&place, &["--see", "3%", "--run", "r3"])
        .expect(1)
        .says(&["run `r3` was never calibrated", "`duet calibrate --run r3`"]);
}

#[test]
fn without_a_calibration_the_way_to_one_is_named() {
    let place = Place::new();
    plan(&place, &["--see", "3%"]).expect(1).says(&["there is no calibration", "hint: `duet calibrate` makes one"]);
    place.scripted(SCRIPT, &[]).expect(0);
    plan(&place, &["--see", "3%"]).expect(1).says(&["there is no calibration", "hint: `duet calibrate` makes one"]);
}

#[test]
fn bad_input_is_2_and_named() {
    let place = calibrated();
    plan(&place, &["--power", "90%"]).expect(2).says(&["--see"]);
    plan(&place, &["--see", "3"]).expect(2).says(&["did you mean `3%`?"]);
    plan(&place, &["--see", "0%"]).expect(2).says(&["`--see` is 0"]);
    plan(&place, &["--see", "3%", "--power", "100%"]).expect(2).says(&["`--power` is 1"]);
    plan(&place, &["--see", "3%", "--confidence", "40%"]).expect(2).says(&["`--confidence` is 0.4"]);
    plan(&place, &["--see", "3%", "--within", "0s"]).expect(2).says(&["`--within`"]);
    // Whatever says how to measure would be ignored.
    for measuring in [&["r1"][..], &["--bench", "A"], &["--budget", "1m"], &["--resume", "r1"], &["--seen-after", "1s"]]
    {
        plan(&place, &[&["--see", "3%"], measuring].concat()).expect(2).says(&["cannot be used with", "--see"]);
    }
    plan(&place, &["--see", "3%", "--format", "go"]).expect(2).says(&["Go benchmark text"]);
}

#[test]
fn another_machine_is_pointed_out() {
    let place = calibrated();
    let sql = "UPDATE calibrations SET machine = json_set(machine, '$.kernel', 'of old')";
    rusqlite::Connection::open(place.path().join(".duet/duet.db")).unwrap().execute_batch(sql).unwrap();
    let text = plan(&place, &["--see", "3%"]).expect(0).stdout;
    assert!(text.contains("warning: this is not the machine of the calibration (kernel of old is now"), "{text}");
}
