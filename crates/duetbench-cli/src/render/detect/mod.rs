//! Results of `duet analyze` on two files, for people and for programs.

mod document;
mod json;
mod unpaired;

use duetbench_core::detect::{Detection, Rules};

pub use document::document;
pub use unpaired::{Side, Unpaired};

/// A request and its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// Version of duet.
    pub duet_version: String,
    /// The rules that were applied.
    pub rules: Rules,
    /// The changes that they found.
    pub detection: Detection,
    /// The data behind the two sides, where that is said first.
    pub unpaired: Option<Unpaired>,
    /// The exit code that follows.
    pub exit_code: u8,
}
