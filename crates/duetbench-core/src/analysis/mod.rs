//! From samples to estimates and verdicts.
//!
//! [`summarise`] makes two numbers of every fork, [`choose_basis`] says which of them counts, `unit` joins forks to units of
//! inference, [`Evidence`] is what these say about one benchmark, [`judge`] turns it into a verdict, and [`analyse`] does all of
//! this for a whole suite. [`Monitor`] does the same while measuring goes on, to tell who is settled. The methods behind it are in
//! [`crate::stats`].

mod aggregate;
mod analyse;
mod basis;
mod confirm;
mod count;
mod estimate;
mod evidence;
mod examine;
mod imbalance;
mod judge;
mod look;
mod monitor;
mod refine;
mod summarise;
mod unit;
mod warning;

pub use analyse::{Measured, TrialFailure, analyse};
pub use basis::{Basis, Choice, choose_basis};
pub use confirm::{Confirmation, Round};
pub use count::compare_counts;
pub use estimate::{Counts, Estimate, Evidence, Looks, Method};
pub use evidence::{BenchmarkReport, Counted, ForkPair, ForkSide};
pub use imbalance::{core_imbalance, too_unlike};
pub(crate) use judge::decided;
pub use judge::judge;
pub use look::Look;
pub use monitor::{Monitor, Standing};
pub use refine::{PILOT_FORKS, refined};
pub use summarise::{Rejection, Summary, summarise};
pub use unit::Layout;
pub(crate) use unit::by_unit;
pub use warning::Warning;

/// A number of things, as it is reported.
fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
