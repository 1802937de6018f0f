//! The request for a fleet.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Measuring on a fleet of function instances instead of here.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FleetSpec {
    /// Whose.
    pub engine: EngineName,
    /// Memory of an instance, megabytes; its processor time follows from it.
    pub memory_mb: u32,
    /// Its processor.
    pub arch: Arch,
    /// Most calls at once.
    pub parallel: u32,
    /// Most that may be spent, US dollars.
    pub max_cost_usd: f64,
    /// Longest that measuring may take.
    pub max_time: Duration,
    /// Fork pairs that one call measures.
    pub forks_per_call: u32,
}

/// Who runs the instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineName {
    /// Workers on this machine, as a rehearsal.
    Here,
    /// AWS Lambda.
    Lambda,
}

words!(EngineName: Here "here", Lambda "lambda");

/// An instruction set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Arch {
    /// 64-bit x86.
    #[serde(rename = "x86_64")]
    X86_64,
    /// 64-bit ARM.
    #[serde(rename = "arm64")]
    Arm64,
}

words!(Arch: X86_64 "x86_64", Arm64 "arm64");
