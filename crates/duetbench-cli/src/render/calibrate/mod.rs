//! Results of `duet calibrate`, for people and for programs, and the note on them in later reports.

mod json;
mod machine;
mod note;
mod people;
pub mod words;

pub use json::{SCHEMA_VERSION, json};
pub use machine::csv;
pub(super) use note::{Changed, Note, line};
pub use people::{markdown, text};
