//! Tests of the whole crate from outside. One binary, because linking takes longer than running.

#![cfg(test)]

#[path = "../bisect_support/mod.rs"]
mod bisect_support;
#[path = "../../../duetbench-stats/tests/noise_support/mod.rs"]
mod noise_support;
#[path = "../../../duetbench-stats/tests/reference/mod.rs"]
mod reference;
#[path = "../tune_support/mod.rs"]
mod tune_support;

mod analyse;
mod basis;
mod bisect;
mod budget;
mod calibrate;
mod calibrate_promise;
mod calibrate_propose;
mod confirm;
mod counts;
mod cycles;
mod detect;
mod fleet;
mod fleet_account;
mod fleet_faults;
mod fleet_world;
mod gate;
mod history;
mod hotspot;
mod instructions;
mod judge;
mod looks;
mod mixture;
mod modes;
mod monitor;
mod nested;
mod noise;
mod pairing;
mod picture;
mod plan;
mod planned;
mod refine;
mod reported;
mod schedule;
mod selection;
mod self_test;
mod simulation;
mod stacks;
mod suite;
mod summarise;
mod support;
mod tune;
mod units;
mod warmup;
mod warmup_rates;
