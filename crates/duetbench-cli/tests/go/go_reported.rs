//! Metrics that benchmarks report under units of their own, with the real binary and real Go builds.
//!
//! No test asserts a time: what is reported is counted, or changes so much that it is found on any machine.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::{Place, Ran, compare, two};
use crate::schema;

/// Benchmarks of every style; what `Load` reports is counted, what `Rate` reports is made of its own clock.
const STORE: &str = "package fixture

import (
	\"fmt\"
	\"os\"
	\"path/filepath\"
	\"testing\"
	\"time\"
)

var sink int

//go:noinline
func work(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i ^ (s << 1)
	}
	return s
}

func BenchmarkLoad(b *testing.B) {
	rows := 0
	for i := 0; i < b.N; i++ {
		sink = work(300)
		rows += ROWS
	}
	b.ReportMetric(float64(rows)/float64(b.N), \"rows/op\")
	b.ReportMetric(float64(rows)/float64(b.N-1), \"wild\") // not a number of anything where b.N is 1
	b.ReportMetric(MISSES, \"misses\")
}

func BenchmarkRate(b *testing.B) {
	began := time.Now()
	for b.Loop() {
		sink = work(STEPS)
	}
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), \"loads/s\")
}

func BenchmarkPlace(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink = work(300)
	}
	// The number of the copy that this process was started from; -1 where it is none.
	path, _ := os.Executable()
	number := -1
	fmt.Sscanf(filepath.Base(path), \"program-%d\", &number)
	b.ReportMetric(float64(number+1), \"copy\")
	if number != 0 {
		b.ReportMetric(7, \"rare\")
	}
}

func BenchmarkQuiet(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink = work(300)
	}
}
";

struct Planted {
    rows: &'static str,
    misses: &'static str,
    steps: &'static str,
}

const BASE: Planted = Planted { rows: "4", misses: "0", steps: "300" };

fn store(planted: &Planted) -> String {
    STORE.replace("ROWS", planted.rows).replace("MISSES", planted.misses).replace("STEPS", planted.steps)
}

/// Compares the base with what was planted, under these rules.
fn compared(planted: &Planted, rules: &str, more: &[&str]) -> (Place, Ran) {
    let place = two(&store(&BASE), &store(planted));
    place.write("duet.toml", rules);
    let ran = compare(&place, more);
    (place, ran)
}

#[test]
fn a_value_that_is_no_number_is_named_unless_it_is_that_of_a_single_call() {
    let place = two(&store(&BASE), &store(&BASE));
    place.write("duet.toml", "[[rule]]\nunit = 'wild'\nthreshold = '10%'\n");
    let ran = compare(&place, &["--bench", "Load"]).expect(0);
    assert_eq!(verdict(&ran, "wild"), "no_change");
    place.write_module("new", &store(&BASE).replace("float64(b.N-1)", "0.0*float64(b.N)"));
    let wild = entry(&compare(&place, &["--bench", "Load"]).expect(1).json(), "wild");
    assert!(wild["reason"].as_str().unwrap().contains("it reported inf under `wild`"), "{wild:#}");
}

/// The entry of one unit.
fn entry(report: &Value, unit: &str) -> Value {
    let all = report["reported"].as_array().unwrap_or_else(|| panic!("nothing was read: {report:#}"));
    all.iter().find(|one| one["unit"] == unit).unwrap_or_else(|| panic!("no {unit}: {report:#}")).clone()
}

fn verdict(ran: &Ran, unit: &str) -> String {
    entry(&ran.json(), unit)["verdict"].as_str().unwrap().to_owned()
}

const ROWS: &str = "[[rule]]\nunit = 'rows/op'\nthreshold = '10%'\n";

#[test]
fn a_unit_that_a_rule_names_is_judged_and_fails_the_run_while_its_time_stays_as_it_is() {
    let planted = Planted { rows: "5", ..BASE };
    let (place, ran) = compared(&planted, ROWS, &["--bench", "Load|Quiet"]);
    let report = ran.expect(3).json();
    assert_eq!(schema::departures(&report), Vec::<String>::new());
    let rows = entry(&report, "rows/op");
    assert_eq!((&rows["name"], &rows["verdict"]), (&"BenchmarkLoad".into(), &"regression".into()));
    assert_eq!((&rows["baseline"], &rows["candidate"]), (&4.0.into(), &5.0.into()));
    let ratio = rows["ratio"].as_f64().unwrap();
    assert!((ratio - 1.25).abs() < 1e-12 && rows["pairs"] == 12, "{rows:#}");
    // Nobody asked for the other unit, and `Quiet` reports none.
    assert_eq!(report["reported"].as_array().unwrap().len(), 1);
    let breach = &report["gate"]["breaches"][0];
    assert_eq!((&breach["metric"], &breach["standing"]), (&"rows/op".into(), &"fails".into()));

    let text = place.duet(&["show"]).expect(3).stdout;
    assert!(text.contains("reported by benchmarks, in 12 pairs of processes"), "{text}");
    assert!(text.contains("fails: `rows/op` of `Load` worse by 25%"), "{text}");
    let comment = place.duet(&["show", "--format", "markdown"]).expect(3).stdout;
    assert!(comment.contains("| `Load` | `rows/op` | 4.000 | 5.000 | +25"), "{comment}");

    let waive = ["waive", "BenchmarkLoad", "--unit", "rows/op", "--expires", "2999-12-31", "--reason", "wanted"];
    place.duet(&waive).expect(0).says(&["may be worse by 25%"]);
    let accepted = place.duet(&["show", "--format", "json"]).expect(0).json();
    assert_eq!(accepted["gate"]["breaches"][0]["standing"], "waived");
    place.duet(&["config", "check"]).expect(0);
}

#[test]
fn processes_of_one_build_start_from_copies_and_a_pair_that_lacks_a_value_is_left_out() {
    let rules = "[[rule]]\nunit = 'copy'\naction = 'inform'\n[[rule]]\nunit = 'rare'\n";
    let (place, ran) = compared(&BASE, rules, &["--bench", "Place", "--builds", "1"]);
    let report = ran.expect(0).json();
    // One copy and then the other, from the first pair to the last; where copying takes long, some are used again.
    let copy = entry(&report, "copy");
    assert!(copy["baseline"].as_f64().unwrap() > 2.0 && copy["candidate"].as_f64().unwrap() > 2.0, "{copy:#}");
    let rare = entry(&report, "rare");
    let (judged, left_out) = (rare["pairs"].as_u64().unwrap(), rare["pairs_left_out"].as_u64().unwrap());
    assert!((1..=4).contains(&left_out) && judged + left_out == 12, "{rare:#}");
    assert_eq!(rare["verdict"], "no_change");
    let text = place.duet(&["show"]).expect(0).stdout;
    assert!(text.contains(&format!("({left_out} of 12 pairs left out: not reported by both)")), "{text}");
}

#[test]
fn direction_and_counts_from_nothing() {
    let rules = "[[rule]]\nunit = 'rows/op'\nbetter = 'higher'\n[[rule]]\nunit = 'misses'\naction = 'inform'\n";
    let planted = Planted { rows: "5", misses: "3", ..BASE };
    let (_, ran) = compared(&planted, rules, &["--bench", "Load"]);
    let ran = ran.expect(0);
    assert_eq!(
        (verdict(&ran, "rows/op"), verdict(&ran, "misses")),
        ("improvement".into(), "regression".into()),
        "{}",
        ran.json()["reported"]
    );
    assert_eq!(entry(&ran.json(), "misses")["ratio"], Value::Null);
    assert_eq!(ran.json()["gate"]["breaches"][0]["standing"], "informs");
}

#[test]
fn a_rate_of_the_benchmark_s_own_clock_is_the_harness_s_and_more_of_it_is_better() {
    let rule = "[[rule]]\nunit = 'loads/s'\n[[rule]]\nmetric = 'time'\naction = 'inform'\n";
    let planted = Planted { steps: "1200", ..BASE };
    // In other orders of functions too, which is the default.
    let (place, ran) = compared(&planted, rule, &["--bench", "Rate"]);
    let ran = ran.expect(3);
    let rate = entry(&ran.json(), "loads/s");
    let ratio = rate["ratio"].as_f64().unwrap();
    assert_eq!((&rate["verdict"], &rate["better"]), (&"regression".into(), &"higher".into()), "{rate:#}");
    assert!((0.1..0.5).contains(&ratio), "a quarter was planted: {rate:#}");
    let relinked = ["compare", "./old", "./new", "--bench", "Rate", "--budget", "60s", "--format", "json"];
    let rate = entry(&place.duet(&relinked).expect(3).json(), "loads/s");
    assert_eq!(rate["verdict"], "regression", "{rate:#}");
}

#[test]
fn equal_versions_report_no_change() {
    let (_, ran) = compared(&BASE, "[[rule]]\nunit = 'rows/op'\n[[rule]]\nunit = 'misses'\n", &["--bench", "Load"]);
    let ran = ran.expect(0);
    assert_eq!((verdict(&ran, "rows/op"), verdict(&ran, "misses")), ("no_change".into(), "no_change".into()));
}

#[test]
fn without_a_rule_nothing_more_is_run_and_one_about_an_unknown_unit_is_told() {
    let (place, ran) = compared(&Planted { rows: "5", ..BASE }, "", &["--bench", "Load"]);
    let ran = ran.expect(0);
    assert!(ran.json().get("reported").is_none() && !ran.stderr.contains("reading what"), "{}", ran.stderr);
    place.write("duet.toml", "[[rule]]\nunit = 'row/op'\n");
    let warnings = compare(&place, &["--bench", "Load"]).expect(0).json()["warnings"].to_string();
    assert!(warnings.contains("nothing that was measured reports `row/op`, which rules name"), "{warnings}");
    place.write("duet.toml", "[[rule]]\nunit = 'rows/op'\nmetric = 'time'\naction = 'gate'\n");
    compare(&place, &[]).expect(2).says(&["rule 1: `metric` and `unit` exclude each other"]);
    place.write("duet.toml", ROWS);
    let plan = ["compare", "./old", "./new", "--bench", "Load", "--dry-run"];
    let planned = place.duet(&plan).expect(0).stdout;
    assert!(planned.contains("what benchmarks report under units that rules name: about 12.0s"), "{planned}");
}

#[test]
fn what_cannot_be_read_fails_the_run_and_is_no_silence() {
    // Only where the harness itself runs it does its timer count as long as that.
    let dies = "\t\tif b.Elapsed() > 300*time.Millisecond {\n\t\t\tpanic(\"no luck\")\n\t\t}\n";
    let planted = store(&BASE).replace("\tfor b.Loop() {\n", &format!("\tfor b.Loop() {{\n{dies}"));
    let place = two(&planted, &planted);
    place.write("duet.toml", "[[rule]]\nunit = 'loads/s'\naction = 'gate'\n");
    let ran = compare(&place, &["--bench", "Rate"]).expect(1);
    let rate = entry(&ran.json(), "loads/s");
    assert_eq!(rate["verdict"], "failed", "{rate:#}");
    assert!(rate["reason"].as_str().unwrap().contains("no luck"), "{rate:#}");
    assert_eq!(schema::departures(&ran.json()), Vec::<String>::new());
}

#[test]
fn ctrl_c_while_reading_is_no_answer_and_the_run_goes_on_from_there() {
    let place = two(&store(&BASE), &store(&BASE));
    place.write("duet.toml", "[[rule]]\nunit = 'rows/op'\naction = 'gate'\n");
    let args = ["compare", "./old", "./new", "--bench", "Load", "--forks", "5", "--builds", "1", "--measure-identical"];
    let mut child = place.command(&args).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut seen = lines.map_while(Result::ok).skip_while(|line| !line.contains("reading what 1 benchmark reports"));
    assert!(seen.next().is_some(), "it never came to reading");
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    drop(seen.collect::<Vec<_>>());
    Ran::from(child.wait_with_output().unwrap()).expect(130);
    let shown = place.duet(&["show", "--format", "json"]).expect(130).json();
    assert_eq!((&shown["complete"], shown.get("reported")), (&false.into(), None));
    let resumed = place.duet(&["compare", "--resume", "latest", "--format", "json"]).expect(0);
    let forks = |report: &Value| report["benchmarks"][0]["forks"].clone();
    assert_eq!((verdict(&resumed, "rows/op"), forks(&resumed.json())), ("no_change".into(), forks(&shown)));
    place.duet(&["show"]).expect(0);
}
