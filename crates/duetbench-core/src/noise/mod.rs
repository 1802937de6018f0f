//! Noise: conditions of the machine while something was measured, and their diagnosis. Data and judgement only: `duetbench-run`
//! reads the counters, `duetbench-cli` has the words.
//!
//! A [`Reading`] and, more seldom, a [`SlowReading`] hold counters as they stand. The difference of two readings is
//! [`Conditions`]: what happened in between. Conditions hold sums and never shares, so that those of many trials merge into
//! those of a run, and so that the coarse ticks of `/proc/stat` matter less the longer the time is. [`diagnose`] turns
//! conditions and [`Facts`] into [`Finding`]s; [`Conditions::spoils`] tells whether a trial must be thrown away.

mod conditions;
mod cost;
mod diagnose;
mod explain;
mod finding;
mod gaps;
mod reading;

pub use conditions::{Conditions, CpuTime, Frequency, Pressure, Spoilt, Throttling};
pub use cost::disturbance_cost;
pub use diagnose::{Beside, Facts, diagnose};
pub use explain::{Diagnosis, Witnessed, explain};
pub use finding::{Advice, Finding, Kind, Severity};
pub use gaps::Gaps;
pub use reading::{ClockReading, CpuCounters, QuotaCounters, Reading, SlowReading};
