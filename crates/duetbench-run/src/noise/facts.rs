//! Facts about the machine that do not change.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use duetbench_core::noise::Facts;

use super::cgroup;
use super::counters::{cpu_model, cpuinfo, cpus_listed};
use crate::processors::{physical_core, usable_cpus};

/// Facts about this machine that do not change.
pub fn facts() -> Facts {
    facts_at(Path::new("/"), &usable_cpus())
}

/// The same from `proc` and `sys` below a root, for these processors.
pub fn facts_at(root: &Path, cpus: &[u32]) -> Facts {
    let read = |path: &str| fs::read_to_string(root.join(path)).ok();
    let of_first_cpu = |name: &str| {
        let cpu = cpus.first()?;
        read(&format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/{name}")).map(|text| text.trim().to_owned())
    };
    let info = read("proc/cpuinfo").unwrap_or_default();
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let cores: BTreeSet<(u32, u32)> = cpus.iter().map(|&cpu| physical_core(root, cpu)).collect();
    let listed = read("proc/stat").map_or(0, |text| cpus_listed(&text));
    let quotas = cgroup::limited(root).into_iter().map(|limited| limited.quota_cpus);
    Facts {
        cpu_model: cpu_model(&info),
        cpus_usable: count(cpus.len()),
        cpus_online: count(listed.max(cpus.len())),
        cores_physical: count(cores.len()),
        governor: of_first_cpu("scaling_governor").filter(|governor| !governor.is_empty()),
        frequency_max_khz: of_first_cpu("cpuinfo_max_freq").and_then(|text| text.parse().ok()),
        quota_cpus: quotas.reduce(f64::min),
        virtualised: virtualised(root, &info),
    }
}

/// Intel and AMD tell by a flag that the hypervisor sets, other platforms by the file of a hypervisor or not at all.
fn virtualised(root: &Path, info: &str) -> Option<bool> {
    if root.join("sys/hypervisor/type").exists() {
        return Some(true);
    }
    cpuinfo(info, &["flags"]).map(|flags| flags.split_ascii_whitespace().any(|flag| flag == "hypervisor"))
}
