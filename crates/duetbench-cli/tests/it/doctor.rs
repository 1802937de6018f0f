//! `duet doctor` on whatever machine this is.

use crate::common::Place;

#[test]
fn the_doctor_describes_this_machine_and_ends_with_0() {
    let place = Place::new();
    let ran = place.duet(&["doctor", "--seconds", "1"]).expect(0).says(&["watching this machine for 1s"]);
    for label in ["\ncpu model:", "\nprocessors:", "\nsteal:", "\ntaken away:", "\nconclusion: "] {
        assert!(ran.stdout.contains(label), "`{label}` is missing in\n{}", ran.stdout);
    }
    assert!(!ran.stdout.contains('\u{1b}'), "no colour where nobody looks");
    assert!(!place.path().join(".duet").exists(), "nothing is stored");
}

#[test]
fn the_doctor_speaks_json() {
    let ran = Place::new().duet(&["doctor", "--seconds", "1", "--format", "json", "--quiet"]).expect(0);
    let json = ran.json();
    assert_eq!((&json["schema_version"], ran.stderr.as_str()), (&1.into(), ""));
    assert!(json["watched_s"].as_f64().unwrap() >= 0.9, "{json:#}");
    assert!(json["machine"]["cpus_usable"].as_u64().unwrap() >= 1);
    assert!(json["measured"]["load_1min"].is_number(), "{json:#}");
    let gaps = json["gaps"].as_array().unwrap();
    assert_eq!(gaps.len() as u64, json["machine"]["cpus_usable"].as_u64().unwrap());
    assert!(json["conclusion"].is_string() && json["findings"].is_array());
}

#[test]
fn the_doctor_wants_at_least_a_second() {
    Place::new().duet(&["doctor", "--seconds", "0"]).expect(2).says(&["--seconds"]);
    let help = Place::new().duet(&["doctor", "--help"]).expect(0);
    assert!(
        help.stdout.contains("[default: 2]") && help.stdout.contains("duet doctor --seconds 60"),
        "{}",
        help.stdout
    );
}
