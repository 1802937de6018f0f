//! What `duet detect` found, and `duet analyze` in two files, for people and for programs.

mod json;
mod machine;
mod people;
mod unpaired;

use duetbench_core::detect::{Detection, Rules};

pub use json::json;
pub use machine::csv;
pub use people::{markdown, text};
pub use unpaired::{Side, Tool, Unpaired};

/// What was asked and what was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// Version of duet.
    pub duet_version: String,
    /// The rules that were applied.
    pub rules: Rules,
    /// What they found.
    pub detection: Detection,
    /// What the two rest on, where that is said first.
    pub unpaired: Option<Unpaired>,
    /// The exit code that follows.
    pub exit_code: u8,
}
