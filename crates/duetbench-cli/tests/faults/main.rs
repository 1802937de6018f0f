//! Nothing is lost, whatever happens to a run: it is killed, interrupted, its processes are killed, stopped and starved, the
//! disk is full. What was reported stays in the store, and going on leads to the verdicts of an undisturbed run.
//!
//! The faults and their times are drawn from fixed seeds; a test that fails prints what was done to its run. Tests that cannot run
//! here are listed as ignored.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may")]
#![allow(unreachable_pub, missing_docs, reason = "a test is no library")]

#[path = "../common/mod.rs"]
mod common;
mod disk;
mod leftovers;
mod real;
mod refusals;
mod sandbox;
mod scripted;
mod support;
mod surroundings;
mod workers;

use std::process::Command;

use libtest_mimic::{Arguments, Trial};

/// Everything random comes from it.
const SEED: u64 = 0xfa17;

fn main() {
    let go_found = Command::new("go").arg("version").output().is_ok();
    let needs_go = |test: Trial| test.with_kind("needs go").with_ignored_flag(!go_found);
    let with_go = real::tests(SEED).into_iter().chain(refusals::tests_with_go()).chain(leftovers::tests(SEED));
    let tests = scripted::tests(SEED)
        .into_iter()
        .chain(refusals::tests())
        .chain(leftovers::tests_of_commands())
        .chain(sandbox::tests(go_found))
        .chain(disk::tests(SEED, go_found))
        .chain(surroundings::tests(SEED, go_found))
        .chain(with_go.map(needs_go))
        .collect();
    let conclusion = libtest_mimic::run(&Arguments::from_args(), tests);
    eprintln!("seed {SEED:#x}, {}", support::summary());
    conclusion.exit();
}
