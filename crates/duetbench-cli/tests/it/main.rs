//! The command without a toolchain: formats, files, settings, gates, and the course of scripted runs.

#![allow(clippy::unwrap_used, reason = "a test may")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../golden_files/mod.rs"]
mod golden_files;
#[path = "../hostile_support/mod.rs"]
mod hostile_support;
#[path = "../render_support/mod.rs"]
mod render_support;
#[path = "../schema/mod.rs"]
mod schema;

mod action;
mod analyze_files;
mod bisect;
mod budget;
mod calibrate;
mod command;
mod detect;
mod doctor;
mod exit_codes;
mod export;
#[cfg(feature = "lambda")]
mod fleet_policy;
mod foreign_text;
mod former;
mod gate;
mod git_hooks;
mod history;
mod hostile;
mod init;
mod live;
mod parsers;
mod propose;
mod queue;
mod render;
mod render_bisect;
mod render_calibrate;
mod render_rows;
mod render_sarif;
mod render_schema;
mod render_tune;
mod report;
mod repository;
mod revisions;
mod settings;
mod signals;
mod solo;
mod stores;
mod tidy;
mod tune;
mod tune_loop;
mod why;
