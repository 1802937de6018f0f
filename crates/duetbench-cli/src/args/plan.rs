//! `duet plan`.

use std::time::Duration;

use clap::Args;

use crate::options::Setting;

pub(super) const EXAMPLES: &str = "\
Nothing is measured and no file is written: the last `duet calibrate` tells how many builds and
processes of each benchmark see a change of that size. (The plan FILE of `duet compare --plan` is
another thing: `duet tune` learns it from one version alone.)
Exit codes: 0 every benchmark would see it; 1 there is no calibration; 2 usage; 4 some benchmark
would not see it.
Examples:
  duet plan --see 3%                 what it takes to see 3 %, nine times out of ten
  duet plan --see 3% --within 5m     whether five minutes are enough, and what would be
  duet plan --see 1% --power 80% --confidence 95%
  duet plan --see 2% --within 2m --instances 8
                                     on eight instances of a fleet at the same time
  duet plan --see 3% r12             from the calibration of this run";

/// `duet plan`. Typed only.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// The run whose calibration to plan from [default: the last one that was calibrated]
    pub run: Option<String>,
    /// Smallest change that is to be seen
    #[arg(long, value_name = "PERCENT", value_parser = f64::parse)]
    pub see: f64,
    /// Confidence of a verdict: no more than the rest of equal benchmarks are called changed
    #[arg(long, value_name = "PERCENT", default_value = "99%", value_parser = f64::parse)]
    pub confidence: f64,
    /// Share of runs in which a change of that size must be seen
    #[arg(long, value_name = "PERCENT", default_value = "90%", value_parser = f64::parse)]
    pub power: f64,
    /// Time that may be used for all benchmarks together, as `5m` [default: as much as it takes]
    #[arg(long, value_name = "TIME", value_parser = Duration::parse)]
    pub within: Option<Duration>,
    /// Instances of a fleet that measure at the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub instances: u32,
}
