//! Arguments about a fleet.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use duetbench_core::spec::Arch;

use crate::options::{AccountArgs, Choice};

/// Actions of `duet fleet`.
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Print the two policies that AWS Lambda needs: what whoever runs `duet` may do, and who may use the role of the functions
    Policy(PolicyArgs),
    /// Remove functions and packages that runs which died left behind and whose time is up, and list the others
    Sweep(SweepArgs),
    /// Check an account in a minute: make a function, call it twice, remove it; costs less than a cent
    Smoke(SmokeArgs),
}

/// `duet fleet policy`.
#[derive(Debug, Args)]
pub struct PolicyArgs {
    /// Place and account.
    #[command(flatten)]
    pub account: AccountArgs,
    /// Write them to `coordinator.json` and `trust.json` in this folder instead; files that are there are not overwritten
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// `duet fleet sweep`.
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// Place and account.
    #[command(flatten)]
    pub account: AccountArgs,
    /// Remove those whose time is not up too; a run that still needs one ends
    #[arg(long)]
    pub now: bool,
}

/// `duet fleet smoke`.
#[derive(Debug, Args)]
pub struct SmokeArgs {
    /// Place and account.
    #[command(flatten)]
    pub account: AccountArgs,
    /// Memory of the instance in MB
    #[arg(long, value_name = "MB", default_value_t = 2048, value_parser = clap::value_parser!(u32).range(128..=10_240))]
    pub memory: u32,
    /// Processor of the instance [default: that of this machine]
    #[arg(long, value_parser = Arch::parser())]
    pub arch: Option<Arch>,
}
