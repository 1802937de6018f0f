//! Tests of the whole crate from outside. One binary, because linking takes longer than running.

#![cfg(test)]

mod analyse;
mod basis;
mod bootstrap;
mod bootstrap_properties;
mod calibrate;
mod calibrate_promise;
mod calibrate_propose;
mod cloud;
mod confirm;
mod counts;
mod detect;
mod elastibench;
mod fleet;
mod fleet_account;
mod fleet_world;
mod gate;
mod group_sequential;
mod hotspot;
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
mod properties;
mod rank_tests;
mod reference;
mod refine;
mod reported;
mod schedule;
mod simulation;
mod summarise;
mod support;
mod tune;
mod units;
mod warmup;
mod warmup_rates;
