//! The engine against a server that takes what AWS Lambda takes and runs functions as processes here.
//!
//! Where MiniStack cannot be installed (no Python, no PyPI) these tests are listed as ignored.

#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout, reason = "a test may")]
#![allow(unreachable_pub, missing_docs, reason = "a test is no library")]

mod calls;
#[path = "../../../duetbench-worker/tests/conformance/mod.rs"]
mod conformance;
mod conforms;
mod deploying;
mod faults;
#[path = "../support/ministack.rs"]
mod ministack;
mod permissions;
mod place;
mod proxy;
mod sweeping;

use duetbench_lambda::{Lambda, Settings};
use duetbench_run::fleet::Engine;
use libtest_mimic::{Arguments, Trial};

/// A test and its name.
type Case = (&'static str, fn());

/// With this variable the program only says how many calls at once there may be, by what its environment says.
const ASK_LIMITS: &str = "DUET_TEST_ASK_LIMITS";

fn main() {
    if std::env::var_os(ASK_LIMITS).is_some() {
        let lambda = Lambda::connect(Settings { role_arn: place::role(), ..Settings::default() }).unwrap();
        println!("{}", lambda.limits().unwrap().parallel);
        return;
    }
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
    let conclusion = libtest_mimic::run(
        &arguments,
        cases.into_iter().map(trial).chain(conforms::trials(installed.is_err())).collect(),
    );
    place::remove_profiles();
    conclusion.exit();
}
