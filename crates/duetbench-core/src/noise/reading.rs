//! Counters as they stand at one moment. What the system does not tell is absent.

use serde::{Deserialize, Serialize};

/// The three clocks of the system, read together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockReading {
    /// Stands still while the machine sleeps; what we measure with.
    pub monotonic_ns: u64,
    /// Goes on while the machine sleeps.
    pub boottime_ns: u64,
    /// Time of day; may be set.
    pub realtime_ns: u64,
    /// Largest time between the reads of the three, should we have been interrupted in between.
    pub uncertainty_ns: u64,
}

/// Times of one processor since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuCounters {
    /// Its number.
    pub cpu: u32,
    /// Running processes and the kernel on their behalf.
    pub busy_ns: u64,
    /// Nothing to do, or waiting for a disk.
    pub idle_ns: u64,
    /// Handling interrupts.
    pub irq_ns: u64,
    /// Ready to run, but the hypervisor ran somebody else.
    pub steal_ns: u64,
}

/// Effect of a processor quota on our control group, or on one that it lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaCounters {
    /// Periods in which something ran.
    pub periods: u64,
    /// Those in which the quota ran out.
    pub throttled_periods: u64,
    /// Time that processors stood still for it.
    pub throttled_ns: u64,
}

/// Counters that can be read cheaply enough to do it around every trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// The clocks.
    pub clocks: ClockReading,
    /// The usable processors; empty where the system is silent.
    pub cpus: Vec<CpuCounters>,
    /// Processor time used by this process and by those of its children that have ended.
    pub own_ns: Option<u64>,
    /// Threads that run or could run, everywhere on the machine, the reading one included.
    pub runnable: Option<u32>,
    /// One for every control group with a quota, the innermost first.
    pub quotas: Vec<QuotaCounters>,
}

/// Counters that cost more to read, or change more seldom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlowReading {
    /// When it was read.
    pub monotonic_ns: u64,
    /// Load average over one minute.
    pub load_1min: Option<f64>,
    /// Time for which some thread was waiting for a processor (pressure stall information).
    pub pressure_ns: Option<u64>,
    /// Frequencies of usable processors; empty where the system is silent.
    pub frequencies_khz: Vec<u64>,
    /// Number of times that processors were slowed down to cool.
    pub thermal_events: Option<u64>,
    /// Another one means that this is another machine, or the same after a start.
    pub boot_id: Option<String>,
    /// Another one means that this is another machine.
    pub cpu_model: Option<String>,
}
