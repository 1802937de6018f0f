//! `duet calibrate` with the real binary and real Go builds, and what `duet calibrate --see` and later calls make of it. No test asserts a time.

use crate::common::{GOOD, Place, simple};
use crate::schema::{CALIBRATE, departures_from};

#[test]
fn a_version_is_calibrated_planned_from_and_left_alone_while_nothing_changes() {
    let place = Place::new();
    place.write_module("suite", &simple(GOOD));
    let extent = ["--builds", "4", "--forks", "8", "--seen-after", "1h", "--format", "json"];
    let ran = place.duet(&[&["calibrate", "./suite"], &extent[..]].concat()).expect(0);
    assert_eq!(departures_from(CALIBRATE, &ran.json()), Vec::<String>::new());
    let good = ran.benchmark("BenchmarkGood");
    assert!(good["sources"]["layout"].is_number(), "every build pair has a layout of its own\n{good:#}");
    for cost in ["build_s", "fork_s", "slice_s"] {
        assert!(good["costs"][cost].as_f64().unwrap() > 0.0, "{cost}\n{good:#}");
    }
    assert!(good["sights"][0]["builds"].as_u64().unwrap() > 4, "an hour pays for more than was measured\n{good:#}");
    // Although both sides run the same machine code, all of it was measured.
    let run = place.duet(&["show", "--format", "json"]);
    assert_eq!(run.benchmark("BenchmarkGood")["forks"].as_array().unwrap().len(), 8);
    let digest = |role: &str| run.json()["versions"][role]["artifact_digest"].clone();
    assert_eq!(digest("baseline"), digest("candidate"));
    assert_eq!(run.json()["calibration"]["run"], "r1");
    let plan = place.duet(&["calibrate", "--see", "900%", "--format", "json"]).expect(0).json();
    assert!(plan["command"].as_str().unwrap().starts_with("duet compare --builds "), "{plan:#}");
    place.duet(&["calibrate", "./suite", "--if-changed"]).expect(0).says(&["nothing has changed"]);
    place.write_module("suite", &simple(&GOOD.replace("Good", "Other")));
    let other = place.duet(&["calibrate", "./suite", "--if-changed", "--dry-run"]).expect(0);
    assert!(other.stdout.contains("BenchmarkOther"), "{}", other.stdout);
}
