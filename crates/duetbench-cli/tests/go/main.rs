//! The whole path with Go: the real command builds and measures real modules.

#![allow(clippy::unwrap_used, reason = "a test may")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../schema/mod.rs"]
mod schema;
#[path = "../walk_support/mod.rs"]
mod walk_support;

mod go_bad_input;
mod go_bisect;
mod go_bisect_further;
mod go_calibrate;
mod go_compare;
mod go_layouts;
mod go_modules;
mod go_profile;
mod go_reach;
mod go_redefined;
mod go_reported;
mod go_run;
mod go_signals;
mod go_trust;
mod walks;
mod walks_further;
