//! The hook for JVMs, as the build script compiles it, without JMH.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

#[macro_use]
mod hook_support;
#[path = "../build/javac.rs"]
mod javac;

use hook_support::{Hook, hooks, run};

include!(concat!(env!("OUT_DIR"), "/java_hook.rs"));

static HOOK: LazyLock<Hook> = LazyLock::new(|| {
    let classes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("java_hook");
    for (name, bytes) in CLASSES {
        let file = classes.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
    }
    let tests = hooks().join("java/test");
    let sources = [tests.join("Loop.java"), tests.join("duetbench/hook/Check.java")];
    run(Command::new("javac").args(["--release", "9", "-cp"]).arg(&classes).arg("-d").arg(&classes).args(sources));
    let java = |main: &str| {
        // Small JVMs that start fast: many of them run at once.
        let quick =
            ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx64m", "-cp", classes.to_str().unwrap(), main];
        quick.map(str::to_owned).to_vec()
    };
    Hook { check: java("duetbench.hook.Check"), looping: java("Loop") }
});

every_hook!(HOOK);

#[test]
fn it_compiles_to_the_same_bytes_again_and_without_what_is_jmhs() {
    let again = tempfile::tempdir().unwrap();
    let names = javac::compile(&hooks().join("java"), again.path()).unwrap();
    let embedded: Vec<PathBuf> = CLASSES.iter().map(|(name, _)| name.into()).collect();
    assert_eq!(names.iter().map(PathBuf::from).collect::<Vec<_>>(), embedded);
    for (name, bytes) in CLASSES {
        assert!(name.starts_with("duetbench/hook/"), "`{name}` is not ours");
        assert_eq!(std::fs::read(again.path().join(name)).unwrap(), *bytes, "`{name}` differs");
        assert_eq!(bytes[6..8], [0, 53], "`{name}` is not for Java 9");
    }
    assert!(embedded.contains(&"duetbench/hook/DuetProfiler.class".into()));
}
