//! Projects and toolchains that are not as they should be.

use std::fs;

use crate::common::Place;
use crate::{FORMS, LIB, duet, example, write};

/// The example alone.
fn one() -> Place {
    let place = Place::new();
    write(&place, "", LIB, FORMS);
    place
}

pub(crate) fn broken_workspaces_are_named() {
    let manifest = fs::read_to_string(example().join("Cargo.toml")).unwrap();
    let check = |broken: &str, code: i32, words: &[&str]| {
        let place = one();
        place.write("Cargo.toml", broken);
        duet(&place, &["list", "."]).expect(code).says(words);
    };
    check(&manifest.replace("[workspace]", "[workspace]\nmembers = [\"missing\"]"), 1, &["missing", "Cargo.toml"]);
    check(&manifest.replace("[package]", "[package"), 2, &["Cargo.toml", "[package"]);
    check(&manifest.replace("harness = false", "harness = false\npath = \"gone.rs\""), 1, &["gone.rs"]);
}

pub(crate) fn build_scripts_may_ask_git() {
    let place = one();
    place.write(
        "build.rs",
        "fn main() {
            let git = std::process::Command::new(\"git\").args([\"rev-parse\", \"HEAD\"]).output().unwrap();
            assert!(git.status.success(), \"this build needs a git checkout\");
        }",
    );
    duet(&place, &["list", ".", "--bench", "^iter$"]).expect(1).says(&["does not build", "needs a git checkout"]);
    place.git(&["init", "-q"]);
    place.commit_all("one");
    let listed = duet(&place, &["list", "HEAD", "--bench", "^iter$"]).expect(0).stdout;
    assert_eq!(listed, "tally/words\titer\tloop\n");
}
