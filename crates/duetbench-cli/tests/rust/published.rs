//! Published crates, and sources that lie beside the project.

use std::fs;
use std::process::Command;

use crate::common::Place;
use crate::{FORMS, LIB, duet, duet_with, write};

/// Has cargo optimise nothing, where no manifest of the test's can ask for that.
const UNOPTIMISED: [(&str, &str); 1] = [("CARGO_PROFILE_BENCH_OPT_LEVEL", "0")];

/// Whether cargo has, or can get, what the test of real crates needs.
pub(crate) fn fetched() -> bool {
    let place = Place::new();
    let manifest = |version: &str| {
        let package = "[package]\nname = \"t\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[lib]\npath = \"lib.rs\"\n";
        format!("{package}[dependencies]\nitoa = \"={version}\"\n[workspace]\n")
    };
    ["1.0.18", "1.0.19"].into_iter().all(|version| {
        place.write("Cargo.toml", &manifest(version)).write("lib.rs", "");
        let _ = fs::remove_file(place.path().join("Cargo.lock"));
        let fetch = Command::new("cargo").args(["fetch", "--quiet"]).current_dir(place.path()).output();
        fetch.is_ok_and(|output| output.status.success())
    })
}

pub(crate) fn published_crates_are_compared() {
    let place = Place::new();
    let args = ["compare", "itoa@1.0.18", "itoa@1.0.19", "--format", "json", "--fixed", "--forks", "4"];
    let ran = duet_with(&place, &[&args[..], &["--bench", "^u64\\[half\\]"]].concat(), &UNOPTIMISED);
    assert!(ran.stdout.contains("\"resolved\": \"itoa@1.0.19\""), "{}", ran.stdout);
    assert_eq!(ran.benchmark("u64[half]/itoa")["forks"].as_array().unwrap().len(), 4);
    let own = duet_with(&place, &["compare", "itoa@1.0.19", "itoa@1.0.19", "--format", "json"], &UNOPTIMISED).expect(0);
    assert_eq!(own.verdict("u64[half]/itoa"), "identical_code");
}

/// A home of cargo's in which all crates come from a folder with one of them.
fn registry(place: &Place) -> String {
    let config = "[source.crates-io]\nreplace-with = \"here\"\n[source.here]\ndirectory = \"";
    let folder = place.path().join("vendor");
    place.write("home/config.toml", &format!("{config}{}\"\n", folder.display()));
    let manifest = "[package]\nname = \"left\"\nversion = \"1.0.0\"\nedition = \"2021\"\n\
                    repository = \"https://example.com/left\"\n[[bench]]\nname = \"gone\"\nharness = false\n";
    place.write("vendor/left/Cargo.toml", manifest).write("vendor/left/Cargo.toml.orig", manifest);
    place.write("vendor/left/src/lib.rs", "").write("vendor/left/.cargo-checksum.json", "{\"files\":{}}");
    place.path().join("home").display().to_string()
}

pub(crate) fn benches_that_were_not_published_are_named() {
    let place = Place::new();
    let home = registry(&place);
    let ran = duet_with(&place, &["compare", "left@1.0.0", "left@latest"], &[("CARGO_HOME", &home)]).expect(1);
    ran.says(&["left@1.0.0", "the published package does not hold them: gone", "git clone https://example.com/left"]);
}

pub(crate) fn crates_that_are_not_there_are_refused() {
    let place = Place::new();
    let home = registry(&place);
    let env = [("CARGO_HOME", home.as_str())];
    duet_with(&place, &["list", "left@2.0.0"], &env)
        .expect(2)
        .says(&["the crate `left@2.0.0`", "=2.0.0", "cargo info"]);
    duet_with(&place, &["list", "right@1.0.0"], &env)
        .expect(2)
        .says(&["the crate `right@1.0.0`", "no matching package"]);
    let unlisted = ["the releases of the crate `left` are not known", "duet bisect"];
    duet_with(&place, &["bisect", "left@1.0.0", "left@1.0.1"], &env).expect(2).says(&unlisted);
    // Revisions that look like a version of a crate are revisions.
    write(&place, "", LIB, FORMS);
    place.git(&["init", "-q"]);
    place.commit_all("one");
    place.git(&["tag", "left@1.0.0"]);
    duet_with(&place, &["list", "left@1.0.0"], &env).expect(1).says(&["building left@1.0.0", "criterion"]);
}

pub(crate) fn vendored_sources_are_hooked_too() {
    let place = Place::new();
    write(&place, "", LIB, FORMS);
    let output =
        Command::new("cargo").args(["vendor", "--offline", "--locked"]).current_dir(place.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    place.write(".cargo/config.toml", &String::from_utf8(output.stdout).unwrap());
    let before = fs::read(place.path().join("vendor/criterion/src/lib.rs")).unwrap();
    let listed = duet(&place, &["list", ".", "--bench", "^iter$"]).expect(0).stdout;
    assert_eq!(listed, "tally/words\titer\tloop\n");
    assert_eq!(fs::read(place.path().join("vendor/criterion/src/lib.rs")).unwrap(), before);
}
