//! `duet-study cloud` by the real binary, on small files as `pa` reads them and on stored runs by script.

use std::fs;

use serde_json::Value;

use crate::common::{Place, Ran};

const HEAD: &str = "project;commit;benchmark;params;instance;trial;fork;iteration;mode;unit;value_count;value\n";

/// Numbers around 0, as far as 1 to either side, always the same.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

fn row(benchmark: &str, [instance, trial, iteration]: [usize; 3], value: f64) -> String {
    format!("shop;v1;{benchmark};;i{instance};{trial};1;{iteration};avgt;ns/op;1;{value}\n")
}

/// Values that differ by up to these shares between instances, trials and iterations.
fn file([instances, trials, iterations]: [usize; 3], [between, trial_by, within]: [f64; 3]) -> String {
    let (mut numbers, mut text) = (Numbers(1), HEAD.to_owned());
    for benchmark in ["Parse", "Encode"] {
        for instance in 0..instances {
            let of_instance = between * numbers.next();
            for trial in 0..trials {
                let of_trial = of_instance + trial_by * numbers.next();
                for iteration in 0..iterations {
                    let value = 1000.0 * (1.0 + of_trial + within * numbers.next());
                    text += &row(benchmark, [instance, trial, iteration], value);
                }
            }
        }
    }
    text
}

fn study(place: &Place, args: &[&str]) -> Ran {
    crate::study(place, &[&["cloud"], args].concat())
}

/// Two environments of twelve instances, the second of which varies four times as much.
fn place() -> Place {
    let place = Place::new();
    place.write("steady.csv", &file([12, 10, 4], [0.02, 0.01, 0.005]));
    place.write("rough.csv", &(file([12, 10, 4], [0.08, 0.04, 0.02]) + &row("Parse", [0, 0, 99], 1e6)));
    place
}

fn rate(environment: &Value, test: &str, instances: u64) -> f64 {
    let rows = environment["false_alarms"].as_array().unwrap();
    let found = rows.iter().find(|row| row["test"] == test && row["instances"] == instances);
    found.unwrap_or_else(|| panic!("no {test} with {instances} in\n{environment:#}"))["rate"].as_f64().unwrap()
}

#[test]
fn two_environments_are_studied_and_compared() {
    let place = place();
    let ran = study(&place, &["rough.csv", "steady.csv", "--format", "json"]).expect(0).json();
    let [rough, steady] = &ran["environments"].as_array().unwrap()[..] else { panic!("{ran:#}") };
    assert_eq!((&rough["name"], &rough["collected"], &rough["cleaned"]), (&"rough".into(), &961.into(), &960.into()));
    for environment in [rough, steady] {
        assert!(rate(environment, "wilcoxon_values", 1) > 0.2, "{environment:#}");
        for instances in [1, 5, 10] {
            // Draws of one recording are not independent; of these files no house rate is above a fifth.
            assert!(rate(environment, "house", instances) < 0.2, "{environment:#}");
        }
        let parse = &environment["benchmarks"][0];
        let sources: Vec<&str> =
            parse["sources"].as_array().unwrap().iter().map(|s| s["source"].as_str().unwrap()).collect();
        assert_eq!(sources, ["instance", "trial", "value"]);
        let found = &parse["detectable"].as_array().unwrap()[0];
        assert_eq!((&found["sampling"], &found["instances"]), (&"instances".into(), &1.into()));
        assert_eq!(found["printed"], 1.0);
        assert!(found["corrected"].as_f64().unwrap() < 0.6, "{found:#}");
    }
    let comparison = &ran["comparison"];
    assert_eq!(comparison["environments"][0]["name"], "steady");
    assert!((comparison["against"][0]["ratio"].as_f64().unwrap() - 0.25).abs() < 0.01, "{comparison:#}");
    let warnings = ran["warnings"].to_string();
    assert!(
        warnings.contains("`rough`: no A/A experiments with 20 instances (2 of 2 benchmarks): each needs 10 trials"),
        "{warnings}"
    );
    // A warning about both is printed once.
    assert_eq!(warnings.matches("how long an iteration took").count(), 1, "{warnings}");
}

#[test]
fn people_get_tables_and_plain_sentences() {
    let place = place();
    let text = study(&place, &["rough.csv", "steady.csv"]).expect(0).stdout;
    let says = [
        "Values (Table 3)",
        "Relative standard deviation (Table 4)",
        "Where it comes from (Fig. 5)",
        "False alarms between equal code (Table 5)",
        "(Table 6)",
        "(Table 7)",
        "Algorithm 1 as printed ends with the largest regression that passes: 100% in",
        "`steady` is the steadiest environment over the 2 benchmarks that all have",
        "what benchmarks vary in `steady` is 0.25 times what they vary in `rough`, and less for 2 of 2",
    ];
    for words in says {
        assert!(text.contains(words), "`{words}` is missing in\n{text}");
    }
    let markdown = study(&place, &["steady.csv", "--format", "markdown"]).expect(0).stdout;
    assert!(
        markdown.starts_with("### duet-study cloud: ") && !markdown.contains("The steadier environment"),
        "{markdown}"
    );
}

#[test]
fn tables_and_figures_are_written() {
    let place = place();
    study(&place, &["rough.csv", "s=steady.csv", "--out", "tables/new", "--draws", "3"])
        .expect(0)
        .says(&["tables and figures are in `tables/new`"]);
    let read = |name: &str| fs::read_to_string(place.path().join("tables/new").join(name)).unwrap();
    assert!(read("detectable.csv").starts_with("environment,benchmark,sampling,instances,printed,corrected,"));
    assert_eq!(read("values.csv").lines().nth(1), Some("rough,Parse,12,10,481,1,480"));
    // Two environments, two benchmarks, four and three tests.
    assert_eq!(read("false-alarms.csv").lines().count(), 1 + 2 * 2 * (3 + 4 + 4));
    for figure in ["sources-1-rough.svg", "sources-2-s.svg", "false-alarms.svg", "detectable-instances.svg"] {
        assert!(read(figure).starts_with("<svg"), "{figure}");
    }
}

#[test]
fn the_seed_decides_what_is_drawn() {
    let place = place();
    let of = |args: &[&str]| study(&place, &[&["steady.csv", "--format", "json"], args].concat()).expect(0).stdout;
    assert_eq!(of(&[]), of(&["--seed", "42", "--draws", "100", "--trials", "5"]));
    assert_ne!(of(&[]), of(&["--seed", "43"]));
    let three: Value = serde_json::from_str(&of(&["--trials", "3", "--draws", "7"])).unwrap();
    assert_eq!(three["environments"][0]["benchmarks"][0]["false_alarms"][0]["draws"], 7);
}

#[test]
fn files_and_runs_of_one_name_are_instances_of_one_environment() {
    let place = place();
    let two = study(&place, &["all=steady.csv", "all=rough.csv", "--format", "json"]).expect(0).json();
    assert_eq!(two["environments"].as_array().unwrap().len(), 1);
    assert_eq!(two["environments"][0]["benchmarks"][0]["instances"], 24);
    let script = r#"{"BenchmarkA": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.05}}"#;
    for _ in 0..2 {
        place.write("script.json", script);
        place.duet(&["run", "--scripted", "script.json", "--suite-runs", "4", "--forks", "1"]).expect(0);
    }
    let runs = study(&place, &["ci=r1", "ci=r2", "--trials", "2", "--format", "json"]).expect(0).json();
    let benchmark = &runs["environments"][0]["benchmarks"][0];
    assert_eq!((&benchmark["instances"], &benchmark["trials"]), (&2.into(), &4.into()));
    assert_eq!(study(&place, &["r1", "--format", "json"]).expect(0).json()["environments"][0]["name"], "r1");
}

#[test]
fn what_holds_little_or_does_not_vary_is_studied_as_far_as_it_goes() {
    let place = Place::new();
    place.write("one.csv", &file([1, 3, 2], [0.1; 3]));
    let one = study(&place, &["one.csv", "--format", "json"]).expect(0).json();
    let benchmark = &one["environments"][0]["benchmarks"][0];
    assert_eq!(
        (&benchmark["false_alarms"], &benchmark["detectable"]),
        (&serde_json::json!([]), &serde_json::json!([]))
    );
    assert!(benchmark["rsd"].is_f64() && benchmark["sources"].as_array().unwrap().len() == 2, "{benchmark:#}");
    assert!(
        one["comparison"].is_null()
            && one["warnings"].to_string().contains("1 instance (2 of 2 benchmarks), 5 instances"),
        "{one:#}"
    );
    place.write("constant.csv", &file([12, 10, 2], [0.0; 3]));
    let constant = study(&place, &["constant.csv", "--format", "json"]).expect(0).json();
    let environment = &constant["environments"][0];
    let benchmark = &environment["benchmarks"][0];
    assert_eq!((&benchmark["rsd"], &benchmark["detectable"][0]["corrected"]), (&0.0.into(), &0.01.into()));
    assert_eq!(rate(environment, "wilcoxon_values", 10), 0.0);
    let nan = file([2, 2, 2], [0.1; 3]) + &row("Parse", [0, 0, 50], f64::NAN);
    place.write("nan.csv", &nan);
    let text = study(&place, &["nan.csv"]).expect(0).stdout;
    assert!(text.contains("`nan`: 1 value that is no measurement was left out: `NaN` in line 18"), "{text}");
}

#[test]
fn requests_and_files_that_make_no_sense_are_refused() {
    let place = place();
    place.write("b/steady.csv", &file([2, 2, 2], [0.1; 3]));
    place.write("broken.csv", &file([2, 2, 2], [0.1; 3]).replace(";instance;", ";machine;"));
    let check = |args: &[&str], code: i32, words: &str| {
        study(&place, args).expect(code).says(&[words]);
    };
    check(&["broken.csv"], 1, "the column `instance` is missing");
    check(&["nothing.csv"], 1, "nothing.csv");
    check(&["steady.csv", "b/steady.csv"], 2, "two environments are called `steady`: type `NAME=FILE`");
    check(&["a=steady.csv", "steady.csv", "steady=rough.csv"], 2, "two environments are called `steady`");
    check(&[], 2, "[NAME=]FILE_OR_RUN");
    check(&["steady.csv", "--draws", "0"], 2, "--draws");
    check(&["steady.csv", "--format", "csv"], 2, "`--out DIR` writes them as CSV");
    check(&["r1"], 1, "nothing has been measured");
}
