//! Names of metrics in the repository's files and on the command line.

use clap::ValueEnum;
use duetbench_core::spec::Metric;
use serde::Deserialize;

/// Metrics that every benchmark has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricName {
    /// Time per invocation
    Time,
    /// Allocations per invocation
    Allocs,
    /// Bytes allocated per invocation
    Bytes,
    /// Instructions executed per invocation, counted because a rule names them
    Instructions,
}

impl From<MetricName> for Metric {
    fn from(name: MetricName) -> Metric {
        match name {
            MetricName::Time => Metric::Time,
            MetricName::Allocs => Metric::Allocs,
            MetricName::Bytes => Metric::Bytes,
            MetricName::Instructions => Metric::Instructions,
        }
    }
}

/// The metric that is meant by a name, or by the unit that a benchmark reports; none where neither is given.
///
/// # Errors
/// In words, when both are.
pub fn meant(name: Option<MetricName>, unit: Option<String>) -> Result<Option<Metric>, &'static str> {
    match (name, unit) {
        (Some(_), Some(_)) => {
            Err("`metric` and `unit` exclude each other: a unit is what the benchmark reports itself")
        }
        (name, unit) => Ok(name.map(Metric::from).or(unit.map(Metric::Reported))),
    }
}
