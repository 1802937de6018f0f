//! `duet waive` and `duet config`: what the repository accepts and wants.

use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use duetbench_core::gate::Day;

use crate::metric::MetricName;
use crate::options::Setting;

pub(super) const WAIVE_EXAMPLES: &str = "\
A waiver stands in duet-waivers.toml beside duet.toml, or at the project's root. As long as the slowdown is not larger than its \
ceiling and its last day is not over, the regression does not fail the run, and the report says that it was accepted. A waiver that \
expired, or whose benchmark is not slower any more, fails the run with exit code 5, or 3 where it is still slower, until it is \
removed.
Examples:
  duet waive Decode --days 90 --reason 'checks the sum now'
                                     as much as it is slower by in the last run, and what the interval leaves open
  duet waive example.com/codec.BenchmarkDecode --ceiling 8% --expires 2027-03-31 --reason 'see the issue' --link https://…
  duet waive BenchmarkDecode --metric allocs --expires 2027-03-31 --reason 'keeps a copy'
  duet waive BenchmarkLoad --unit rows/s --expires 2027-03-31 --reason 'checks every row'";

pub(super) const CONFIG_EXAMPLES: &str = "\
Examples:
  duet config check                  whether duet.toml and duet-waivers.toml can be understood, and what they say
  duet config schema > duet.schema.json
                                     for an editor that completes duet.toml; a first line `#:schema duet.schema.json` names it";

/// `duet waive`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("until").required(true).args(["expires", "days"]))]
pub struct WaiveArgs {
    /// The benchmark: its name as a report prints it, or with its package
    pub benchmark: String,
    /// The metric of it
    #[arg(long, value_enum, default_value = "time")]
    pub metric: MetricName,
    /// A unit that the benchmark reports itself, instead of a metric
    #[arg(long, value_name = "UNIT", conflicts_with = "metric")]
    pub unit: Option<String>,
    /// By how much it may have got worse [default: what the run leaves possible, in whole percent]
    #[arg(long, value_name = "PERCENT", value_parser = f64::parse)]
    pub ceiling: Option<f64>,
    /// Last day on which that is accepted, as 2027-03-31
    #[arg(long, value_name = "DAY")]
    pub expires: Option<Day>,
    /// For how many days from today that is accepted, instead of a last day
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=3650))]
    pub days: Option<u32>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// A place to read more about it
    #[arg(long, value_name = "URL")]
    pub link: Option<String>,
    /// The run in which it got worse
    #[arg(long, value_name = "RUN", default_value = "latest")]
    pub run: String,
}

/// `duet config`.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Check duet.toml and duet-waivers.toml, and say what they come to.
    #[command(after_help = CONFIG_EXAMPLES)]
    Check,
    /// Print the JSON schema of one of these files.
    #[command(after_help = CONFIG_EXAMPLES)]
    Schema {
        /// The file
        #[arg(value_enum, default_value = "settings")]
        file: ConfigFile,
    },
}

/// A file of the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ConfigFile {
    /// duet.toml
    Settings,
    /// duet-waivers.toml
    Waivers,
}
