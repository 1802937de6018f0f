//! Stored comparisons in the shapes that the papers' procedures need.

mod experiment;
mod paired;

pub use experiment::experiment;
pub use paired::paired;
