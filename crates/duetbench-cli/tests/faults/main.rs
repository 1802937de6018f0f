//! Nothing is lost, whatever happens to a run: it is killed, interrupted, its processes are killed, stopped and starved, the
//! disk is full. What was reported stays in the store, and going on leads to the verdicts of an undisturbed run.
//!
//! What is done, and when, is drawn from fixed seeds; a test that fails prints what was done to its run. Tests that cannot run
//! here are listed as ignored.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may")]
#![allow(unreachable_pub, missing_docs, reason = "a test is no library")]

#[path = "../common/mod.rs"]
mod common;
mod scripted;
mod support;

use libtest_mimic::Arguments;

/// Everything random comes from it.
const SEED: u64 = 0xfa17;

fn main() {
    let tests = scripted::tests(SEED);
    let conclusion = libtest_mimic::run(&Arguments::from_args(), tests);
    eprintln!("seed {SEED:#x}, {}", support::summary());
    conclusion.exit();
}
