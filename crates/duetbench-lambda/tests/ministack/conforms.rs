//! AWS Lambda is an engine like any other: the conformance suite with the worker that users deploy.

use std::path::PathBuf;

use libtest_mimic::Trial;

use crate::conformance::{CASES, Case, Package, World};
use crate::ministack::Options;
use crate::place;

/// The worker, which is built with the workspace's tests.
fn worker() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let worker = tests.parent().and_then(|deps| deps.parent()).unwrap().join("duet-worker");
    assert!(worker.exists(), "{} is not built: `cargo build -p duetbench-worker`", worker.display());
    worker
}

/// The whole suite, each case with a server of its own.
pub fn trials(ignored: bool) -> impl Iterator<Item = Trial> {
    CASES.iter().map(move |(name, case): &Case| {
        let (name, case) = (*name, *case);
        let run = move || {
            let server = place::place(Options::default());
            let (lambda, package) = (place::connect(&server), Package::new(&worker()));
            case(&World { engine: &lambda, package: &package, name: &name[..20] });
            assert_eq!(server.functions(), Vec::<String>::new(), "left behind");
            Ok(())
        };
        Trial::test(name, run).with_kind("needs MiniStack").with_ignored_flag(ignored)
    })
}
