//! Layouts of build pairs, with the real binary and real Go builds.

use serde_json::{Value, json};

use crate::common::{GOOD, Place, Ran, simple, two};
use crate::schema;

/// Compares two versions that differ, with build pairs.
fn compared(more: &[&str]) -> (Place, Ran) {
    let changed =
        format!("{GOOD}\n//go:noinline\nfunc added() int {{ return sink + 7 }}\n\nfunc init() {{ sink = added() }}\n");
    let place = two(&simple(GOOD), &simple(&changed));
    let fixed = ["compare", "./old", "./new", "--format", "json", "--forks", "4", "--fixed", "--threshold", "20%"];
    let ran = place.duet(&[&fixed[..], more].concat());
    (place, ran)
}

/// The layouts in the report, and its warnings.
fn layouts(ran: &Ran) -> (Value, String) {
    let report = ran.json();
    assert_eq!(schema::departures(&report), Vec::<String>::new());
    (report["layouts"].clone(), report["warnings"].to_string())
}

#[test]
fn layouts_are_matched_by_default_and_the_report_says_so() {
    let (place, ran) = compared(&[]);
    let ran = ran.expect(0);
    let (layouts, warnings) = layouts(&ran);
    assert_eq!(layouts, json!({ "matched": ["example.com/fixture"], "random": [] }), "{}", ran.stderr);
    assert!(!warnings.contains("layouts"), "{warnings}");
    let text = place.duet(&["show", "latest"]).expect(0).stdout;
    assert!(
        text.contains("layout:  matched layouts (what both versions have lies at the same address in both)"),
        "{text}"
    );
}

#[test]
fn random_layouts_can_be_asked_for() {
    let (place, ran) = compared(&["--layouts", "random"]);
    let (layouts, warnings) = layouts(&ran.expect(0));
    let random = json!([{ "package": "example.com/fixture", "reason": "random layouts were asked for" }]);
    assert_eq!(layouts, json!({ "matched": [], "random": random }));
    assert!(!warnings.contains("layouts"), "what was asked for is no warning: {warnings}");
    let text = place.duet(&["show", "latest"]).expect(0).stdout;
    assert!(text.contains("layout:  random layouts (each version has an order of its own)"), "{text}");
}

#[test]
fn where_layouts_cannot_be_matched_the_report_says_why() {
    let (_, ran) = compared(&["--", "-buildmode=pie"]);
    let (layouts, warnings) = layouts(&ran.expect(0));
    assert_eq!(layouts["random"][0]["reason"], "it is linked with `-buildmode=pie`");
    assert!(warnings.contains("layouts of `example.com/fixture` are random and not matched"), "{warnings}");
}

#[test]
fn halves_that_cannot_be_compared_are_not_called_matched() {
    // Without a symbol table nobody can tell where functions lie.
    let (_, ran) = compared(&["--", "-ldflags=-s"]);
    let (layouts, _) = layouts(&ran.expect(0));
    assert_eq!(layouts["random"][0]["reason"], "a program has no symbol table to check its layout by");
    assert_eq!(layouts["matched"], json!([]));
}
