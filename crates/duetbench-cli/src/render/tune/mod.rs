//! Renderers of what `duet tune` found, one file per format; pure functions, as those of the report.

pub mod csv;
pub mod json;
pub mod markdown;
pub mod text;

mod grid;
mod words;
