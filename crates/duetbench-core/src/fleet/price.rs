//! Prices of calls on a fleet.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Usage;
use crate::spec::Arch;

/// Prices of one provider on one day, read from a file that the user can replace.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceTable {
    /// The day they were looked up, `2026-11-01`.
    pub date: String,
    /// Where they stand.
    pub source: String,
    /// By region; `default` stands for all others.
    pub regions: BTreeMap<String, Rate>,
}

/// Prices of one region, US dollars.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// For a gigabyte (2³⁰ bytes) of memory for a second, on x86_64.
    pub gb_second_x86_64: f64,
    /// The same on arm64.
    pub gb_second_arm64: f64,
    /// For a million requests.
    pub million_requests: f64,
}

impl PriceTable {
    /// The rate of a region; absent when the table has neither it nor a default.
    pub fn rate(&self, region: &str) -> Option<Rate> {
        self.regions.get(region).or_else(|| self.regions.get("default")).copied()
    }
}

impl Rate {
    /// Cost of one call, US dollars: billed time, rounded up to a millisecond, times memory, and the request itself.
    pub fn of(&self, usage: Usage, memory_mb: u32, arch: Arch) -> f64 {
        self.of_time(usage.billed_ns, memory_mb, arch) + self.million_requests / 1e6
    }

    /// Cost of billed time without the request, US dollars; `billed_ns` in nanoseconds, rounded up to a millisecond.
    pub fn of_time(&self, billed_ns: u64, memory_mb: u32, arch: Arch) -> f64 {
        let gb_second = match arch {
            Arch::X86_64 => self.gb_second_x86_64,
            Arch::Arm64 => self.gb_second_arm64,
        };
        let seconds = billed_ns.div_ceil(1_000_000) as f64 / 1e3;
        seconds * f64::from(memory_mb) / 1024.0 * gb_second
    }
}
