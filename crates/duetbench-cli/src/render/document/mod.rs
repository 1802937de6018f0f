//! The output of a command, in no form yet: a title, blocks of lines and tables for people, rows for spreadsheets, values for programs.
//!
//! Each form is one file that writes any document. A command makes the document and knows no form; a new column, warning or sentence
//! is one place there.

use duetbench_core::foreign::in_json;
use serde::Serialize;

use crate::failure::Failure;
use crate::options::Format;

mod html;
mod markdown;
mod table;
mod text;

pub use table::{Cell, Cells, Column, Group, Table, Turn};

use super::palette::Palette;

/// A finished document.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Document {
    /// The command and its subject: `duet calibrate` and `v1 against itself`.
    pub title: Title,
    /// For people, in reading order.
    pub blocks: Vec<Block>,
    /// For spreadsheets, numbers at full precision.
    pub rows: Option<Table>,
    /// For programs, as text of JSON.
    pub json: Option<String>,
    /// Lines of Go's benchmark format, where there are processes to tell of.
    pub go: Option<String>,
}

/// The heading of a document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Title {
    /// The command, as it is typed.
    pub command: &'static str,
    /// Version of duet.
    pub version: String,
    /// Subject of this document.
    pub subject: String,
}

/// A part of a document that stands between empty lines.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Lines below each other.
    Lines(Vec<Line>),
    /// A table.
    Table(Table),
}

/// A line of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// The name of what follows.
    Heading(String),
    /// A sentence that is a paragraph of its own.
    Sentence(String),
    /// One of several answers in a list.
    Item(String),
    /// A command to type, below what it is for.
    Command(String),
    /// A word that says how to take the rest: `warning`, `hint`.
    Labelled(Tone, &'static str, String),
    /// A fact that is read last, behind its name where it has one.
    Small(&'static str, String),
}

/// Weight of a text; colour repeats it where there is colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// Like most.
    #[default]
    Plain,
    /// A failure or a regression.
    Bad,
    /// An improvement.
    Good,
    /// Something open, or a warning.
    Open,
    /// Matters less.
    Faint,
    /// A conclusion.
    Strong,
    /// Advice.
    Hint,
}

impl Line {
    /// Something to know before the rest is believed.
    pub fn warning(text: impl Into<String>) -> Line {
        Line::Labelled(Tone::Open, "warning", text.into())
    }

    /// Advice.
    pub fn hint(text: impl Into<String>) -> Line {
        Line::Labelled(Tone::Hint, "hint", text.into())
    }
}

impl Document {
    /// The document in a form; `subject` names it where it has none.
    ///
    /// # Errors
    /// When there is no such form of it.
    pub fn write(&self, format: Format, palette: &Palette, width: Option<usize>) -> Result<String, Failure> {
        let form = match format {
            Format::Text => Some(text::write(self, palette, width)),
            Format::Markdown => Some(markdown::write(self)),
            Format::Json => self.json.clone(),
            Format::Csv => self.rows.as_ref().map(Table::csv),
            Format::Go => self.go.clone(),
            Format::Html => Some(html::write(self)),
            Format::Sarif => None,
        };
        form.ok_or_else(|| format.unfit(&format!("what `{}` says", self.title.command)))
    }
}

/// The value as JSON, indented, with a line end.
pub fn json(value: &impl Serialize) -> String {
    let json = serde_json::to_string_pretty(value).expect("a document of plain values and string keys serialises");
    in_json(&json).into_owned() + "\n"
}
