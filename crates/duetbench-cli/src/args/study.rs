//! `duet study`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::parse_fraction;
use super::tune::CompatArg;

/// `duet study`.
#[derive(Debug, Args)]
pub struct StudyArgs {
    /// Which study.
    #[command(subcommand)]
    pub study: Study,
}

/// The studies.
#[derive(Debug, Subcommand)]
pub enum Study {
    /// The four research questions of the µOpTime paper, on a folder of result files.
    #[command(after_help = UOPTIME_EXAMPLES)]
    Uoptime(UoptimeArgs),
}

const UOPTIME_EXAMPLES: &str = "\
Files are found in all folders below DIR. Their names are `project-version.csv`; files of one project in one folder are its versions,
in natural order. A leading `laaber_` and a trailing `-jmh121` belong to neither.
Examples:
  duet study uoptime results/
  duet study uoptime results/ --out tables/
                                     also rq1.csv to rq4.csv, and figures
  duet study uoptime results/ --rq rq4 --compat paper-code
                                     what the published code finds";

/// `duet study uoptime`. Typed only.
#[derive(Debug, Args)]
pub struct UoptimeArgs {
    /// Folder with result files, one per version: `project-version.csv`
    pub dir: PathBuf,
    /// Only these questions, may be repeated [default: all]
    #[arg(long, value_enum, value_name = "RQ", value_delimiter = ',')]
    pub rq: Vec<Question>,
    /// Also write tables as CSV and figures as SVG into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Iterations at the start of every fork that are removed as warm-up for the third question
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub warmup: u32,
    /// Largest value of a metric that is stable
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = parse_fraction)]
    pub threshold: f64,
    /// Confidence of the intervals
    #[arg(long, value_name = "PERCENT", default_value = "99%", value_parser = parse_fraction)]
    pub confidence: f64,
    /// Smallest relevant performance change
    #[arg(long, value_name = "PERCENT", default_value = "3%", value_parser = parse_fraction)]
    pub relevant: f64,
    /// Source of the random baseline; `paper-code` has its own
    #[arg(long, value_name = "N", default_value_t = 42)]
    pub seed: u64,
    /// Whose rules, where the paper and its published code differ
    #[arg(long, value_enum, default_value = "paper")]
    pub compat: CompatArg,
}

/// The research questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Question {
    /// Time saved, and accuracy
    Rq1,
    /// Differences between metrics
    Rq2,
    /// Warm-up removed
    Rq3,
    /// Performance changes found
    Rq4,
}

impl UoptimeArgs {
    /// Whether a question is to be answered.
    #[must_use]
    pub fn asks(&self, question: Question) -> bool {
        self.rq.is_empty() || self.rq.contains(&question)
    }
}
