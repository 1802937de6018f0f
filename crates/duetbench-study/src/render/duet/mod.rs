//! Results of `duet-study duet`: tables for people, tables for programs, figures.

mod figures;
mod json;
mod machine;
mod people;

use crate::papers::duet::{PairedFork, Procedure, Resampled, RunWidths};

pub use figures::figures;
pub use machine::tables;
pub use people::document;

/// A study of stored comparisons.
#[derive(Debug, Clone, PartialEq)]
pub struct DuetStudy {
    /// Version of duet.
    pub duet_version: String,
    /// The procedure that was followed.
    pub procedure: Procedure,
    /// The runs, in the order in which they were typed.
    pub runs: Vec<StudiedRun>,
    /// Warnings of the study.
    pub warnings: Vec<String>,
}

/// One stored comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct StudiedRun {
    /// Its widths.
    pub widths: RunWidths,
    /// Baseline and candidate, as they were asked for.
    pub versions: [String; 2],
    /// Whether these are one and the same: an A/A run.
    pub same: bool,
    /// Shares of resamples whose intervals miss 1, for an A/A run.
    pub resampled: Option<Resampled>,
}

/// The single iterations of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    /// Name of the run.
    pub run: String,
    /// The benchmark.
    pub benchmark: String,
    /// Its fork pairs, in the order of measuring.
    pub forks: Vec<PairedFork>,
}
