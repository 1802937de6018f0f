//! What `duet detect` found, for people and for programs.

mod json;
mod machine;
mod people;

use duetbench_core::detect::{Detection, Rules};

pub use json::json;
pub use machine::csv;
pub use people::{markdown, text};

/// What was asked and what was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// Version of duet.
    pub duet_version: String,
    /// The rules that were applied.
    pub rules: Rules,
    /// What they found.
    pub detection: Detection,
    /// The exit code that follows.
    pub exit_code: u8,
}
