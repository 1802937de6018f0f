//! `duet analyze --method` by the real binary, on small made-up recordings.

use crate::common::{Place, recording};
use crate::schema::{DETECTION, assert_keeps_to};

fn place() -> Place {
    let place = Place::new();
    place.write("p-1.0.csv", &recording(&[("A", 100.0), ("B", 100.0), ("C", 50.0)]));
    place.write("p-1.1.csv", &recording(&[("A", 120.0), ("B", 100.0), ("D", 50.0)]));
    place.write("other.csv", &recording(&[("X", 1.0)]));
    place
}

#[test]
fn a_regression_by_duets_rule_is_3_and_by_the_papers_alone_0() {
    let place = place();
    let ran = place.duet(&["analyze", "p-1.0.csv", "p-1.1.csv", "--method", "both", "--format", "json"]).expect(3);
    assert_keeps_to(DETECTION, &ran.json());
    let of = |name: &str| ran.benchmark(name);
    assert_eq!(
        (&of("A")["duet"]["verdict"], &of("A")["paper"]["change"]),
        (&"regression".into(), &"regression".into())
    );
    assert_eq!(
        (&of("B")["duet"]["verdict"], &of("B")["paper"]["change"]),
        (&"no_change".into(), &serde_json::Value::Null)
    );
    assert_eq!((&ran.json()["only_base"][0], &ran.json()["only_head"][0]), (&"C".into(), &"D".into()));
    let papers = place.duet(&["analyze", "p-1.0.csv", "p-1.1.csv", "--method", "paper"]).expect(0);
    assert!(papers.stdout.contains("papers' rule: 1 regression, 0 improvements of 2 benchmarks"), "{}", papers.stdout);
    assert!(!papers.stdout.contains("duet's rule"), "{}", papers.stdout);
    place.duet(&["analyze", "p-1.1.csv", "p-1.0.csv", "--method", "both"]).expect(0);
}

/// A recording of as many forks as there are levels, each with that level.
fn forks(levels: &[f64]) -> String {
    let mut out = "m_id,n,ns_per_op,it_setup,fork_setup,it_pos,fork_pos,b_name\n".to_owned();
    for (fork, level) in levels.iter().enumerate() {
        for iteration in 1..=3 {
            let value = level + f64::from(iteration);
            out += &format!("0,1,{value},3,{},{iteration},{},A\n", levels.len(), fork + 1);
        }
    }
    out
}

#[test]
fn what_duets_rule_cannot_tell_passes_no_gate_by_the_papers() {
    let place = Place::new();
    place.write("few.csv", &forks(&[100.0, 101.0])).write("noisy.csv", &forks(&[80.0, 100.0, 130.0]));
    let exits = |file: &str, method: &str, more: &[&str], want: i32| {
        let ran = place.duet(&[&["analyze", file, file, "--method", method, "--format", "json"], more].concat());
        assert_eq!(ran.expect(want).json()["exit_code"], want, "{file} {method} {more:?}");
    };
    for method in ["duet", "both"] {
        exits("few.csv", method, &[], 1);
        exits("noisy.csv", method, &[], 0);
        exits("noisy.csv", method, &["--strict"], 4);
    }
    exits("few.csv", "paper", &["--strict"], 0);
}

#[test]
fn nothing_in_common_is_1_and_numbers_out_of_range_are_2() {
    let place = place();
    place
        .duet(&["analyze", "p-1.0.csv", "other.csv", "--method", "both"])
        .expect(1)
        .says(&["no benchmark in common", "hint: "]);
    place.duet(&["analyze", "p-1.0.csv", "nowhere.csv", "--method", "both"]).expect(1).says(&["nowhere.csv"]);
    place
        .duet(&["analyze", "p-1.0.csv", "p-1.1.csv", "--method", "both", "--confidence", "100%"])
        .expect(2)
        .says(&["--confidence"]);
    place.duet(&["analyze", "p-1.0.csv", "p-1.1.csv", "--method", "both", "--format", "go"]).expect(2);
    place
        .duet(&["analyze", "p-1.0.csv", "p-1.1.csv", "--confidence", "95%"])
        .expect(2)
        .says(&["`--confidence`", "`--method`"]);
}

#[test]
fn a_plan_says_what_its_repetitions_would_have_found() {
    let place = place();
    place.duet(&["tune", "p-1.0.csv", "--plan-file", "plan.toml"]).expect(0);
    let ran = place
        .duet(&["analyze", "p-1.0.csv", "p-1.1.csv", "--method", "both", "--plan", "plan.toml", "--format", "json"])
        .expect(3);
    assert_keeps_to(DETECTION, &ran.json());
    let plan = &ran.json()["plan"];
    assert_eq!((&plan["compared"], &plan["changes_full"], &plan["changes_planned"]), (&2.into(), &1.into(), &1.into()));
}
