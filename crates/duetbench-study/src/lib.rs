//! The `duet-study` command: the papers behind duet replicated, on their data or on anybody's. duet itself knows none of it.

use std::process::ExitCode;

use duetbench_cli::Program;
use duetbench_cli::commands::Context;
use duetbench_cli::failure::Failure;
use duetbench_cli::options::Layer;

use crate::args::{Cli, Study};

pub mod args;
pub mod commands;
pub mod papers;
pub mod render;
pub mod statistics;
pub mod stored;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    duetbench_cli::run::<Cli>()
}

impl Program for Cli {
    const NAME: &str = "duet-study";

    fn typed(&self) -> Layer {
        Layer::typed(&self.show)
    }

    fn ends_orderly(&self) -> bool {
        true
    }

    fn carry_out(&self, context: &Context) -> Result<u8, Failure> {
        match &self.study {
            Study::Uoptime(args) => commands::uoptime::run(args, context),
            Study::Choices(args) => commands::choices::run(args, context),
            Study::Elastibench(args) => commands::elastibench::run(args, context),
            Study::Duet(args) => commands::duet::run(args, context),
            Study::Cloud(args) => commands::cloud::run(args, context),
        }
    }
}
