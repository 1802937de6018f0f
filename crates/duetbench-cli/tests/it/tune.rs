//! `duet tune` from end to end: what is asked, what is written, what is refused.

use crate::common::Place;

/// Three forks of ten iterations of two benchmarks, one calm and one that is not.
fn study() -> String {
    let mut text = "n,ns_per_op,it_setup,fork_setup,it_pos,fork_pos,b_name\n".to_owned();
    for (name, base, step) in [("p.Calm", 1000.0, 0.1), ("p.Wild", 1000.0, 90.0)] {
        for fork in 1..=3 {
            for iteration in 1..=10 {
                let value = base + step * f64::from((fork * 7 + iteration * 3) % 10);
                text += &format!("1,{value},10,3,{iteration},{fork},{name}\n");
            }
        }
    }
    text
}

fn place() -> Place {
    let place = Place::new();
    place.write("shop-v1.csv", &study()).write("go.txt", "BenchmarkA 10 5 ns/op\nBenchmarkA 10 6 ns/op\n");
    place
}

#[test]
fn a_table_goes_to_standard_output_and_no_plan_is_written_unasked() {
    let place = place();
    let ran = place.duet(&["tune", "shop-v1.csv"]).expect(0);
    for words in
        ["shop-v1", "p.Calm", "3×10", "not stable even in full", "2 benchmarks: 1 reduced", "not on this machine"]
    {
        assert!(ran.stdout.contains(words), "`{words}` is missing in\n{}", ran.stdout);
    }
    assert!(!place.path().join("duet-plan.toml").exists());
}

#[test]
fn where_nothing_is_stable_there_is_no_plan_and_nothing_is_called_near() {
    let place = place();
    let wild: Vec<String> = study().lines().filter(|line| !line.contains("p.Calm")).map(String::from).collect();
    place.write("wild.csv", &(wild.join("\n") + "\n"));
    let ran = place.duet(&["tune", "wild.csv", "--plan-file", "plan.toml"]).expect(0);
    let ran = ran.says(&["no plan was written: nothing is stable"]);
    assert!(!ran.stdout.contains("within"), "{}", ran.stdout);
    assert!(!place.path().join("plan.toml").exists());
}

#[test]
fn a_plan_is_written_where_it_is_wanted() {
    let place = place();
    let args = ["tune", "shop-v1.csv", "--plan-file", "plan.toml", "--metric", "cv", "--format", "json"];
    let ran = place.duet(&args).expect(0);
    assert_eq!(ran.json()["plan_file"], "plan.toml");
    let plan: toml::Table = std::fs::read_to_string(place.path().join("plan.toml")).unwrap().parse().unwrap();
    assert_eq!(plan["learnt"]["metric"].as_str(), Some("cv"));
    assert_eq!(plan["learnt"]["from"].as_array().unwrap()[0].as_str(), Some("shop-v1.csv"));
    let benchmarks = plan["benchmark"].as_array().unwrap();
    assert_eq!(benchmarks.len(), 2);
    let stable = |name: &str| benchmarks.iter().find(|b| b["name"].as_str() == Some(name)).unwrap()["stable"].as_bool();
    assert_eq!((stable("p.Calm"), stable("p.Wild")), (Some(true), Some(false)));
}

#[test]
fn warm_up_is_cut_from_the_values_and_stays_in_the_plan() {
    let place = place();
    let args = ["tune", "shop-v1.csv", "--warmup", "4", "--plan-file", "plan.toml", "--format", "json"];
    let ran = place.duet(&args).expect(0);
    let benchmark = &ran.json()["recordings"][0]["results"][0]["benchmarks"][0];
    assert_eq!(benchmark["full"], serde_json::json!([3, 6]));
    assert_eq!(benchmark["full_s"], 30.0);
    let plan: toml::Table = std::fs::read_to_string(place.path().join("plan.toml")).unwrap().parse().unwrap();
    assert_eq!(plan["benchmark"].as_array().unwrap()[0]["warmup"].as_integer(), Some(4));
}

#[test]
fn levels_that_are_kept_are_not_reduced() {
    let ran = place().duet(&["tune", "shop-v1.csv", "--levels", "iteration", "--format", "json"]).expect(0);
    let benchmarks = ran.json()["recordings"][0]["results"][0]["benchmarks"].clone();
    assert!(benchmarks.as_array().unwrap().iter().all(|benchmark| benchmark["chosen"][0] == 3), "{benchmarks}");
    assert!(benchmarks[0]["chosen"][1].as_u64() < Some(10), "{benchmarks}");
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let check = |args: &[&str], code: i32, words: &str| {
        place().duet(&[&["tune"], args].concat()).expect(code).says(&[words]);
    };
    check(&["shop-v1.csv", "--format", "go"], 2, "cannot be written as Go benchmark text");
    check(&["shop-v1.csv", "--metric", "all", "--plan-file", "p"], 2, "a plan is learnt by one metric");
    check(&["shop-v1.csv", "--levels", "second"], 2, "`shop-v1` has no level `second`: it has fork, iteration");
    check(&["shop-v1.csv", "--warmup", "10"], 2, "`--warmup 10` leaves nothing of `p.Calm` in `shop-v1`");
    check(&["shop-v1.csv", "--threshold", "0%"], 2, "`--threshold` must be more than 0%");
    check(&["shop-v1.csv", "--confidence", "100%"], 2, "`--confidence` must be at least 50%");
    check(&["shop-v1.csv", "--keep", "process"], 2, "a level is one of instance, suite_run, fork, iteration, second");
    check(&["nowhere.csv"], 1, "cannot read `nowhere.csv`");
    check(&["shop-v1.csv", "Cargo.toml"], 1, "cannot read `Cargo.toml`");
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_line() {
    let place = Place::new();
    place.write("bad.csv", &study().replacen("1,1000,", "1,quick,", 1));
    place.write("notes.txt", "nothing here\n");
    let where_and_what = "`bad.csv`, line 2, column `ns_per_op`: expected a number, found `quick`";
    place.duet(&["tune", "bad.csv"]).expect(1).says(&[where_and_what]);
    place.duet(&["tune", "notes.txt"]).expect(1).says(&["`notes.txt` is of no known form", "hint: what is read:"]);
    place.duet(&["tune", "--check"]).expect(1).says(&["there is no plan `duet-plan.toml`", "`duet tune` writes one"]);
}

const SCRIPT: &str = r#"{
    "BenchmarkCalm": {"baseline_ns": 1, "candidate_ns": 100, "spread": 0.0005},
    "BenchmarkWild": {"baseline_ns": 1, "candidate_ns": 5000, "spread": 0.4}
}"#;

#[test]
fn what_was_learnt_from_a_run_is_what_the_next_run_measures() {
    let place = Place::new();
    place.write("script.json", SCRIPT);
    let full = ["--suite-runs", "3", "--forks", "3", "--iterations", "5", "--warmup", "2"];
    place.duet(&[&["run", "--scripted", "script.json", "--seed", "1"], &full[..]].concat()).expect(0);
    let ran = place.duet(&["tune"]).expect(0);
    assert!(ran.stdout.contains("hint: commit the plan") && ran.stdout.contains("r1"), "{}", ran.stdout);
    let plan: toml::Table = std::fs::read_to_string(place.path().join("duet-plan.toml")).unwrap().parse().unwrap();
    let learnt = &plan["learnt"];
    assert_eq!(learnt["from"].as_array().unwrap()[0].as_str(), Some("r1"));
    assert!(learnt["version"].is_str() && learnt["machine"].is_str() && learnt["toolchain"].is_str(), "{learnt}");
    let planned = |benchmark: &toml::Value| -> i64 {
        ["suite_runs", "forks", "iterations"].iter().map(|key| benchmark[*key].as_integer().unwrap()).product()
    };
    let benchmarks = plan["benchmark"].as_array().unwrap();
    assert!(benchmarks.iter().all(|benchmark| benchmark["warmup"].as_integer() == Some(2)), "{benchmarks:?}");
    let [calm, wild] = &benchmarks[..] else { panic!("{benchmarks:?}") };
    assert!(planned(calm) < 45 && planned(wild) == 45, "{benchmarks:?}");
    let again = ["run", "--scripted", "script.json", "--seed", "2", "--plan", "duet-plan.toml", "--format", "json"];
    let ran = place.duet(&again).expect(0);
    let forks = ran.benchmark("BenchmarkCalm")["forks"].as_array().unwrap().clone();
    let measured: usize = forks.iter().map(|fork| fork["iterations_ns"].as_array().unwrap().len()).sum();
    assert_eq!(i64::try_from(measured).unwrap(), planned(calm));
}

#[test]
fn a_comparison_can_be_tuned_from_but_not_planned_from() {
    let place = Place::new();
    place.scripted(r#"{"BenchmarkA": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.01}}"#, &[]).expect(0);
    place.duet(&["tune", "r1"]).expect(0).says(&["no plan was written: `r1` has no iterations to plan"]);
    assert!(!place.path().join("duet-plan.toml").exists());
    place.duet(&["tune", "r1", "--plan-file", "p.toml"]).expect(2).says(&["a plan is learnt from a `duet run`"]);
}

/// JMH's JSON of one benchmark: three forks of forty iterations of a second, the first `slow` of which take twice as long; of another
/// one that has five iterations in each, as JMH has by default; and of one that never settles.
fn jmh(slow: usize, warmed_up: u32) -> String {
    let forks = |value: &dyn Fn(usize) -> f64, iterations: usize| {
        let fork =
            |fork: usize| (0..iterations).map(|i| value(i) * (1.0 + ((i * 7 + fork) % 5) as f64 / 1000.0)).collect();
        (0..3).map(fork).collect::<Vec<Vec<f64>>>()
    };
    let entry = |name: &str, values: Vec<Vec<f64>>| {
        serde_json::json!({
            "benchmark": name, "mode": "avgt", "threads": 1, "forks": 3,
            "warmupIterations": warmed_up, "warmupTime": "10 s", "warmupBatchSize": 1,
            "measurementIterations": 40, "measurementTime": "1 s", "measurementBatchSize": 1,
            "primaryMetric": { "score": 1.0, "scoreUnit": "us/op", "rawData": values },
            "secondaryMetrics": {}
        })
    };
    serde_json::json!([
        entry("p.C.warms", forks(&|i| if i < slow { 2.0 } else { 1.0 }, 40)),
        entry("p.C.few", forks(&|_| 1.0, 5)),
        entry("p.C.never", forks(&|i| if i < 33 { 1.0 } else { 2.0 }, 40)),
    ])
    .to_string()
}

/// Results of `duet tune` for such a file, and the plan that it writes.
fn tuned_jmh(text: &str, args: &[&str]) -> (serde_json::Value, toml::Table) {
    let place = Place::new();
    place.write("jmh.json", text);
    let all = [&["tune", "jmh.json", "--format", "json", "--plan-file", "plan.toml"], args].concat();
    let ran = place.duet(&all).expect(0);
    let plan = std::fs::read_to_string(place.path().join("plan.toml")).unwrap().parse().unwrap();
    (ran.json()["recordings"][0].clone(), plan)
}

fn by_name<'a>(recording: &'a serde_json::Value, name: &str) -> &'a serde_json::Value {
    let all = recording["results"][0]["benchmarks"].as_array().unwrap();
    all.iter().find(|benchmark| benchmark["name"] == name).unwrap()
}

fn planned_warm_up(plan: &toml::Table, name: &str) -> Option<i64> {
    let all = plan["benchmark"].as_array().unwrap();
    all.iter().find(|benchmark| benchmark["name"].as_str() == Some(name)).unwrap()["warmup"].as_integer()
}

#[test]
fn the_warm_up_of_a_jvm_is_found_cut_and_planned() {
    let (recording, plan) = tuned_jmh(&jmh(12, 0), &[]);
    let warms = by_name(&recording, "p.C.warms");
    assert_eq!(warms["full"], serde_json::json!([3, 28]));
    assert_eq!((&warms["warmup"]["found"], &warms["warmup"]["iterations"]), (&12.into(), &12.into()));
    // Its values do not count, its time does.
    assert_eq!(warms["full_s"], 120.0);
    assert_eq!(planned_warm_up(&plan, "p.C.warms"), Some(12));
    let warnings = recording["warnings"].to_string();
    for words in ["`p.C.few`: whether it warms up cannot be told", "`p.C.never`: most forks never become steady"] {
        assert!(warnings.contains(words), "{warnings}");
    }
    for name in ["p.C.few", "p.C.never"] {
        assert!(by_name(&recording, name)["warmup"]["found"].is_null());
        assert_eq!(planned_warm_up(&plan, name), Some(0));
    }
}

#[test]
fn warm_up_that_ran_before_the_first_value_is_run_again() {
    let (recording, plan) = tuned_jmh(&jmh(12, 5), &[]);
    let warm_up = &by_name(&recording, "p.C.warms")["warmup"];
    assert_eq!((&warm_up["unseen"], &warm_up["found"], &warm_up["iterations"]), (&50.into(), &12.into(), &62.into()));
    assert_eq!((&warm_up["harness_iterations"], &warm_up["harness_iteration_s"]), (&5.into(), &10.0.into()));
    assert_eq!(planned_warm_up(&plan, "p.C.warms"), Some(62));
}

#[test]
fn a_number_is_followed_instead_of_what_is_found() {
    let (recording, plan) = tuned_jmh(&jmh(12, 0), &["--warmup", "2"]);
    assert_eq!(by_name(&recording, "p.C.warms")["full"], serde_json::json!([3, 38]));
    assert!(by_name(&recording, "p.C.warms")["warmup"].is_null());
    assert_eq!(planned_warm_up(&plan, "p.C.warms"), Some(2));
}

#[test]
fn what_is_not_compiled_while_it_runs_has_no_warm_up_to_find() {
    let ran = place().duet(&["tune", "shop-v1.csv", "--warmup", "auto", "--format", "json"]).expect(0);
    let benchmark = &ran.json()["recordings"][0]["results"][0]["benchmarks"][0];
    assert_eq!((&benchmark["full"], &benchmark["warmup"]), (&serde_json::json!([3, 10]), &serde_json::Value::Null));
}

#[test]
fn the_table_holds_the_warm_up_against_the_harnesss() {
    let place = Place::new();
    place.write("jmh.json", &jmh(12, 0)).write("default.json", &jmh(12, 5));
    let line = |file: &str, name: &str| {
        let out = place.duet(&["tune", file]).expect(0).stdout;
        out.lines()
            .find(|line| line.starts_with(name))
            .unwrap()
            .split("  ")
            .map(str::trim)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert!(line("jmh.json", "C.warms").contains(&"12 (12.0s)".to_owned()), "{:?}", line("jmh.json", "C.warms"));
    assert!(line("jmh.json", "C.few").contains(&"?".to_owned()));
    assert!(line("jmh.json", "package:").contains(&"p".to_owned()));
    let shown = line("default.json", "C.warms");
    assert!(shown.contains(&"≤ 62 (1m 02s)".to_owned()) && shown.contains(&"5 (50.0s)".to_owned()), "{shown:?}");
}
