//! The parts of a document.

use super::table::Table;
use crate::render::tone::Tone;

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
