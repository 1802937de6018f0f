//! `duet-study elastibench` by the real binary, on comparisons by script.

use serde_json::Value;

use crate::common::{Place, Ran};

/// Forty-five fork pairs of each benchmark, as the paper has results.
const LIKE_THE_PAPER: [&str; 3] = ["--forks", "45", "--fixed"];

/// Nothing changed in A; B is slower, C faster; D changed by less than its spread.
const FIRST: &str = r#"{
    "BenchmarkA": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.01},
    "BenchmarkB": {"baseline_ns": 100, "candidate_ns": 110, "spread": 0.02},
    "BenchmarkC": {"baseline_ns": 200, "candidate_ns": 150, "spread": 0.02},
    "BenchmarkD": {"baseline_ns": 1000, "candidate_ns": 1005, "spread": 0.04},
    "BenchmarkGone": {"baseline_ns": 100},
    "BenchmarkOdd": {"baseline_ns": 100, "candidate_ns": 100, "failure": "no luck today"}
}"#;

/// In the second experiment B agrees with a somewhat smaller change, C is slower, D shows its change, and Odd works.
const SECOND: &str = r#"{
    "BenchmarkA": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.01},
    "BenchmarkB": {"baseline_ns": 100, "candidate_ns": 109, "spread": 0.001},
    "BenchmarkC": {"baseline_ns": 200, "candidate_ns": 205, "spread": 0.001},
    "BenchmarkD": {"baseline_ns": 1000, "candidate_ns": 1005, "spread": 0.0005},
    "BenchmarkGone": {"baseline_ns": 100},
    "BenchmarkOdd": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.001}
}"#;

/// A store with the two as `r1` and `r2`.
fn place() -> Place {
    let place = Place::new();
    place.scripted(FIRST, &LIKE_THE_PAPER);
    place.scripted(SECOND, &LIKE_THE_PAPER);
    place
}

fn study(place: &Place, args: &[&str]) -> Ran {
    crate::study(place, &[&["elastibench"], args].concat())
}

/// The row of one benchmark, by the name without its package.
#[track_caller]
fn row(document: &Value, name: &str) -> Value {
    let rows = document["benchmarks"].as_array().unwrap();
    let name = format!("example.com/scripted.Benchmark{name}");
    rows.iter().find(|row| row["name"] == *name).unwrap_or_else(|| panic!("no `{name}` in\n{document:#}")).clone()
}

fn near(value: &Value, want: f64) -> bool {
    value.as_f64().is_some_and(|value| (value - want).abs() < 1e-3)
}

#[test]
fn the_papers_procedure_stands_beside_duets_verdicts() {
    let place = place();
    let document = study(&place, &["changes", "r1", "--format", "json"]).expect(0).json();
    let said = |name: &str| {
        let row = row(&document, name);
        (row["paper"]["change"].clone(), row["verdict"].as_str().unwrap().to_owned())
    };
    assert_eq!(said("A"), (Value::Null, "no_change".into()));
    assert_eq!(said("B"), ("regression".into(), "regression".into()));
    assert_eq!(said("C"), ("improvement".into(), "improvement".into()));
    let b = row(&document, "B");
    assert!(near(&b["paper"]["median"], 0.1) && b["paper"]["results"] == 45, "{b:#}");
    let odd = row(&document, "Odd");
    assert_eq!(odd["left_out"], "trials failed, the first with: no luck today");
    assert_eq!((&odd["paper"], &odd["verdict"]), (&Value::Null, &"failed".into()));
    assert_eq!(row(&document, "Gone")["left_out"], "only in base");
    assert_eq!(document["changed"], 2);
    let text = study(&place, &["changes", "r1"]).expect(0).stdout;
    assert!(text.contains("1 regression, 1 improvement of 4 benchmarks with enough results"), "{text}");
}

#[test]
fn two_runs_agree_disagree_or_show_a_possible_change() {
    let place = place();
    let document = study(&place, &["agreement", "r1", "r2", "--format", "json"]).expect(0).json();
    let said = |name: &str| row(&document, name)["agreement"].as_str().unwrap().to_owned();
    assert_eq!(["A", "B", "C", "D"].map(said), ["agree", "agree", "disagree", "possible_change"]);
    let relations = &document["relations"];
    assert_eq!(
        (&relations["compared"], &relations["agree"], &relations["agree_share"]),
        (&4.into(), &2.into(), &0.5.into())
    );
    // The first is wide enough for the second's median of B, the second not for the first's.
    let b = row(&document, "B");
    assert_eq!((&b["first_in_second"], &b["second_in_first"]), (&false.into(), &true.into()));
    assert!(near(&document["possible_changes"]["largest"], 0.005), "{document:#}");
    assert_eq!(document["only_second"], serde_json::json!(["example.com/scripted.BenchmarkOdd"]));
    assert_eq!(document["left_out_first"].as_array().unwrap().len(), 2);
    let itself = study(&place, &["agreement", "r1", "r1", "--format", "json"]).expect(0).json();
    assert_eq!((&itself["relations"]["agree_share"], &itself["coverage"]["both_share"]), (&1.0.into(), &1.0.into()));
}

#[test]
fn results_that_are_needed_follow_from_a_width_or_another_run() {
    let place = place();
    let of =
        |args: &[&str]| study(&place, &[&["repetitions", "r1", "--format", "json"], args].concat()).expect(0).json();
    let enough = |document: &Value, name: &str| row(document, name)["results_enough"].clone();
    let by_itself = of(&["--reference", "r1"]);
    assert!(enough(&by_itself, "B").as_u64().is_some_and(|n| (10..=45).contains(&n)), "{by_itself:#}");
    let curve = by_itself["curve"].as_array().unwrap();
    assert_eq!((&curve[0]["results"], &curve.last().unwrap()["results"]), (&10.into(), &45.into()));
    assert_eq!(curve.last().unwrap()["share"], 1.0);
    let wide = of(&["--width", "50%"]);
    assert_eq!(["A", "B", "C", "D"].map(|name| enough(&wide, name)), [10, 10, 10, 10].map(Value::from));
    assert_eq!((&wide["width"], &wide["reference"]), (&0.5.into(), &Value::Null));
    let narrow = of(&["--width", "0.001%"]);
    assert_eq!(enough(&narrow, "D"), Value::Null);
    // C went elsewhere, so that its intervals have nothing in common; and what r2 has of B is narrower than r1 ever is.
    let other = of(&["--reference", "r2"]);
    assert_eq!(other["apart"], serde_json::json!(["example.com/scripted.BenchmarkC"]));
    assert_eq!(enough(&other, "B"), Value::Null);
}

#[test]
fn an_aa_run_says_how_many_are_called_changed() {
    let place = Place::new();
    let same = r#"{
        "BenchmarkA": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.01},
        "BenchmarkB": {"baseline_ns": 100, "candidate_ns": 103, "spread": 0.01}
    }"#;
    place.scripted(same, &LIKE_THE_PAPER);
    let document = study(&place, &["aa", "--format", "json"]).expect(0).json();
    assert_eq!((&document["changed"], &document["changed_share"]), (&1.into(), &0.5.into()));
    assert!(near(&document["sizes"]["largest"], 0.03) && near(&document["sizes"]["median"], 0.015), "{document:#}");
    // By script the two versions have different names.
    let warnings = document["warnings"].to_string();
    assert!(warnings.contains("`r1` compared scripted baseline with scripted candidate"), "{warnings}");
}

#[test]
fn runs_that_cannot_answer_are_named_with_what_to_do() {
    let place = Place::new();
    study(&place, &["changes"]).expect(1).says(&["nothing has been measured"]);
    place.scripted(FIRST, &["--forks", "9", "--fixed"]);
    let hint = "hint: `duet compare --forks 45 --fixed` gives each benchmark 45";
    study(&place, &["changes", "r1"]).expect(1).says(&["no benchmark of `r1` has 10 results", "has is 9", hint]);
    study(&place, &["agreement", "r1", "r9"]).expect(1).says(&["there is no run `r9`"]);
    place.duet(&["run", "--scripted", "script.json", "--bench", "BenchmarkA", "--suite-runs", "2"]).expect(0);
    study(&place, &["aa", "r2"]).expect(2).says(&["run `r2` measured one version", "hint: `duet show r2`"]);
    let other = r#"{"BenchmarkZ": {"baseline_ns": 100, "candidate_ns": 100}}"#;
    place.scripted(other, &LIKE_THE_PAPER);
    place.scripted(FIRST, &LIKE_THE_PAPER);
    study(&place, &["agreement", "r3", "r4"]).expect(1).says(&["`r3` and `r4` have no benchmark in common", "hint: "]);
    study(&place, &["repetitions", "r3", "--reference", "r4"]).expect(1).says(&["no benchmark's intervals in `r3`"]);
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let place = place();
    let check = |args: &[&str], words: &str| {
        study(&place, args).expect(2).says(&[words]);
    };
    check(&["repetitions", "r1"], "--reference <RUN>");
    check(&["repetitions", "r1", "--reference", "r2", "--width", "5%"], "cannot be used with");
    check(&["repetitions", "r1", "--width", "0%"], "`--width` is 0");
    check(&["changes", "r1", "--confidence", "100%"], "`--confidence` is 1");
    check(&["changes", "r1", "--format", "go"], "cannot be written as Go benchmark text");
}

#[test]
fn what_a_run_lacks_as_an_experiment_is_warned_of() {
    let place = Place::new();
    // A is settled before it has ten results, B goes on to the end.
    let script = r#"{
        "BenchmarkA": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.001},
        "BenchmarkB": {"baseline_ns": 100, "candidate_ns": 101, "spread": 0.3}
    }"#;
    place.scripted(script, &["--forks", "45"]).expect(0);
    let ran = study(&place, &["changes", "--format", "json"]).expect(0).json();
    assert!(row(&ran, "A")["left_out"].as_str().unwrap().contains("at least 10 are needed"), "{ran:#}");
    assert!(ran["warnings"].to_string().contains("in `r1` benchmarks ended when they were settled"), "{ran:#}");
    place.scripted(script, &LIKE_THE_PAPER).expect(0);
    let fixed = study(&place, &["changes", "r2"]).expect(0).stdout;
    assert!(!fixed.contains("warning:") && fixed.contains("note: the procedure pools all results"), "{fixed}");
}
