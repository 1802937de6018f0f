//! The policies that an AWS account needs, printed and written; nothing is asked for it.

use std::fs;

use serde_json::Value;

use crate::common::{Place, Ran};

const USUAL: [&str; 6] =
    ["fleet", "policy", "--role", "arn:aws:iam::123456789012:role/duet-exec", "--region", "eu-central-1"];

fn policy(place: &Place, more: &[&str]) -> Ran {
    place.duet(&[&USUAL[..], more].concat())
}

#[test]
fn the_policies_are_written_as_they_are_printed() {
    let place = Place::new();
    let printed = policy(&place, &[]).expect(0).stdout;
    let written = policy(&place, &["--out", "aws/duet"]).expect(0).stdout;
    assert_eq!(written, "aws/duet/coordinator.json\naws/duet/trust.json\n");
    let [coordinator, trust] = ["coordinator", "trust"].map(|name| {
        let json = fs::read_to_string(place.path().join(format!("aws/duet/{name}.json"))).unwrap();
        assert!(serde_json::from_str::<Value>(&json).unwrap()["Statement"].is_array(), "{json}");
        json
    });
    let without_headings: String =
        printed.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    assert_eq!(without_headings, coordinator + &trust);
}

#[test]
fn policies_that_are_there_are_not_overwritten() {
    for there in ["coordinator.json", "trust.json"] {
        let place = Place::new();
        place.write(there, "mine");
        let what = format!("`./{there}` is there already, and is not overwritten");
        policy(&place, &["--out", "."])
            .expect(1)
            .says(&[&what, "hint: remove it, or name another folder with `--out`"]);
        assert_eq!(fs::read_to_string(place.path().join(there)).unwrap(), "mine");
        let other = if there == "trust.json" { "coordinator.json" } else { "trust.json" };
        assert!(!place.path().join(other).exists(), "half of them was written");
    }
}
