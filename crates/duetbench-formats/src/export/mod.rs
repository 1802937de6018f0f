//! Recordings and stored runs, written in other tools' forms.
//!
//! | form | levels that it holds | what it holds of values |
//! | --- | --- | --- |
//! | Go benchmark text | fork, iteration | all units |
//! | CSV of benchstat | none: one value for each benchmark | all units |
//! | JMH's JSON | fork, iteration | all units |
//! | Google Benchmark's JSON, pytest-benchmark's JSON, criterion's files | iteration | times |
//! | pyperf's JSON | fork, iteration | times, bytes |
//! | hyperfine's JSON | fork | times |
//! | CSV of `pa` | instance, suite run, fork, iteration | all units |
//! | CSV of the µOpTime study | all | times |
//! | Bencher Metric Format, github-action-benchmark's JSON | none: one value for each benchmark | all units |
//! | Parquet | all, of stored runs every sample | everything |
//!
//! A writer is a pure function to bytes. It writes what [`import`](crate::import) reads back as the same values at the same levels. What
//! its form cannot hold is named in [`Written::lost`], and never left out in silence: levels are folded or averaged by [`fit`], other
//! things by the writers. Formulas that other tools have for what they print from values (means, quartiles) are theirs; what is said
//! about the uncertainty of a value counts processes, never the values inside them.

use std::fs;
use std::path::Path;

use duetbench_core::foreign::in_json;
use duetbench_core::{Recording, Report};

use crate::error::FormatError;

mod about;
mod benchstat;
mod bmf;
mod criterion;
mod figures;
mod fit;
mod github_action;
mod go;
mod google;
mod hyperfine;
mod jmh;
mod pa;
mod papers;
#[cfg(feature = "parquet")]
mod parquet;
mod pyperf;
mod pytest;

pub use about::{About, Origin};
#[cfg(feature = "parquet")]
pub use parquet::StoredSample;

/// Forms in which a recording can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Go benchmark text.
    Go,
    /// CSV as `benchstat -format csv` writes it.
    BenchstatCsv,
    /// JMH's JSON.
    Jmh,
    /// Google Benchmark's JSON.
    GoogleBenchmark,
    /// criterion's folder: a folder for each benchmark.
    Criterion,
    /// pytest-benchmark's JSON.
    PytestBenchmark,
    /// pyperf's JSON.
    Pyperf,
    /// hyperfine's JSON.
    Hyperfine,
    /// CSV of `pa`.
    Pa,
    /// CSV of the µOpTime study.
    Papers,
    /// Bencher Metric Format.
    Bmf,
    /// github-action-benchmark's own JSON.
    GithubActionBenchmark,
    /// Parquet, a row for each value.
    #[cfg(feature = "parquet")]
    Parquet,
}

/// A recording in another form.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// The file or folder.
    pub content: Content,
    /// Things that the form could not hold, a sentence for each; or notes for its reader.
    pub lost: Vec<String>,
}

/// The files of a form.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// One file.
    File(Vec<u8>),
    /// Files below a folder, by their path in it.
    Folder(Vec<(String, Vec<u8>)>),
}

impl Content {
    /// Writes it: a file to this path, a folder's files below it.
    ///
    /// # Errors
    /// When a file cannot be written; names it.
    pub fn save(&self, path: &Path) -> Result<(), FormatError> {
        let write = |path: &Path, bytes: &[u8]| fs::write(path, bytes).map_err(|e| FormatError::file("write", path, e));
        match self {
            Content::File(bytes) => write(path, bytes),
            Content::Folder(files) => files.iter().try_for_each(|(below, bytes)| {
                let file = path.join(below);
                let folder = file.parent().unwrap_or(path);
                fs::create_dir_all(folder).map_err(|e| FormatError::file("create", folder, e))?;
                write(&file, bytes)
            }),
        }
    }
}

impl Written {
    fn file(bytes: impl Into<Vec<u8>>, lost: Vec<String>) -> Written {
        Written { content: Content::File(bytes.into()), lost }
    }

    /// A value as JSON, indented.
    fn json(value: &impl serde::Serialize, lost: Vec<String>) -> Result<Written, FormatError> {
        let json = serde_json::to_string_pretty(value).map_err(|e| nothing(&e.to_string()))?;
        Ok(Written::file(in_json(&json).into_owned() + "\n", lost))
    }
}

/// Writes a recording.
///
/// # Errors
/// When the form can hold nothing of it.
pub fn write(recording: &Recording, about: &About, form: Form) -> Result<Written, FormatError> {
    match form {
        Form::Go => go::write(recording, about),
        Form::BenchstatCsv => benchstat::write(recording, about),
        Form::Jmh => jmh::write(recording),
        Form::GoogleBenchmark => google::write(recording, about),
        Form::Criterion => criterion::write(recording),
        Form::PytestBenchmark => pytest::write(recording, about),
        Form::Pyperf => pyperf::write(recording, about),
        Form::Hyperfine => hyperfine::write(recording),
        Form::Pa => pa::write(recording, about),
        Form::Papers => papers::write(recording),
        Form::Bmf => bmf::of_recording(recording),
        Form::GithubActionBenchmark => github_action::of_recording(recording),
        #[cfg(feature = "parquet")]
        Form::Parquet => parquet::of_recording(recording),
    }
}

/// Writes what a report says of the candidate of a comparison, as [`Form::Bmf`].
///
/// # Errors
/// When nothing was compared.
pub fn report_as_bmf(report: &Report) -> Result<Written, FormatError> {
    bmf::of_report(report)
}

/// Writes what a report says of the candidate of a comparison, as [`Form::GithubActionBenchmark`].
///
/// # Errors
/// When nothing was compared.
pub fn report_as_github_action(report: &Report) -> Result<Written, FormatError> {
    github_action::of_report(report)
}

/// Writes every sample of a stored run as [`Form::Parquet`].
///
/// # Errors
/// When there is none.
#[cfg(feature = "parquet")]
pub fn samples_as_parquet(samples: &mut dyn Iterator<Item = StoredSample<'_>>) -> Result<Written, FormatError> {
    parquet::of_samples(samples)
}

/// Writes both versions beside each other as [`Form::BenchstatCsv`].
///
/// # Errors
/// When they have no benchmark in common.
pub fn both_as_benchstat(sides: [&Recording; 2], about: &About) -> Result<Written, FormatError> {
    benchstat::write_both(sides, about)
}

/// That there is nothing to write.
fn nothing(why: &str) -> FormatError {
    FormatError::nothing(why)
}

/// Some names in a sentence, the first few of them.
fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    const NAMED_MAX: usize = 3;
    let names: Vec<&str> = names.into_iter().collect();
    let shown: Vec<String> = names.iter().take(NAMED_MAX).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(NAMED_MAX);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!shown.is_empty()).then(|| shown.join(", ") + &rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_names_stand_for_many() {
        assert_eq!(named([]), None);
        assert_eq!(named(["a", "b"]).as_deref(), Some("`a`, `b`"));
        assert_eq!(named(["a", "b", "c", "d", "e"]).as_deref(), Some("`a`, `b`, `c` and 2 more"));
    }
}
