//! Errors of reading and writing other tools' files, with the remedy where there is one.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// An error of a file in another tool's form: names the file, and a remedy through [`FormatError::advice`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// A file or directory could not be used.
    #[error("cannot {action} `{}`: {source}", path.display())]
    File {
        /// The attempted action as a verb: `read`.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file does not hold what it should.
    #[error("`{}`{wrong}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The error, and its place in the file.
        wrong: Wrong,
        /// Advice for the user.
        hint: Option<String>,
    },
    /// A form can hold nothing of what is to be written.
    #[error("there is nothing to write: {why}")]
    Nothing {
        /// The reason in words.
        why: String,
    },
}

impl FormatError {
    /// Wraps an I/O error with what was attempted on which path.
    pub(crate) fn file(action: &'static str, path: &Path, source: io::Error) -> FormatError {
        FormatError::File { action, path: path.to_owned(), source }
    }

    /// That there is nothing to write.
    pub(crate) fn nothing(why: impl Into<String>) -> FormatError {
        FormatError::Nothing { why: why.into() }
    }

    /// Advice for the user, where there is any.
    pub fn advice(&self) -> Option<String> {
        match self {
            FormatError::File { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                Some("free some space".into())
            }
            FormatError::File { .. } => None,
            FormatError::Content { hint, .. } => hint.clone(),
            FormatError::Nothing { .. } if cfg!(feature = "parquet") => {
                Some("`--as parquet` holds everything that was measured, `--as go` every unit".into())
            }
            FormatError::Nothing { .. } => Some("`--as go` holds every unit".into()),
        }
    }
}

/// An error in the content of a file, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// Line, counted from 1, where one can be named.
    pub line: Option<u64>,
    /// Column of that line, where one can be named.
    pub column: Option<&'static str>,
    /// The error in words, with what was expected.
    pub what: String,
}

impl Wrong {
    /// Something that concerns the whole file.
    pub(crate) fn in_file(what: impl Into<String>) -> Wrong {
        Wrong { line: None, column: None, what: what.into() }
    }

    /// Something in one line.
    pub(crate) fn in_line(line: u64, what: impl Into<String>) -> Wrong {
        Wrong { line: Some(line), column: None, what: what.into() }
    }

    pub(crate) fn unknown_form() -> Wrong {
        Wrong::in_file("is of no known form")
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(f, ", line {line}, column `{column}`: {}", self.what),
            (Some(line), None) => write!(f, ", line {line}: {}", self.what),
            (None, _) => write!(f, " {}", self.what),
        }
    }
}

/// The error for text that is not the expected JSON.
pub(crate) fn wrong_json(error: &serde_json::Error) -> Wrong {
    let text = error.to_string();
    let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
    Wrong::in_line(error.line() as u64, format!("{what} (character {})", error.column()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrongs_read_as_sentences_after_the_file_name() {
        assert_eq!(Wrong::in_file("is empty").to_string(), " is empty");
        assert_eq!(Wrong::in_line(3, "has 2 columns").to_string(), ", line 3: has 2 columns");
        let column = Wrong { line: Some(3), column: Some("it_pos"), what: "expected a number".into() };
        assert_eq!(column.to_string(), ", line 3, column `it_pos`: expected a number");
    }
}
