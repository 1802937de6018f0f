//! Tests of the whole crate from outside. One binary, because linking takes longer than running.

#![cfg(test)]

#[path = "../noise_support/mod.rs"]
mod noise_support;
#[path = "../reference/mod.rs"]
mod reference;

mod against_scipy;
mod bootstrap;
mod bootstrap_properties;
mod changepoints;
mod comparison;
mod group_sequential;
mod properties;
mod rank_tests;

use proptest::test_runner::{Config, RngSeed};

/// Property tests try the same cases every time; a failure must be the fault of a change, never of luck.
fn same_cases() -> Config {
    Config { cases: 100, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() }
}
