//! Projects and toolchains that are not as they should be.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::common::Place;
use crate::{FORMS, LIB, duet, duet_with, example, write};

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

/// A program on the path, before all others.
fn program(place: &Place, name: &str, text: &str) -> String {
    place.write(&format!("bin/{name}"), text);
    let path = place.path().join("bin").join(name);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", place.path().join("bin").display(), std::env::var("PATH").unwrap())
}

/// The example and a slower one, of which a run has one layout, and says why.
fn one_layout(place: &Place, path: &str, words: &[&str]) {
    write(place, "old", LIB, FORMS);
    write(place, "new", &LIB.replace("2000", "3200"), FORMS);
    let args = ["compare", "./old", "./new", "--fixed", "--forks", "4", "--alpha", "5%", "--bench", "^iter$"];
    let ran = duet_with(place, &args, &[("CARGO_NET_OFFLINE", "true"), ("PATH", path)]).expect(3);
    let why = ["tally/words has one layout, because it cannot be linked again"];
    for word in why.iter().chain(words) {
        assert!(ran.stdout.contains(word), "`{word}` is missing in {}", ran.stdout);
    }
}

pub(crate) fn without_lld_there_is_one_layout() {
    let place = Place::new();
    // As Rust of a distribution that leaves LLD out.
    let path = std::env::var_os("PATH").unwrap();
    let real = std::env::split_paths(&path).map(|dir| dir.join("rustc")).find(|path| path.is_file()).unwrap();
    // Flags of rustc's that cargo knew of would have it compile criterion anew.
    let flags = "-Clinker-features=-lld";
    let fake = format!(
        "#!/bin/sh\ncase \"$*\" in '--print sysroot') echo /nowhere ;; *) exec {} \"$@\" {flags} ;; esac\n",
        real.display()
    );
    let path = program(&place, "rustc", &fake);
    one_layout(&place, &path, &["this Rust brings no LLD along", "-fuse-ld=lld"]);
}

/// A build script that names the linker of benchmarks.
fn linked_by(place: &Place, dir: &str, linker: &str) {
    let script = format!("fn main() {{ println!(\"cargo:rustc-link-arg-benches=-fuse-ld={linker}\") }}");
    place.write(&format!("{dir}/build.rs"), &script);
}

pub(crate) fn another_linker_may_refuse_to_order() {
    let place = Place::new();
    let fake = "#!/bin/sh\ncase \"$*\" in *shuffle-sections*=*=*) echo 'mold: bad option' >&2; exit 1 ;; esac\nexec ld \"$@\"\n";
    let path = program(&place, "ld.mold", fake);
    for dir in ["old", "new"] {
        linked_by(&place, dir, "mold");
    }
    one_layout(&place, &path, &["mold: bad option"]);
    linked_by(&place, "old", "nowhere");
    duet(&place, &["list", "./old"]).expect(1).says(&["does not build", "nowhere"]);
}
