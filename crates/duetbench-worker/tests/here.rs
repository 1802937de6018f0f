//! Workers on this machine are an engine like any other.

mod conformance;

use std::path::Path;

use conformance::{CASES, Case, Package, World};
use duetbench_run::fleet::here::Here;
use libtest_mimic::{Arguments, Trial};

fn main() {
    let trial = |(name, case): &Case| {
        let (name, case) = (*name, *case);
        Trial::test(name, move || {
            let package = Package::new(Path::new(env!("CARGO_BIN_EXE_duet-worker")));
            case(&World { engine: &Here::new(24), package: &package, name });
            Ok(())
        })
    };
    libtest_mimic::run(&Arguments::from_args(), CASES.iter().map(trial).collect()).exit();
}
