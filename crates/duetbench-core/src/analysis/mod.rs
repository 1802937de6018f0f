//! From samples to estimates and verdicts.
//!
//! [`summarise`] makes three numbers of every fork, [`choose_basis`] says which of them count, `unit` joins forks to units of
//! inference, [`Evidence`] is what these say about one benchmark, [`judge`] turns it into a verdict, and [`analyse`] does all of
//! this for a whole suite. [`Monitor`] does the same while measuring goes on, to tell who is settled. The methods behind it are in
//! [`crate::stats`].

mod aggregate;
mod analyse;
mod basis;
mod confirm;
mod count;
mod cycles;
mod estimate;
mod evidence;
mod examine;
mod imbalance;
mod judge;
mod look;
mod monitor;
mod out_of_time;
mod prospect;
mod refine;
mod self_test;
mod suite;
mod summarise;
mod unit;
mod warning;

pub use crate::verdict::RatioInterval;
pub(crate) use crate::verdict::rule::{finite_exp, with_hidden};
pub use analyse::{Measured, TrialFailure, analyse};
pub use basis::{Basis, Choice, Clock, choose_basis};
pub use confirm::{Confirmation, Round, Standing as ConfirmationStanding};
pub use count::{compare_bytes, compare_counts};
pub use estimate::{Counts, Errors, Estimate, Evidence, Hidden, LastLook, Looks, Method, Ranged, Tests};
pub use evidence::{BenchmarkReport, Counted, ForkPair, ForkSide, LogRatios};
pub use imbalance::{Cores, core_imbalance, too_unlike};
pub use judge::judge;
pub use look::Look;
pub use monitor::{Looked, Monitor, Seen, Standing};
pub use out_of_time::note_out_of_time;
pub use refine::{PILOT_FORKS, refined};
pub use self_test::{SelfTest, SelfTestKind, SelfTested, self_tests};
pub use suite::{IdenticalCode, SuiteChange, suite_change};
pub use summarise::{Rejection, Summary, summarise};
pub use unit::{Layout, by_unit};
pub(crate) use unit::{mean, means_of};
pub use warning::Warning;

/// A number of things, as it is reported.
fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
