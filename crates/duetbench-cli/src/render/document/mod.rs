//! The output of a command, in no form yet: a title, blocks of lines and tables for people, rows for spreadsheets, values for programs.
//!
//! Each form is one file that writes any document. A command makes the document and knows no form; a new column, warning or sentence
//! is one place there.

use duetbench_core::foreign::in_json;
use serde_json::Value;

use crate::failure::Failure;
use crate::options::Format;

mod html;
mod markdown;
mod parts;
mod table;
mod text;

pub use super::tone::Tone;
pub use parts::{Block, Document, Line, Title};
pub use table::{Cell, Cells, Column, Group, Table, Turn};

use super::palette::Palette;

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

/// The object without those of these keys whose value is `null`.
pub fn without_null(mut object: Value, keys: &[&str]) -> Value {
    if let Some(entries) = object.as_object_mut() {
        entries.retain(|key, value| !(value.is_null() && keys.contains(&key.as_str())));
    }
    object
}

/// The object without these keys.
pub fn without(mut object: Value, keys: &[&str]) -> Value {
    if let Some(entries) = object.as_object_mut() {
        entries.retain(|key, _| !keys.contains(&key.as_str()));
    }
    object
}

/// The value as JSON, indented, with a line end.
pub fn json(value: &Value) -> String {
    in_json(&format!("{value:#}\n")).into_owned()
}
