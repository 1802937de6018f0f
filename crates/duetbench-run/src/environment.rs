//! Reads what this machine is and in what state.

use std::fs;

use duetbench_core::Environment;
use duetbench_core::plan::Capacity;
use duetbench_core::spec::LayoutChoice;

use crate::noise::facts;
use crate::processors::{one_cpu_per_core, usable_cpus};

/// Capacity of this machine, for planning; `asked` is the number of processors that the user wants a benchmark to run on, `relinks`
/// how versions can be linked again in another order.
pub fn capacity(asked: Option<u32>, relinks: Option<LayoutChoice>) -> Capacity {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Capacity { cpus: count(usable_cpus().len()), cores_physical: count(one_cpu_per_core().len()), asked, relinks }
}

/// Describes the machine as it is now.
pub fn describe(toolchain: &str, duet_version: &str) -> Environment {
    let cpus_usable = usable_cpus();
    let uname = rustix::system::uname();
    let arch = match uname.machine().to_string_lossy().as_ref() {
        "x86_64" => "amd64".to_owned(),
        "aarch64" => "arm64".to_owned(),
        other => other.to_owned(),
    };
    let facts = facts();
    Environment {
        platform: format!("{}/{arch}", uname.sysname().to_string_lossy().to_lowercase()),
        kernel: uname.release().to_string_lossy().into_owned(),
        cpu_model: facts.cpu_model.unwrap_or_else(|| "unknown".to_owned()),
        smt: facts.cores_physical < facts.cpus_usable,
        cores_physical: facts.cores_physical,
        cpus_usable,
        governor: facts.governor,
        load_1min: load_1min(),
        steal_share: None,
        toolchain: toolchain.to_owned(),
        duet_version: duet_version.to_owned(),
    }
}

fn load_1min() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|w| w.parse().ok()).unwrap_or(0.0)
}

/// Processor time since boot, to be read before and after a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuTimes {
    total: u64,
    steal: u64,
}

impl CpuTimes {
    /// The counters as they stand; absent where the system keeps none.
    pub fn now() -> Option<CpuTimes> {
        let text = fs::read_to_string("/proc/stat").ok()?;
        let fields: Vec<u64> = text.lines().next()?.split_whitespace().skip(1).map_while(|w| w.parse().ok()).collect();
        // user nice system idle iowait irq softirq steal; guest time is contained in user time
        Some(CpuTimes { total: fields.iter().take(8).sum(), steal: *fields.get(7)? })
    }

    /// Share of processor time stolen by the hypervisor since `earlier`.
    pub fn steal_share_since(self, earlier: CpuTimes) -> f64 {
        let total = self.total.saturating_sub(earlier.total);
        let steal = self.steal.saturating_sub(earlier.steal);
        if total == 0 { 0.0 } else { steal as f64 / total as f64 }
    }
}
