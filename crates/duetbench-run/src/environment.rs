//! Reads what this machine is and in what state.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use duetbench_core::Environment;
use duetbench_core::plan::Capacity;

use crate::noise::facts;

/// The processors this process may use, in order.
#[must_use]
pub fn usable_cpus() -> Vec<u32> {
    match rustix::thread::sched_getaffinity(None) {
        Ok(set) => (0..rustix::thread::CpuSet::MAX_CPU)
            .filter(|&c| set.is_set(c))
            .map(|c| u32::try_from(c).unwrap_or(0))
            .collect(),
        Err(_) => vec![0],
    }
}

/// The physical core that a processor belongs to, as `sys` below a root has it: `(package, core)`; the processor itself where
/// the system is silent.
pub(crate) fn physical_core(root: &Path, cpu: u32) -> (u32, u32) {
    let topology = root.join(format!("sys/devices/system/cpu/cpu{cpu}/topology"));
    let read = |name: &str| fs::read_to_string(topology.join(name)).ok()?.trim().parse::<u32>().ok();
    match (read("physical_package_id"), read("core_id")) {
        (Some(package), Some(core)) => (package, core),
        _ => (0, cpu),
    }
}

/// One usable processor of every physical core, in order.
#[must_use]
pub fn one_cpu_per_core() -> Vec<u32> {
    let mut seen = BTreeSet::new();
    usable_cpus().into_iter().filter(|&cpu| seen.insert(physical_core(Path::new("/"), cpu))).collect()
}

/// What planning needs to know; `asked` is the number of processors that the user wants a benchmark to run on, `relinks` whether
/// versions can be linked again in another order.
#[must_use]
pub fn capacity(asked: Option<u32>, relinks: bool) -> Capacity {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Capacity { cpus: count(usable_cpus().len()), cores_physical: count(one_cpu_per_core().len()), asked, relinks }
}

/// Describes the machine as it is now.
#[must_use]
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
    #[must_use]
    pub fn now() -> Option<CpuTimes> {
        let text = fs::read_to_string("/proc/stat").ok()?;
        let fields: Vec<u64> = text.lines().next()?.split_whitespace().skip(1).map_while(|w| w.parse().ok()).collect();
        // user nice system idle iowait irq softirq steal; guest time is contained in user time
        Some(CpuTimes { total: fields.iter().take(8).sum(), steal: *fields.get(7)? })
    }

    /// Share of processor time stolen by the hypervisor since `earlier`.
    #[must_use]
    pub fn steal_share_since(self, earlier: CpuTimes) -> f64 {
        let total = self.total.saturating_sub(earlier.total);
        let steal = self.steal.saturating_sub(earlier.steal);
        if total == 0 { 0.0 } else { steal as f64 / total as f64 }
    }
}
