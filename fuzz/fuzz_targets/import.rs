//! Any bytes as a result file of another tool.
//!
//! One program for all forms: what tells them apart is the seeds that a run begins with.

#![no_main]
#![allow(dead_code, reason = "one of the two programs has the rest")]

use libfuzzer_sys::fuzz_target;

mod parsers;

fuzz_target!(|bytes: &[u8]| parsers::import(bytes));
