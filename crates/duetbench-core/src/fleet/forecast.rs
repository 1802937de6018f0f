//! What a plan is going to take on a fleet, before anything is sent.

use std::time::Duration;

use super::Rate;
use crate::plan::Plan;
use crate::spec::FleetSpec;

/// What is assumed of calls before any was made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CallLength {
    /// Starting an instance and unpacking what it runs, nanoseconds.
    pub cold_ns: u64,
    /// What a call takes beside measuring, nanoseconds.
    pub overhead_ns: u64,
}

impl Default for CallLength {
    fn default() -> Self {
        CallLength { cold_ns: 500_000_000, overhead_ns: 50_000_000 }
    }
}

/// What a plan is going to take at most, if it goes as predicted; most benchmarks end earlier.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// Calls.
    pub calls: u32,
    /// Calls at once.
    pub parallel: u32,
    /// Wall time of measuring, without building and uploading.
    pub wall: Duration,
    /// US dollars.
    pub cost_usd: f64,
}

/// Predicts time and cost of a plan. `parallel` is what account and user allow.
#[must_use]
pub fn forecast(plan: &Plan, spec: &FleetSpec, parallel: u32, rate: Rate, length: CallLength) -> Forecast {
    let _ = (plan, spec, parallel, rate, length);
    unimplemented!()
}
