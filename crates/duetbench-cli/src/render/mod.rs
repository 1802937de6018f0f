//! Renderers: from a [`Report`](duetbench_core::Report) to text, one file per format.
//!
//! | format | for | function |
//! | --- | --- | --- |
//! | `text` | terminals and logs | [`text::render`] |
//! | `markdown` | a comment on a pull request, a job summary | [`markdown::render`] |
//! | `json` | programs; described by `schema/report-v1.schema.json` | [`json::render`] |
//! | `csv` | spreadsheets | [`csv::render`] |
//! | `go` | benchstat and whatever else reads Go benchmark text | [`gobench::render`] |
//! | `sarif` | code scanning | [`sarif::render`] |
//! | `--format html` | a browser | [`html::render`] |
//!
//! [`solo`] and [`solo_json`] do the same for runs of one version, [`tune`] for what `duet tune` found, [`detect`] for two recordings,
//! [`calibrate`] for a calibration, [`bisect`] for a search among commits and [`plan`] for what it takes to see a change, [`doctor`] for what `duet doctor` found. [`profile`], [`noise`] and [`warning`]
//! have the words that several share.
//!
//! [`document`], [`format`], [`palette`], [`markup`] and [`order::label`] are what every output is drawn with; the studies of papers, a
//! program of their own, draw with them too.
//!
//! A renderer is a pure function. It does not print, it does not judge, and it works out no number that the report
//! does not already hold: it orders, words and aligns.

pub(crate) mod ascii;
pub mod bisect;
pub mod calibrate;
pub mod csv;
pub mod detect;
pub mod doctor;
pub mod document;
pub mod fleet;
mod forest;
pub mod format;
mod gate;
pub mod gobench;
pub mod html;
mod instructions;
pub mod json;
pub(crate) mod layouts;
pub mod live;
pub mod markdown;
pub mod markup;
pub mod noise;
pub mod order;
pub mod palette;
pub mod plan;
pub mod profile;
mod reported;
pub mod sarif;
pub mod solo;
pub mod solo_json;
pub mod staleness;
pub mod text;
pub mod tone;
pub mod tune;
pub mod waiver;
pub mod warning;
pub mod why;

pub mod annotation;
pub(crate) mod command_line;
mod confirmation;
mod hint;
mod names;
pub(crate) mod summary;
mod width;
