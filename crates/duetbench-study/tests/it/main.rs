//! The studies: formats, files, the command, and the papers' statistics on simulated data.

#![allow(clippy::unwrap_used, reason = "a test may")]

#[path = "../../../duetbench-cli/tests/common/mod.rs"]
mod common;
#[path = "../../../duetbench-cli/tests/golden_files/mod.rs"]
mod golden_files;
#[path = "../../../duetbench-run/tests/head_support/mod.rs"]
mod head_support;
#[path = "../../../duetbench-cli/tests/hostile_support/mod.rs"]
mod hostile_support;
#[path = "../../../duetbench-stats/tests/noise_support/mod.rs"]
mod noise_support;
#[path = "../../../duetbench-stats/tests/reference/mod.rs"]
mod reference;
#[path = "../../../duetbench-cli/tests/render_support/mod.rs"]
mod render_support;
#[path = "../../../duetbench-core/tests/tune_support/mod.rs"]
mod tune_support;

mod cloud;
mod duet;
mod elastibench;
mod hostile;
mod papers_cloud;
mod papers_elastibench;
mod published;
mod render_cloud;
mod render_duet;
mod render_elastibench;
mod statistics;
mod stored;
mod uoptime;

use std::path::Path;

use common::{Place, Ran};

/// `duet-study`, in a place.
fn study(place: &Place, args: &[&str]) -> Ran {
    Ran::from(place.command_of(Path::new(env!("CARGO_BIN_EXE_duet-study")), args).output().unwrap())
}
