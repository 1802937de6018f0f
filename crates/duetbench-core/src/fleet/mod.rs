//! A fleet's calls as numbers: their cost, their number at once, and those to send again. Pure; a clock is handed in.

use std::time::Duration;

use serde::{Deserialize, Serialize};

mod account;
mod dispatcher;
mod forecast;
mod pace;
mod price;

pub use account::{Abandoned, Account, CallEnd, FleetReport, FleetTerms, Lacking, ProcessorShare, fail_abandoned};
pub use dispatcher::{Caps, Dispatcher, Ended, Fate, GaveUp, Heard, Next, Sending, Tallied};
pub use forecast::{CallLength, Forecast, forecast};
pub use pace::Pace;
pub use price::{PriceTable, Rate};

/// The work of one call: consecutive fork pairs of one benchmark in one instance. It is also the name of the task, the same
/// whenever the same plan is followed, so that a result is counted once however often it arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Task {
    /// Index into [`crate::plan::Plan::benchmarks`].
    pub benchmark: u32,
    /// The first of its suite runs.
    pub first_suite_run: u32,
    /// Number of its suite runs.
    pub suite_runs: u32,
}

/// Billed usage of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Time that is paid for, nanoseconds; starting the instance included where the call did that.
    pub billed_ns: u64,
    /// It started an instance.
    pub cold: bool,
}

/// The time since measuring began, as the caller's clock has it.
pub type Since = Duration;
