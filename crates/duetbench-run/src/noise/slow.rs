//! Files that are read at most once a second.

use std::path::Path;

use duetbench_core::noise::SlowReading;

use super::counters::{cpu_model, cpuinfo_khz, pressure_ns};
use super::source::Source;

/// Processors whose frequency and heat are watched: each costs three open files, and a few tell as much as all.
const WATCHED_CPUS: usize = 16;

/// The files, open.
#[derive(Debug)]
pub(super) struct SlowSources {
    cpus: Vec<u32>,
    load: Option<Source>,
    pressure: Option<Source>,
    frequencies: Vec<Source>,
    core_events: Vec<Source>,
    package_events: Vec<Source>,
    boot_id: Option<Source>,
    cpuinfo: Option<Source>,
}

impl SlowSources {
    /// Opens what there is below a root.
    pub(super) fn open(root: &Path, cpus: &[u32]) -> SlowSources {
        let of_cpus = |name: &str| -> Vec<Source> {
            let dir = root.join("sys/devices/system/cpu");
            let paths = cpus.iter().take(WATCHED_CPUS).map(|cpu| dir.join(format!("cpu{cpu}")).join(name));
            paths.filter_map(|path| Source::open(&path)).collect()
        };
        let open = |path: &str| Source::open(&root.join(path));
        SlowSources {
            cpus: cpus.to_vec(),
            load: open("proc/loadavg"),
            pressure: open("proc/pressure/cpu"),
            frequencies: of_cpus("cpufreq/scaling_cur_freq"),
            core_events: of_cpus("thermal_throttle/core_throttle_count"),
            package_events: of_cpus("thermal_throttle/package_throttle_count"),
            boot_id: open("proc/sys/kernel/random/boot_id"),
            cpuinfo: open("proc/cpuinfo"),
        }
    }

    /// Reads all of them.
    pub(super) fn read(&self, monotonic_ns: u64, buffer: &mut Vec<u8>) -> SlowReading {
        let mut numbers =
            |sources: &[Source]| -> Vec<u64> { sources.iter().filter_map(|source| source.number(buffer)).collect() };
        let mut frequencies_khz = numbers(&self.frequencies);
        let (cores, packages) = (numbers(&self.core_events), numbers(&self.package_events));
        let load = self.load.as_ref().and_then(|load| load.read_start(buffer)?.split(' ').next()?.parse().ok());
        let pressure_ns = self.pressure.as_ref().and_then(|pressure| pressure_ns(pressure.read_start(buffer)?));
        let boot_id = self.boot_id.as_ref().and_then(|id| Some(id.read_start(buffer)?.trim().to_owned()));
        // Only its beginning: on a large machine the whole takes milliseconds.
        let text = self.cpuinfo.as_ref().and_then(|info| info.read_start(buffer)).unwrap_or_default();
        let text = text.rfind('\n').map_or("", |end| &text[..end]);
        if frequencies_khz.is_empty() {
            frequencies_khz = cpuinfo_khz(text, &self.cpus);
        }
        SlowReading {
            monotonic_ns,
            load_1min: load.filter(|load: &f64| load.is_finite()),
            pressure_ns,
            frequencies_khz,
            thermal_events: thermal_events(&cores, &packages),
            boot_id: boot_id.filter(|id| !id.is_empty()),
            cpu_model: cpu_model(text),
        }
    }
}

/// Every core counts its own; the processors of a package all show the package's count.
fn thermal_events(cores: &[u64], packages: &[u64]) -> Option<u64> {
    let cores_sum = cores.iter().copied().reduce(u64::saturating_add);
    let package = packages.iter().copied().max();
    [cores_sum, package].into_iter().flatten().reduce(u64::saturating_add)
}
