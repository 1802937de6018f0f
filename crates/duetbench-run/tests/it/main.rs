//! The parts of the crate from outside: the store, the machine, and a fleet that is made up.

#![allow(clippy::unwrap_used, reason = "a test may")]

#[path = "../fleet_support/mod.rs"]
mod fleet_support;
#[path = "../head_support/mod.rs"]
mod head_support;
#[path = "../mutation/mod.rs"]
mod mutation;

mod calibrations;
mod fleet_campaign;
mod fleet_package;
mod fleet_rehearsal;
mod fleet_store;
mod fleet_wire;
mod fleet_worker;
mod identity;
mod linking;
mod noise;
mod pprof;
mod probe;
mod store;
mod store_history;
mod store_layouts;
mod store_removed;
