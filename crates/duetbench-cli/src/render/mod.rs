//! Renderers: from a [`Report`](duetbench_core::Report) to text, one file per format.
//!
//! | format | for | function |
//! | --- | --- | --- |
//! | `text` | terminals and logs | [`text::render`] |
//! | `markdown` | a comment on a pull request, a job summary | [`markdown::render`] |
//! | `json` | programs; described by `schema/report-v1.schema.json` | [`json::render`] |
//! | `csv` | spreadsheets | [`csv::render`] |
//! | `go` | benchstat and whatever else reads Go benchmark text | [`gobench::render`] |
//!
//! [`doctor`] does the same for what `duet doctor` found. [`noise`] and [`warning`] have the words that several share.
//!
//! A renderer is a pure function. It does not print, it does not judge, and it works out no number that the report
//! does not already hold: it orders, words and aligns.

pub mod csv;
pub mod doctor;
pub mod format;
pub mod gobench;
pub mod json;
pub mod markdown;
pub mod noise;
pub mod palette;
pub mod text;
pub mod warning;

mod command_line;
mod hint;
mod order;
mod summary;
mod table;
