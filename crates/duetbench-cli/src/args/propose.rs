//! `duet calibrate --see`.

use std::time::Duration;

use clap::Args;

use crate::options::Setting;

/// The design that is asked for. Typed only.
#[derive(Debug, Clone, Copy, Args)]
pub struct ProposeArgs {
    /// Measure nothing, and say how many builds and processes of each benchmark see a change of this size, by the last calibration or by
    /// that of the run named with `--run`
    #[arg(long, value_name = "PERCENT", value_parser = f64::parse)]
    pub see: Option<f64>,
    /// With `--see`: confidence of a verdict: no more than the rest of equal benchmarks are called changed
    #[arg(long, value_name = "PERCENT", default_value = "99%", requires = "see", value_parser = f64::parse)]
    pub confidence: f64,
    /// With `--see`: share of runs in which a change of that size must be seen
    #[arg(long, value_name = "PERCENT", default_value = "90%", requires = "see", value_parser = f64::parse)]
    pub power: f64,
    /// With `--see`: time that may be used for all benchmarks together, as `5m` [default: as much as it takes]
    #[arg(long, value_name = "TIME", requires = "see", value_parser = Duration::parse)]
    pub within: Option<Duration>,
    /// With `--see`: instances of a fleet that measure at the same time
    #[arg(long, value_name = "N", default_value_t = 1, requires = "see", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub instances: u32,
}
