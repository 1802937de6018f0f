//! The hook for JVMs, as duet carries it, without JMH.

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use duetbench_run::adapter::jmh::CLASSES;

use crate::hook_support::{Hook, hooks, run};
use crate::javac;

/// The release of the JDK that compiled the classes. Another one may choose other bytes.
const COMPILED_BY: &str = "javac 17.";

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
fn a_controller_that_cannot_be_seen_is_not_taken_for_dead() {
    HOOK.bears_a_hidden_controller();
}

#[test]
fn its_classes_are_those_of_its_sources_and_without_what_is_jmhs() {
    let (kept, again) = (hooks().join("java/classes"), tempfile::tempdir().unwrap());
    let names = javac::compile(&hooks().join("java"), again.path()).unwrap();
    if std::env::var_os("DUET_BLESS").is_some() {
        std::fs::remove_dir_all(&kept).unwrap();
        javac::compile(&hooks().join("java"), &kept).unwrap();
        return;
    }
    let embedded: Vec<&str> = CLASSES.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, embedded, "`DUET_BLESS=1 cargo test` compiles them anew; `adapter/jmh/hook.rs` lists them");
    let alike = javac::version().starts_with(COMPILED_BY);
    for (name, bytes) in CLASSES {
        assert!(name.starts_with("duetbench/hook/"), "`{name}` is not ours");
        let compiled = std::fs::read(again.path().join(name)).unwrap();
        assert!(!alike || compiled == *bytes, "`{name}` differs (`DUET_BLESS=1 cargo test` compiles it anew)");
        assert_eq!(bytes[6..8], [0, 53], "`{name}` is not for Java 9");
    }
    assert!(embedded.contains(&"duetbench/hook/DuetProfiler.class"));
}
