//! `duet-study duet` by the real binary, on comparisons by script.

use rusqlite::Connection;
use serde_json::Value;

use crate::common::{Place, Ran};

/// Twenty fork pairs of each benchmark, all of one build pair.
const TWENTY: [&str; 5] = ["--forks", "20", "--fixed", "--mode", "duet"];

/// By script suite runs take 1, 1.1 and 1.2 times as long in turn, on both sides; only the candidate varies on its own.
const SCRIPT: &str = r#"{
    "BenchmarkA": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.01},
    "BenchmarkB": {"baseline_ns": 1000, "candidate_ns": 1100, "spread": 0.002},
    "BenchmarkFlat": {"baseline_ns": 100, "candidate_ns": 100},
    "BenchmarkGone": {"baseline_ns": 100},
    "BenchmarkOdd": {"baseline_ns": 100, "candidate_ns": 100, "failure": "no luck today"}
}"#;

fn place() -> Place {
    let place = Place::new();
    place.scripted(SCRIPT, &TWENTY);
    place
}

fn study(place: &Place, args: &[&str]) -> Ran {
    crate::study(place, &[&["duet"], args].concat())
}

/// The row of one benchmark in the first run, by the name without its package.
#[track_caller]
fn row(document: &Value, name: &str) -> Value {
    let rows = document["runs"][0]["benchmarks"].as_array().unwrap();
    let name = format!("example.com/scripted.Benchmark{name}");
    rows.iter().find(|row| row["name"] == *name).unwrap_or_else(|| panic!("no `{name}` in\n{document:#}")).clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn what_hits_both_sides_widens_all_intervals_but_the_paired() {
    let place = place();
    let document = study(&place, &["--format", "json"]).expect(0).json();
    let a = row(&document, "A");
    let [paired, shuffled, standard] = ["paired", "shuffled", "standard"].map(|kind| number(&a["widths"][kind]));
    // The candidate's own spread is 0.7 %, that of suite runs 7.5 %: sqrt(2 * 7.5² + 0.7²) by 0.7 is 15. Ten of twenty fork pairs.
    assert!((5.0..40.0).contains(&(shuffled / paired)), "{a:#}");
    assert!((5.0..40.0).contains(&(standard / paired)), "{a:#}");
    assert_eq!((&a["forks_measured"], &a["forks"], &a["iterations"]), (&20.into(), &10.into(), &8.into()));
    assert_eq!(a["mode"], "duet");
    assert!((number(&a["level"]) - 0.037).abs() < 1e-3 && a["own_interval"][0].is_f64(), "{a:#}");
    assert!((number(&row(&document, "B")["ratio"]) - 1.1).abs() < 0.01);
    let run = &document["runs"][0];
    // A shuffle has nothing to widen where nothing varies on its own; the rest make the mean.
    assert_eq!(run["times_wider"]["shuffled"]["benchmarks"], 2);
    assert!(number(&run["times_wider"]["shuffled"]["factor"]) > 5.0);
    assert_eq!((&run["same_version"], &run["levels"]["paired_resampled"]), (&false.into(), &Value::Null));
    let left_out: Vec<&str> =
        run["left_out"].as_array().unwrap().iter().map(|o| o["reason"].as_str().unwrap()).collect();
    assert_eq!(left_out, ["only in base", "trials failed, the first with: no luck today"]);
}

#[test]
fn the_seed_decides_and_all_fork_pairs_need_none_to_be_drawn() {
    let place = place();
    let of = |args: &[&str]| study(&place, &[&["r1", "--format", "json"], args].concat()).expect(0).json();
    let paired = |document: &Value| number(&row(document, "A")["widths"]["paired"]);
    assert_eq!(of(&["--seed", "7"]), of(&["--seed", "7"]));
    assert_ne!(paired(&of(&["--seed", "7"])), paired(&of(&["--seed", "8"])));
    let all = of(&["--forks", "all", "--seed", "7"]);
    assert_eq!(paired(&all), paired(&of(&["--runs", "all", "--seed", "8"])));
    assert_eq!((&row(&all, "A")["forks"], &all["forks_drawn"]), (&20.into(), &Value::Null));
    assert_eq!(of(&["--no-winsorise"])["winsorised_beyond"], Value::Null);
    assert!(number(&row(&of(&["--confidence", "50%"]), "A")["level"]) > 0.4);
}

#[test]
fn a_version_against_itself_shows_how_often_intervals_miss() {
    let place = place();
    // By script the two versions have different names.
    let store = Connection::open(place.path().join(".duet/duet.db")).unwrap();
    store.execute("UPDATE runs SET head = replace(head, 'scripted candidate', 'scripted baseline')", []).unwrap();
    drop(store);
    let document = study(&place, &["--format", "json"]).expect(0).json();
    let run = &document["runs"][0];
    assert_eq!(run["same_version"], true);
    // B is called changed by both, since by script it is.
    let levels = &run["levels"];
    assert_eq!((&levels["called_changed"], &levels["own_called_changed"]), (&1.into(), &1.into()));
    let [paper, own] = ["paired_resampled", "own_resampled"].map(|key| number(&levels[key]));
    assert!(own < paper && paper < 0.2, "{levels:#}");
}

#[test]
fn several_runs_stand_side_by_side_in_tables_and_figures() {
    let place = place();
    place.scripted(SCRIPT, &["--forks", "5", "--fixed", "--mode", "duet"]);
    let out = place.path().join("out");
    let args = ["r1", "r2", "--out", "out", "--samples", "A", "--format", "csv"];
    let ran = study(&place, &args).expect(0).says(&["tables and figures are in `out`"]);
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    assert_eq!(read("widths.csv"), ran.stdout);
    assert_eq!(read("improvement.csv").lines().count(), 3);
    assert_eq!(read("distribution.csv").lines().count(), 9);
    assert!(read("widths.svg").starts_with("<svg") && read("samples-r2.svg").contains("BenchmarkA in r2"));
    // Eight iterations of each of five fork pairs, below the headings; what goes up on one side goes up on the other.
    let samples = read("samples-r2.csv");
    assert_eq!(samples.lines().count(), 41);
    let text = study(&place, &["r1", "r2"]).expect(0).stdout;
    assert!(text.contains("run r1") && text.contains("run r2"), "{text}");
    assert!(text.contains("with fewer fork pairs than were to be drawn, all taken: 3 benchmarks"), "{text}");
}

#[test]
fn runs_that_cannot_answer_are_named_with_what_to_do() {
    let place = Place::new();
    study(&place, &[]).expect(1).says(&["nothing has been measured"]);
    place.scripted(SCRIPT, &["--forks", "5", "--fixed", "--mode", "sequential"]);
    let hint = "hint: `duet compare --mode duet --forks 10 --fixed`";
    let sequential = "measured in sequential mode, where no iteration has a partner";
    study(&place, &["r1"]).expect(1).says(&["no benchmark of `r1` has three fork pairs", sequential, hint]);
    study(&place, &["r9"]).expect(1).says(&["there is no run `r9`"]);
    place.duet(&["run", "--scripted", "script.json", "--bench", "BenchmarkA", "--suite-runs", "2"]).expect(0);
    study(&place, &["r2"]).expect(2).says(&["run `r2` measured one version", "hint: `duet show r2`"]);
    place.scripted(SCRIPT, &TWENTY);
    let unknown = study(&place, &["r3", "--out", "out", "--samples", "Z"]).expect(1);
    unknown.says(&["no run has paired iterations of a benchmark `Z`", "hint: `duet-study duet r3`"]);
    assert!(!place.path().join("out").exists());
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let place = place();
    let check = |args: &[&str], words: &str| {
        study(&place, args).expect(2).says(&[words]);
    };
    check(&["r1", "--forks", "2"], "neither `all` nor a number from 3 on");
    check(&["r1", "--confidence", "100%"], "`--confidence` is 1");
    check(&["r1", "--samples", "A"], "--out <DIR>");
    check(&["r1", "--format", "go"], "cannot be written as Go benchmark text");
}
