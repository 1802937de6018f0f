//! Errors in the content of a file.

use std::fmt;

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
    pub(super) fn in_file(what: impl Into<String>) -> Wrong {
        Wrong { line: None, column: None, what: what.into() }
    }

    /// Something in one line.
    pub(super) fn in_line(line: u64, what: impl Into<String>) -> Wrong {
        Wrong { line: Some(line), column: None, what: what.into() }
    }

    pub(super) fn unknown_form() -> Wrong {
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
pub(super) fn wrong_json(error: &serde_json::Error) -> Wrong {
    let text = error.to_string();
    let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
    Wrong::in_line(error.line() as u64, format!("{what} (character {})", error.column()))
}
