//! Other tools' files from outside: what is read of them, and what is written in their forms.

#![allow(clippy::unwrap_used, reason = "a test may")]

#[path = "../../../duetbench-run/tests/mutation/mod.rs"]
mod mutation;

mod export;
#[cfg(feature = "parquet")]
mod export_parquet;
mod import;
mod import_forms;
