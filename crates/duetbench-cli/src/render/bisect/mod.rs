//! The result of `duet bisect`.

mod document;
mod json;

pub use document::{document, plan};
