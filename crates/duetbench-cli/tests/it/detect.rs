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
