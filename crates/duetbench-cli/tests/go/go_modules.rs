//! Versions of several modules.

use crate::common::{GOOD, Place, Ran, simple};

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
fn a_workspace_whose_own_folder_is_a_module_is_measured_whole() {
    let place = Place::new();
    for version in ["old", "new"] {
        two_modules(&place, version);
        place.write(&format!("{version}/go.work"), "go 1.21\n\nuse (\n\t.\n\t./a\n\t./b\n)\n");
        place.write(&format!("{version}/go.mod"), "module example.com/root\n\ngo 1.21\n");
        place.write(&format!("{version}/root_test.go"), &simple(GOOD));
    }
    let planned = place.duet(&["compare", "./old", "./new", "--dry-run", "--measure-identical"]).expect(0).stdout;
    for module in ["example.com/a\n", "example.com/b\n", "example.com/root\n"] {
        assert!(planned.contains(module), "{planned}");
    }
}

#[test]
fn modules_that_are_called_alike_are_refused() {
    let place = Place::new();
    for dir in ["a", "b"] {
        place.write(&format!("{dir}/go.mod"), "module example.com/same\n\ngo 1.21\n");
        place.write(&format!("{dir}/a_test.go"), &simple(GOOD));
    }
    let ran = place.duet(&["list", ".", "--packages", "./a/...", "--packages", "./b/..."]).expect(2);
    ran.says(&["`example.com/same` is in `", "--packages"]);
}

#[test]
fn a_checkout_behind_a_link_is_the_same_as_in_its_place() {
    let place = Place::go_module("package fixture\n");
    place.write("sub/sub_test.go", &simple(GOOD).replace("package fixture", "package sub"));
    place.git(&["init", "-q"]);
    place.commit_all("one");
    let outside = tempfile::tempdir().unwrap();
    let link = outside.path().join("link");
    std::os::unix::fs::symlink(place.path(), &link).unwrap();
    // As a shell does it that came there by the link.
    let mut command = place.command(&["compare", "HEAD", ".", "--format", "json"]);
    let ran = Ran::from(command.current_dir(&link).env("PWD", &link).output().unwrap());
    assert_eq!(ran.verdict("BenchmarkGood"), "identical_code", "{}", ran.stdout);
}

#[test]
fn a_workspace_that_replaces_a_module_by_one_outside_is_refused() {
    let place = Place::new();
    for version in ["old", "new"] {
        two_modules(&place, version);
        place.write(
            &format!("{version}/go.work"),
            "go 1.21\n\nuse (\n\t./a\n\t./b\n)\n\nreplace example.com/c => ../c\n",
        );
    }
    let compare = ["compare", "./old", "./new", "--dry-run", "--measure-identical"];
    place.duet(&compare).expect(2).says(&["replaces `example.com/c`"]);
}

#[test]
fn a_replacement_that_is_vendored_may_lie_outside() {
    let place = Place::new();
    for version in ["old", "new"] {
        place.write_module(version, &simple(GOOD));
        let module = "module example.com/fixture\n\ngo 1.21\n\nrequire example.com/lib v1.0.0\n\nreplace example.com/lib => ../lib\n";
        place.write(&format!("{version}/go.mod"), module);
        let listed = "# example.com/lib v1.0.0 => ../lib\n## explicit\nexample.com/lib\n# example.com/lib => ../lib\n";
        place.write(&format!("{version}/vendor/modules.txt"), listed);
        place.write(&format!("{version}/vendor/example.com/lib/lib.go"), "package lib\n\nfunc F() {}\n");
        place.write(&format!("{version}/use_test.go"), "package fixture\n\nimport _ \"example.com/lib\"\n");
    }
    let compare = ["compare", "./old", "./new", "--dry-run", "--measure-identical"];
    assert!(place.duet(&compare).expect(0).stdout.contains("BenchmarkGood: "));
    place.duet(&[&compare[..], &["--", "-mod=mod"]].concat()).expect(2).says(&["replaces `example.com/lib`"]);
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
