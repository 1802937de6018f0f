//! `duet detect`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use duetbench_core::detect::Statistic;

use crate::options::Setting;

pub(super) const EXAMPLES: &str = "\
Exit codes: 0 no regression by duet's rule, 3 a regression by it, 1 nothing in common or unreadable, 2 usage.
Examples:
  duet detect r12 r13                two stored runs
  duet detect zap-v1.22.0.csv zap-v1.23.0.csv
  duet detect base.json head.json --method paper --format csv
  duet detect base.json head.json --plan duet-plan.toml
                                     what the plan's repetitions would have found of it

Recordings are not measured side by side, so whatever the machine did between them counts as change too; `duet compare` measures
two versions side by side.";

/// `duet detect`. Typed only: what is compared is never the same twice.
#[derive(Debug, Args)]
pub struct DetectArgs {
    /// The version compared against: a run, as `r12`, or a result file of another tool
    pub base: PathBuf,
    /// The version under test, likewise
    pub head: PathBuf,
    /// Author of the rule
    #[arg(long, value_enum, default_value = "both")]
    pub method: DetectMethod,
    /// Smallest relevant change
    #[arg(long, value_name = "PERCENT", default_value = "3%", value_parser = f64::parse)]
    pub threshold: f64,
    /// Confidence of the intervals
    #[arg(long, value_name = "PERCENT", default_value = "99%", value_parser = f64::parse)]
    pub confidence: f64,
    /// Share of false alarms accepted among all changes that duet's rule reports
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = f64::parse)]
    pub fdr: f64,
    /// The result by the papers' rule
    #[arg(long, value_enum, default_value = "median")]
    pub statistic: StatisticArg,
    /// A plan: also say which changes its repetitions would have found, and which they would have missed, by the papers' rule
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
}

/// `--method`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DetectMethod {
    /// That of the papers: intervals that do not overlap, every value taken for independent
    Paper,
    /// duet's: a test of the outermost repetitions, error and false alarms kept
    Duet,
    /// Both beside each other
    Both,
}

/// `--statistic`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StatisticArg {
    /// Mean of all values
    Mean,
    /// Median of all values
    Median,
}

impl From<StatisticArg> for Statistic {
    fn from(statistic: StatisticArg) -> Self {
        match statistic {
            StatisticArg::Mean => Statistic::Mean,
            StatisticArg::Median => Statistic::Median,
        }
    }
}
