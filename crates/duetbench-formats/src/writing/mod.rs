//! Writing: from recordings to bytes, and what the writers of all tools need.

use std::fs;
use std::path::Path;

use duetbench_core::Sample;
use duetbench_core::foreign::in_json;
use duetbench_core::plan::Mode;

use crate::error::FormatError;

pub(crate) mod about;
pub(crate) mod figures;
pub(crate) mod fit;

pub use about::{About, Origin};

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
    pub(crate) fn file(bytes: impl Into<Vec<u8>>, lost: Vec<String>) -> Written {
        Written { content: Content::File(bytes.into()), lost }
    }

    /// A value as JSON, indented.
    pub(crate) fn json(value: &impl serde::Serialize, lost: Vec<String>) -> Result<Written, FormatError> {
        let json = serde_json::to_string_pretty(value).map_err(|e| FormatError::nothing(e.to_string()))?;
        Ok(Written::file(in_json(&json).into_owned() + "\n", lost))
    }
}

/// A sample of a stored run, with what the run knows of it.
#[derive(Debug, Clone, Copy)]
pub struct StoredSample<'a> {
    /// Name of the run.
    pub run: &'a str,
    /// Full name of the benchmark.
    pub benchmark: &'a str,
    /// The resolved version.
    pub version: &'a str,
    /// Mode in which its trial compared two sides; absent where a run measured one version, whose samples belong to no side.
    pub mode: Option<Mode>,
    /// The sample itself.
    pub sample: &'a Sample,
}
