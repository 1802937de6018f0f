//! The engine against a server that takes what AWS Lambda takes and runs functions as processes here.
//!
//! Where MiniStack cannot be installed (no Python, no PyPI) these tests are listed as ignored.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may")]
#![allow(unreachable_pub, missing_docs, reason = "a test is no library")]

mod calls;
mod deploying;
mod faults;
#[path = "../support/ministack.rs"]
mod ministack;
mod permissions;
mod place;
mod proxy;
mod sweeping;

use libtest_mimic::{Arguments, Trial};

/// A test and its name.
type Case = (&'static str, fn());

fn main() {
    place::set_variables();
    let arguments = Arguments::from_args();
    let installed = if arguments.list { Ok(()) } else { ministack::install() };
    if let Err(e) = &installed {
        eprintln!("MiniStack cannot be installed: {e}");
    }
    let trial = |(name, test): Case| {
        let run = move || {
            test();
            Ok(())
        };
        Trial::test(name, run).with_kind("needs MiniStack").with_ignored_flag(installed.is_err())
    };
    let cases = [calls::CASES, deploying::CASES, faults::CASES, permissions::CASES, sweeping::CASES].concat();
    libtest_mimic::run(&arguments, cases.into_iter().map(trial).collect()).exit();
}
