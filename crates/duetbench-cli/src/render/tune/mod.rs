//! Results of `duet tune`, for people and for programs.

mod document;
mod json;
mod rows;
mod words;

pub use document::document;
