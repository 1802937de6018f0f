//! Versions of several modules.

use crate::common::{GOOD, Place, simple};

/// A version below this folder, with two modules in it.
fn two_modules(place: &Place, version: &str) {
    for module in ["a", "b"] {
        place.write(&format!("{version}/{module}/go.mod"), &format!("module example.com/{module}\n\ngo 1.21\n"));
        place.write(&format!("{version}/{module}/fixture_test.go"), &simple(GOOD));
    }
}

#[test]
fn the_modules_of_a_workspace_are_measured_in_one_run() {
    let place = Place::new();
    for version in ["old", "new"] {
        two_modules(&place, version);
        place.write(&format!("{version}/go.work"), "go 1.21\n\nuse (\n\t./a\n\t./b\n)\n");
    }
    let compare = ["compare", "./old", "./new", "--dry-run", "--measure-identical"];
    let planned = place.duet(&compare).expect(0).stdout;
    assert!(planned.contains("example.com/a\n  BenchmarkGood: ") && planned.contains("example.com/b\n"), "{planned}");
    let proven = place.duet(&compare[..4]).expect(0).stdout;
    assert!(proven.contains("\n0 benchmarks, about 0ms; 2 proven the same saves up to "), "{proven}");
    let one = place.duet(&[&compare[..], &["--packages", "./b"]].concat()).expect(0).stdout;
    assert!(!one.contains("example.com/a") && one.contains("example.com/b"), "{one}");
    // A module from outside of the version would be the same in both.
    place.write("new/b/go.mod", "module example.com/b\n\ngo 1.21\n\nreplace example.com/c => ../../c\n");
    place.duet(&compare).expect(2).says(&["replaces `example.com/c`"]);
}

#[test]
fn several_modules_are_named_by_their_folders() {
    let place = Place::new();
    two_modules(&place, "old");
    two_modules(&place, "new");
    let compare = ["compare", "./old", "./new", "--dry-run", "--measure-identical"];
    let in_all = "--packages ./a/... --packages ./b/...";
    place.duet(&compare).expect(2).says(&["is not inside a Go module", "(`a`, `b`)", in_all]);
    let planned = place.duet(&[&compare[..], &in_all.split(' ').collect::<Vec<_>>()].concat()).expect(0).stdout;
    assert!(planned.contains("example.com/a\n  BenchmarkGood: ") && planned.contains("example.com/b\n"), "{planned}");
}
