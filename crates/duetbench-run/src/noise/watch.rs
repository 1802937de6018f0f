//! The watch itself.

use std::fs;
use std::path::{Path, PathBuf};

use duetbench_core::noise::{Conditions, Reading, SlowReading};

use super::cgroup;
use super::clocks::{Clocks, SystemClocks};
use super::counters::{self, Stat, children_ns, process_ns};
use super::slow::SlowSources;
use super::source::Source;
use crate::processors::usable_cpus;

/// Shortest time between two reads of the slow files.
const SLOW_EVERY_NS: u64 = 1_000_000_000;

/// Tells at every lap what the machine has done since the one before.
#[derive(Debug)]
pub struct Watch<C = SystemClocks> {
    clocks: C,
    /// The folder with one of every process.
    processes: PathBuf,
    /// In ascending order.
    cpus: Vec<u32>,
    stat: Option<Source>,
    children: Option<Source>,
    quotas: Vec<Source>,
    slow_sources: SlowSources,
    buffer: Vec<u8>,
    last: Option<Reading>,
    last_slow: Option<SlowReading>,
}

impl Watch<SystemClocks> {
    /// Begins to watch this machine.
    pub fn start() -> Watch {
        Watch::at(Path::new("/"), &usable_cpus(), SystemClocks)
    }
}

impl<C: Clocks> Watch<C> {
    /// Begins to watch what `proc` and `sys` below a root say of these processors.
    pub fn at(root: &Path, cpus: &[u32], clocks: C) -> Watch<C> {
        let mut cpus = cpus.to_vec();
        cpus.sort_unstable();
        let mut watch = Watch {
            clocks,
            processes: root.join("proc"),
            stat: Source::open(&root.join("proc/stat")),
            children: Source::open(&root.join("proc/self/stat")),
            quotas: cgroup::limited(root).into_iter().map(|limited| limited.stat).collect(),
            slow_sources: SlowSources::open(root, &cpus),
            cpus,
            buffer: Vec::new(),
            last: None,
            last_slow: None,
        };
        watch.lap();
        watch
    }

    /// Conditions since the last lap, or since the start. To be called when the measured processes have been waited for: before
    /// that, their processor time counts as that of others.
    pub fn lap(&mut self) -> Conditions {
        self.lap_beside(&[])
    }

    /// The same while these processes of ours go on.
    pub fn lap_beside(&mut self, ours: &[u32]) -> Conditions {
        let reading = self.read(ours);
        let now_ns = reading.clocks.monotonic_ns;
        let mut conditions =
            self.last.as_ref().map_or_else(Conditions::default, |last| Conditions::between(last, &reading));
        let due = |slow: &SlowReading| now_ns.saturating_sub(slow.monotonic_ns) >= SLOW_EVERY_NS;
        // After a sleep or a jump this may be another machine, and the trial in hand should hear of it.
        let odd = conditions.suspensions > 0 || conditions.clock_step_ns.is_some();
        if odd || self.last_slow.as_ref().is_none_or(due) {
            let slow = self.slow_sources.read(now_ns, &mut self.buffer);
            if let Some(last) = &self.last_slow {
                conditions = conditions.with_slow(last, &slow);
            }
            self.last_slow = Some(slow);
        }
        self.last = Some(reading);
        conditions
    }

    /// Begins a lap while these processes of ours go on. What is read seldom goes on from the last time, so that it misses nothing.
    pub fn begin_lap_beside(&mut self, ours: &[u32]) {
        self.last = Some(self.read(ours));
    }

    /// One reading of all that is cheap.
    fn read(&mut self, ours: &[u32]) -> Reading {
        let clocks = self.clocks.read();
        let stat = self.stat.as_ref().and_then(|stat| stat.read(&mut self.buffer));
        let Stat { cpus, runnable } = stat.map_or_else(Stat::default, |text| counters::stat(text, &self.cpus));
        let children_ns = self.children.as_ref().and_then(|own| children_ns(own.read_start(&mut self.buffer)?));
        let of_process = |id: &u32| process_ns(&fs::read_to_string(self.processes.join(format!("{id}/stat"))).ok()?);
        let beside_ns = ours.iter().filter_map(of_process).fold(children_ns, |sum, ns| Some(sum?.saturating_add(ns)));
        let own_ns = self.clocks.own_ns().zip(beside_ns).map(|(own, others)| own.saturating_add(others));
        let quotas = self.quotas.iter().map(|quota| counters::quota(quota.read_start(&mut self.buffer)?));
        // All or none, because the groups are told apart by their order.
        let quotas = quotas.collect::<Option<Vec<_>>>().unwrap_or_default();
        Reading { clocks, cpus, own_ns, runnable, quotas }
    }
}
