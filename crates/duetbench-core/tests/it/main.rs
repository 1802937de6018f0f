//! Tests of the whole crate from outside. One binary, because linking takes longer than running.

#![cfg(test)]

mod analyse;
mod basis;
mod confirm;
mod counts;
mod group_sequential;
mod judge;
mod looks;
mod modes;
mod monitor;
mod nested;
mod noise;
mod pairing;
mod plan;
mod properties;
mod reference;
mod refine;
mod schedule;
mod simulation;
mod summarise;
mod support;
mod units;
