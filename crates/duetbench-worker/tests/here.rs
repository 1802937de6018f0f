//! Workers on this machine are an engine like any other.

#[macro_use]
mod conformance;

use std::path::Path;

use conformance::{Package, World};
use duetbench_run::fleet::here::Here;

fn with_world(name: &str, case: impl Fn(&World<'_>)) {
    let package = Package::new(Path::new(env!("CARGO_BIN_EXE_duet-worker")));
    case(&World { engine: &Here::new(24), package: &package, name });
}

conformance!(with_world);
