//! Former names of commands: they do what their successors do, and say where they went.

use crate::common::{Place, recording};

const SCRIPT: &str = r#"{"BenchmarkA": {"baseline_ns": 100, "candidate_ns": 110, "spread": 0.002}}"#;

#[test]
fn a_former_name_does_what_its_successor_does() {
    let place = Place::new();
    place.scripted(SCRIPT, &[]).expect(3);
    place.duet(&["calibrate", "--scripted", "script.json", "--seed", "1"]).expect(0);
    place.write("a.csv", &recording(&[("A", 100.0)])).write("b.csv", &recording(&[("A", 120.0)]));
    let check = |former: &[&str], now: &[&str]| {
        let [former_ran, now_ran] = [former, now].map(|words| place.duet(words));
        assert_eq!((former_ran.stdout, former_ran.code), (now_ran.stdout, now_ran.code), "{former:?}");
        let hint = format!("hint: `duet {}` is now `duet {}", former[0], now[0]);
        assert!(former_ran.stderr.contains(&hint) && !now_ran.stderr.contains("is now"), "{}", former_ran.stderr);
        let quiet = place.duet(&[former, &["--quiet"]].concat());
        assert_eq!(quiet.stderr, "", "{former:?}");
    };
    let page = place.duet(&["show", "r1", "--format", "html"]).expect(3).stdout;
    place.duet(&["report", "r1"]).expect(0).says(&["hint: `duet report` is now `duet show --format html`"]);
    assert_eq!(std::fs::read_to_string(place.path().join("duet-report.html")).unwrap(), page);
    check(&["plan", "--see", "3%", "r2"], &["calibrate", "--see", "3%", "--run", "r2"]);
    check(&["detect", "a.csv", "b.csv"], &["analyze", "a.csv", "b.csv", "--method", "both"]);
    check(
        &["detect", "a.csv", "b.csv", "--confidence", "95%"],
        &["analyze", "a.csv", "b.csv", "--method", "both", "--alpha", "5%"],
    );
    place.duet(&["study", "uoptime", "a b"]).expect(2).says(&["`duet-study uoptime 'a b'`"]);
}
