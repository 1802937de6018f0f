//! The purpose of a trial.

use serde::{Deserialize, Serialize};

/// The purpose of a trial, which decides how long it may last and how its slices are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Its samples are judged, so it lasts until it spans whole cycles of a collector.
    #[default]
    Judged,
    /// A first look at what a benchmark needs: no longer than asked for.
    Look,
    /// A first look at what getting warm costs each slice: slices of two lengths take turns.
    Stretched,
}

impl Purpose {
    /// Whether samples of such trials are judged.
    pub fn is_judged(&self) -> bool {
        *self == Purpose::Judged
    }
}
