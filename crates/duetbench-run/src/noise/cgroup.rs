//! The control groups with a processor quota that this process lies in.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::source::Source;

/// Where control groups are mounted: version 2 alone or beside version 1, and version 1 under its two names.
const MOUNTS_V2: [&str; 2] = ["sys/fs/cgroup", "sys/fs/cgroup/unified"];
const MOUNTS_V1: [&str; 2] = ["sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"];

/// A control group with a quota.
#[derive(Debug)]
pub(super) struct Limited {
    /// In processors.
    pub(super) quota_cpus: f64,
    /// Its counters.
    pub(super) stat: Source,
}

/// All control groups around this process that have a quota, the innermost first. A quota that is given later is not seen.
pub(super) fn limited(root: &Path) -> Vec<Limited> {
    let text = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let mut found = Vec::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        if controllers.is_empty() {
            found.extend(MOUNTS_V2.iter().flat_map(|mount| levels(&root.join(mount), path, quota_v2)));
        } else if controllers.split(',').any(|c| c == "cpu") {
            // The two names usually are one directory.
            let first = MOUNTS_V1.iter().map(|mount| root.join(mount)).find(|mount| mount.is_dir());
            found.extend(first.into_iter().flat_map(|mount| levels(&mount, path, quota_v1)));
        }
    }
    found
}

/// From the group itself up to the mount. In a container the path is often one of the host's, and only the mount is there.
fn levels(mount: &Path, path: &str, quota: fn(&Path) -> Option<f64>) -> Vec<Limited> {
    let below: PathBuf = Path::new(path).components().filter(|c| matches!(c, Component::Normal(_))).collect();
    let limited = |dir: PathBuf| {
        let quota_cpus = quota(&dir).filter(|cpus| *cpus > 0.0 && cpus.is_finite())?;
        Some(Limited { quota_cpus, stat: Source::open(&dir.join("cpu.stat"))? })
    };
    below.ancestors().filter_map(|part| limited(mount.join(part))).collect()
}

/// `cpu.max`: `max 100000` or `50000 100000`.
fn quota_v2(dir: &Path) -> Option<f64> {
    let text = fs::read_to_string(dir.join("cpu.max")).ok()?;
    let mut words = text.split_ascii_whitespace();
    Some(words.next()?.parse::<f64>().ok()? / words.next()?.parse::<f64>().ok()?)
}

/// `cpu.cfs_quota_us`, -1 for none, and `cpu.cfs_period_us`.
fn quota_v1(dir: &Path) -> Option<f64> {
    let read = |name: &str| fs::read_to_string(dir.join(name)).ok()?.trim().parse::<f64>().ok();
    Some(read("cpu.cfs_quota_us")? / read("cpu.cfs_period_us")?)
}
