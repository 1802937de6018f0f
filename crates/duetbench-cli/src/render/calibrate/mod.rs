//! Results of `duet calibrate`, for people and for programs, and the note on them in later reports.

mod document;
mod json;
mod note;
mod rows;
pub mod words;

pub use document::document;
pub(super) use note::{json as note_json, line};
