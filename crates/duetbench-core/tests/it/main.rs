//! Tests of the whole crate from outside. One binary, because linking takes longer than running.

#![cfg(test)]

mod analyse;
mod basis;
mod counts;
mod group_sequential;
mod judge;
mod noise;
mod pairing;
mod plan;
mod properties;
mod reference;
mod schedule;
mod simulation;
mod summarise;
mod support;
