//! Findings about the machine, with their severity and the kind of advice that fits.

use serde::{Deserialize, Serialize};

/// Severity of a finding, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing; lock-step measuring takes most of it away.
    Note,
    /// Makes intervals wider.
    Disturbing,
    /// Makes intervals so much wider that another machine, or another time, is the better answer.
    Severe,
}

words!(Severity: Note "note", Disturbing "disturbing", Severe "severe");

/// Something about the machine that explains spread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The kind, with its numbers.
    pub kind: Kind,
    /// The severity.
    pub severity: Severity,
}

/// Kind of a finding, with its numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The hypervisor ran somebody else.
    Steal {
        /// Share of processor time.
        share: f64,
    },
    /// The quota of the control group ran out.
    Throttled {
        /// Share of periods.
        share: f64,
        /// The quota, in processors.
        quota_cpus: Option<f64>,
    },
    /// There is a quota smaller than the processors that seem usable.
    Quota {
        /// The quota, in processors.
        quota_cpus: f64,
        /// Usable processors.
        cpus: u32,
    },
    /// Other processes kept processors busy.
    Neighbours {
        /// Processors that they kept busy, on average.
        cpus: f64,
        /// Usable processors.
        of: u32,
    },
    /// The machine has much to do according to its load average, even if nothing was seen now.
    Load {
        /// Over one minute.
        load_1min: f64,
        /// Processors of the machine.
        cpus: u32,
    },
    /// Threads waited for a processor although we used no more than one.
    Waiting {
        /// Share of time with somebody waiting.
        share: f64,
    },
    /// Processors were busy with interrupts.
    Interrupts {
        /// Share of processor time.
        share: f64,
    },
    /// A loop that only reads the clock had time taken away.
    Gaps {
        /// Share of its time, over all processors.
        share: f64,
        /// The longest.
        longest_ns: u64,
        /// Where that was.
        cpu: u32,
    },
    /// The frequency moved.
    FrequencyMoved {
        /// The lowest.
        lowest_khz: u64,
        /// The highest.
        highest_khz: u64,
    },
    /// The governor may change the frequency.
    Governor {
        /// Its name.
        governor: String,
    },
    /// Processors were slowed down to cool.
    Thermal {
        /// Number of times.
        events: u64,
    },
    /// Usable processors share physical cores.
    SharedCores {
        /// Usable processors.
        cpus: u32,
        /// Physical cores.
        cores: u32,
    },
    /// The machine slept.
    Suspended {
        /// Number of times.
        times: u32,
        /// For how long altogether.
        total_ns: u64,
    },
    /// The time of day was set.
    ClockStepped {
        /// By how much; negative is back.
        step_ns: i64,
    },
    /// It was moved to another machine.
    Migrated {
        /// Number of times.
        times: u32,
    },
    /// The garbage collector took much of the measured time.
    Collector {
        /// Share of it.
        share: f64,
    },
    /// Measured processes lost their processor to others.
    Preempted {
        /// Involuntary switches per second of measuring.
        per_s: f64,
    },
}

/// Kind of remedy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// Measure on a machine, or a kind of instance, whose processors are not shared.
    OtherMachine,
    /// Give the container a larger quota, or none.
    RaiseQuota,
    /// End other programs, or wait for them.
    StopNeighbours,
    /// Set the governor that keeps the frequency.
    FixFrequency,
    /// Let it cool, take the load off, use mains power.
    Cool,
    /// Keep the two versions off the two halves of one core.
    OneCpuPerCore,
    /// Keep the machine from sleeping.
    KeepAwake,
    /// Keep network and disk quiet.
    QuietDevices,
    /// Give the benchmark more memory before it collects, or judge with more fork pairs.
    TameCollector,
}

impl Finding {
    /// Advice on it, where something can be done.
    pub fn advice(&self) -> Option<Advice> {
        match self.kind {
            Kind::Steal { .. } | Kind::Migrated { .. } => Some(Advice::OtherMachine),
            Kind::Throttled { .. } | Kind::Quota { .. } => Some(Advice::RaiseQuota),
            Kind::Neighbours { .. } | Kind::Load { .. } | Kind::Waiting { .. } | Kind::Preempted { .. } => {
                Some(Advice::StopNeighbours)
            }
            Kind::Interrupts { .. } => Some(Advice::QuietDevices),
            Kind::FrequencyMoved { .. } | Kind::Governor { .. } => Some(Advice::FixFrequency),
            Kind::Thermal { .. } => Some(Advice::Cool),
            Kind::SharedCores { .. } => Some(Advice::OneCpuPerCore),
            Kind::Suspended { .. } => Some(Advice::KeepAwake),
            Kind::Collector { .. } => Some(Advice::TameCollector),
            // Gaps are an effect: their causes are findings of their own, or cannot be seen from in here.
            Kind::Gaps { .. } | Kind::ClockStepped { .. } => None,
        }
    }
}
