//! Results of `duet-study uoptime`: tables for people, tables for programs, figures.

mod figures;
mod machine;
mod people;

use crate::papers::uoptime::{Contrast, FileName, PairOfVersions, Savings, Settings};

pub use figures::figures;
pub use machine::tables;
pub use people::document;

/// A study of the µOpTime paper's questions.
#[derive(Debug, Clone, PartialEq)]
pub struct Studied {
    /// Version of duet.
    pub duet_version: String,
    /// Settings of the study.
    pub settings: Settings,
    /// First iterations removed for the third question.
    pub warm_up: u32,
    /// Results of each file, in the order of projects and versions.
    pub files: Vec<StudiedFile>,
    /// Changes that were found between versions, by project.
    pub projects: Vec<StudiedProject>,
    /// Warnings of the study.
    pub warnings: Vec<String>,
}

/// Results of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct StudiedFile {
    /// Project and version.
    pub name: FileName,
    /// The file's name without folder and ending.
    pub stem: String,
    /// Whether it is the newest version of its project.
    pub newest: bool,
    /// Savings by method and metric; empty where that was not asked.
    pub savings: Vec<Savings>,
    /// The same without warm-up; empty where there is not enough of it.
    pub warm: Vec<Savings>,
    /// The metrics against each other, by signed and by absolute changes.
    pub contrasts: Vec<Contrast>,
}

/// Changes that were found between the versions of a project.
#[derive(Debug, Clone, PartialEq)]
pub struct StudiedProject {
    /// Its name.
    pub project: String,
    /// Consecutive versions, by method.
    pub pairs: Vec<PairOfVersions>,
}
