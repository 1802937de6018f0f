//! divan, on `examples/05-divan` and changes of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Place, assert_no_false_alarm};
use crate::{HASTY, duet};

pub(crate) fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/05-divan")
}

/// The example in a folder of the place, its library changed.
fn write(place: &Place, dir: &str, change: impl Fn(String) -> String) {
    for file in ["Cargo.toml", "Cargo.lock", "benches/tally.rs", "src/lib.rs"] {
        let text = fs::read_to_string(example().join(file)).unwrap();
        let text = match file {
            "src/lib.rs" => change(text),
            "Cargo.toml" => text + HASTY,
            _ => text,
        };
        place.write(&format!("{dir}/{file}"), &text);
    }
}

fn two(change: impl Fn(String) -> String) -> Place {
    let place = Place::new();
    write(&place, "old", |text| text);
    write(&place, "new", change);
    place
}

pub(crate) fn divan_has_the_names_that_it_filters_by() {
    let place = Place::new();
    write(&place, "", |text| text);
    let twins = "\nmod twins {\n    pub mod a {\n        pub struct T;\n    }\n    pub mod b {\n        pub struct T;\n    }\n    \
                 #[divan::bench(types = [a::T, b::T])]\n    fn twin<T>() -> u64 {\n        (0..divan::black_box(100)).sum()\n    }\n}\n\
                 #[divan::bench]\nfn idle(_: divan::Bencher) {}\n";
    let benches = fs::read_to_string(place.path().join("benches/tally.rs")).unwrap();
    place.write("benches/tally.rs", &(benches + twins));
    let listed = duet(&place, &["list", "."]).expect(1).stdout;
    let names = [
        ("fold::10", "loop"),
        ("fold::1000", "loop"),
        ("forms::local", "loop"),
        ("forms::other name", "loop"),
        ("forms::refs", "loop"),
        ("forms::values", "loop"),
        ("idle", "failed: it times nothing here"),
        ("of_const::20", "loop"),
        ("of_const::200", "loop"),
        ("of_type::String", "loop"),
        ("of_type::u8", "loop"),
        ("threads::t=1", "loop"),
        ("threads::t=2", "failed: it runs in 2 threads at once"),
        // Divan shows types without their modules.
        ("twins::twin::T", "loop"),
        ("twins::twin::T #2", "loop"),
    ];
    let want: String = names.iter().map(|(name, how)| format!("tally/tally\ttally::{name}\t{how}\n")).collect();
    assert_eq!(listed, want);
}

pub(crate) fn divan_against_itself_gives_no_alarm() {
    let place = two(|text| text);
    let proven = duet(&place, &["compare", "./old", "./new", "--format", "json", "--bench", "forms"]).expect(0);
    assert_eq!(proven.verdict("tally::forms::local"), "identical_code");
    let fixed = ["compare", "./old", "./new", "--format", "json", "--fixed", "--threshold", "20%"];
    for mode in ["interleaved", "duet", "sequential"] {
        let more = ["--measure-identical", "--forks", "6", "--mode", mode, "--bench", "forms::(local|values)"];
        let ran = duet(&place, &[&fixed[..], &more].concat());
        assert_no_false_alarm(&ran, &["tally::forms::local", "tally::forms::values"]);
        let local = ran.benchmark("tally::forms::local");
        // A duet on cores that turn out unlike begins anew in turns.
        let given_up = mode == "duet" && local["mode"] != "duet";
        assert!(local["forks"].as_array().unwrap().len() == 6 || given_up, "{mode}: {local:#}");
    }
}

pub(crate) fn a_slowdown_is_found_in_every_form_of_divan() {
    let place = two(|text| text.replace("..rounds", "..rounds * 2"));
    let fixed = ["compare", "./old", "./new", "--format", "json", "--fixed", "--threshold", "20%", "--forks", "6"];
    let ran = duet(&place, &[&fixed[..], &["--bench", "fold::1000|forms|of_|t=1"]].concat()).expect(3);
    let names = ["fold::1000", "forms::local", "forms::refs", "forms::values", "of_const::200", "of_type::String"];
    for name in names.into_iter().chain(["threads::t=1"]) {
        assert_eq!(ran.verdict(&format!("tally::{name}")), "regression", "{name}: {}", ran.stdout);
    }
}

/// CodSpeed's layer of divan in divan's place, with the packages of a lock file that is made now.
fn with_codspeed(place: &Place, dir: &str) -> bool {
    let file = format!("{dir}/Cargo.toml");
    let manifest = fs::read_to_string(place.path().join(&file)).unwrap();
    let line = manifest.lines().find(|line| line.starts_with("divan")).unwrap();
    let layer = "divan = { package = \"codspeed-divan-compat\", version = \"=6.0.0\" }";
    place.write(&file, &manifest.replace(line, layer));
    fs::remove_file(place.path().join(dir).join("Cargo.lock")).unwrap();
    let fetch = Command::new("cargo").args(["fetch", "--quiet"]).current_dir(place.path().join(dir)).output();
    fetch.is_ok_and(|output| output.status.success())
}

/// Whether cargo has, or can get, CodSpeed's layer.
pub(crate) fn has_codspeed() -> bool {
    with_codspeed(&two(|text| text), "old")
}

pub(crate) fn codspeed_s_layer_of_divan_is_measured_and_counted() {
    let place = two(|text| text.replace("..rounds", "..rounds * 2"));
    assert!(["old", "new"].iter().all(|dir| with_codspeed(&place, dir)));
    let fixed = ["compare", "./old", "./new", "--format", "json", "--fixed", "--threshold", "20%", "--forks", "4"];
    let ran = duet(
        &place,
        &[&fixed[..], &["--builds", "1", "--alpha", "5%", "--count=all", "--bench", "fold::1000|values"]].concat(),
    );
    let report = ran.json();
    for name in ["tally::fold::1000", "tally::forms::values"] {
        assert_eq!(ran.verdict(name), "regression", "{name}: {}", ran.stdout);
        let one = report["instructions"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap();
        assert!(one["counts"]["change"].as_f64().is_some_and(|change| change > 0.9), "{one:#}");
        // A claim that the code is the same would be wrong.
        assert_ne!(one["counts"]["code"]["differing"], 0, "{one:#}");
    }
}

pub(crate) fn a_divan_that_does_not_fit_is_refused() {
    let place = two(|text| text);
    // A release of its own beside the project, with a source that is not as it used to be.
    place.write("divan/Cargo.toml", "[package]\nname = \"divan\"\nversion = \"0.1.20\"\nedition = \"2021\"\n");
    place.write("divan/src/lib.rs", "mod divan;\n").write("divan/src/divan.rs", "pub fn main() {}\n");
    let manifest = fs::read_to_string(place.path().join("new/Cargo.toml")).unwrap();
    let line = manifest.lines().find(|line| line.starts_with("divan")).unwrap();
    place.write("new/Cargo.toml", &manifest.replace(line, "divan = { path = \"../divan\" }"));
    let lock = "version = 3\n[[package]]\nname = \"divan\"\nversion = \"0.1.20\"\n\n[[package]]\nname = \"tally\"\n\
                version = \"0.1.0\"\ndependencies = [\"divan\"]\n";
    place.write("new/Cargo.lock", lock);
    let words = ["hook does not fit divan 0.1.20", "let mut command", "0 times", "divan 0.1.17 to 0.1.21"];
    duet(&place, &["list", "./new"]).expect(1).says(&words);
    let old = |file: &str| fs::read_to_string(place.path().join(file)).unwrap().replace("0.1.20", "0.1.4");
    let (manifest, lock) = (old("divan/Cargo.toml"), old("new/Cargo.lock"));
    place.write("divan/Cargo.toml", &manifest).write("new/Cargo.lock", &lock);
    duet(&place, &["list", "./new"]).expect(1).says(&["divan 0.1.4", "too old", "divan 0.1.17 to 0.1.21"]);
}
