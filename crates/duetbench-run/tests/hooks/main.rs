//! The hooks for C, Java and Rust, against the protocol.

#![allow(clippy::unwrap_used, reason = "a test may")]

#[macro_use]
#[path = "../hook_support/mod.rs"]
mod hook_support;

mod c_hook;
mod java_hook;
mod javac;
mod jmh_hook;
mod rust_hook;
