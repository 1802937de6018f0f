//! The processors that we may use, and the cores that they belong to.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The processors this process may use, in order.
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
pub fn one_cpu_per_core() -> Vec<u32> {
    let mut seen = BTreeSet::new();
    usable_cpus().into_iter().filter(|&cpu| seen.insert(physical_core(Path::new("/"), cpu))).collect()
}
