//! Arguments about a fleet.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use duetbench_core::spec::{Arch, EngineName};

/// Measuring on a fleet instead of here.
#[derive(Debug, Args)]
#[command(next_help_heading = "Fleet")]
pub struct FleetArgs {
    /// Measure on instances of a fleet: the pairs are built here, sent there and fanned out; costs money (see docs/fleet.md)
    #[arg(long, value_enum, value_name = "ENGINE")]
    pub on: Option<EngineArg>,
    /// Memory of an instance in MB, from which its share of processors follows [default: 2048]
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u32).range(128..=10_240), requires = "on")]
    pub memory: Option<u32>,
    /// Processor of the instances [default: that of this machine]
    #[arg(long, value_enum, requires = "on")]
    pub arch: Option<ArchArg>,
    /// Most calls at once [default: 150]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), requires = "on")]
    pub parallel: Option<u32>,
    /// Most that the run may cost, in US dollars; nothing is sent that could exceed it [default: 2]
    #[arg(long, value_name = "USD", value_parser = parse_dollars)]
    pub max_cost: Option<f64>,
    /// Longest that measuring may take, as `10m` [default: 30m]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub max_time: Option<Duration>,
    /// Process pairs that one call measures [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100), requires = "on")]
    pub forks_per_call: Option<u32>,
    /// Place and account.
    #[command(flatten)]
    pub account: AccountArgs,
}

/// Place and account in which functions are made.
#[derive(Debug, Clone, Args)]
pub struct AccountArgs {
    /// The role that functions run as, which should be allowed nothing at all, as `arn:aws:iam::…:role/duet-exec`
    #[arg(long, value_name = "ARN")]
    pub role: Option<String>,
    /// Bucket for packages of more than 50 MB
    #[arg(long, value_name = "NAME")]
    pub bucket: Option<String>,
    /// Region of the provider [default: what AWS's own settings say]
    #[arg(long, value_name = "NAME")]
    pub region: Option<String>,
    /// The worker's program [default: `duet-worker` beside `duet`]
    #[arg(long, value_name = "FILE")]
    pub worker: Option<PathBuf>,
    /// Prices to reckon with instead of those that duet knows
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
}

/// `--on`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EngineArg {
    /// AWS Lambda
    Lambda,
    /// Workers on this machine, as a rehearsal: in turns with nobody, so its numbers are worth little
    Here,
}

impl From<EngineArg> for EngineName {
    fn from(engine: EngineArg) -> Self {
        match engine {
            EngineArg::Lambda => EngineName::Lambda,
            EngineArg::Here => EngineName::Here,
        }
    }
}

/// `--arch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ArchArg {
    /// 64-bit x86
    #[value(name = "x86_64")]
    X86_64,
    /// 64-bit ARM
    Arm64,
}

impl From<ArchArg> for Arch {
    fn from(arch: ArchArg) -> Self {
        match arch {
            ArchArg::X86_64 => Arch::X86_64,
            ArchArg::Arm64 => Arch::Arm64,
        }
    }
}

/// Reads an amount above nothing.
///
/// # Errors
/// In words, when it is none.
pub fn parse_dollars(text: &str) -> Result<f64, String> {
    match text.trim().trim_start_matches('$').parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("give an amount above 0, like `2.50`".into()),
    }
}

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
    #[arg(long, value_enum)]
    pub arch: Option<ArchArg>,
}

impl FleetCommand {
    /// Place and account.
    #[must_use]
    pub fn account(&self) -> &AccountArgs {
        match self {
            FleetCommand::Policy(args) => &args.account,
            FleetCommand::Sweep(args) => &args.account,
            FleetCommand::Smoke(args) => &args.account,
        }
    }
}
