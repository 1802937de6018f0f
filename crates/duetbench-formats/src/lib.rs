//! Result files of other benchmark tools, read and written.

pub mod bounded;
mod error;
pub mod export;
pub mod import;

pub use error::{FormatError, Wrong};
