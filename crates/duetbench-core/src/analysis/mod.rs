//! From samples to estimates and verdicts.
//!
//! [`summarise`] makes two numbers of every fork, [`choose_basis`] says which of them counts, [`Evidence`] is what these numbers say about one benchmark, [`judge`] turns it
//! into a verdict, and [`analyse`] does all of this for a whole suite. The methods behind it are in [`crate::stats`].

mod aggregate;
mod analyse;
mod basis;
mod count;
mod estimate;
mod evidence;
mod judge;
mod summarise;
mod warning;

pub use analyse::{Measured, TrialFailure, analyse};
pub use basis::{Basis, Choice, choose_basis};
pub use count::compare_counts;
pub use estimate::{Counts, Estimate, Evidence, Method};
pub use evidence::{BenchmarkReport, Counted, ForkPair, ForkSide};
pub use judge::judge;
pub use summarise::{Rejection, Summary, summarise};
pub use warning::Warning;
