//! Processes whose processor time is sampled, to say where a regression comes from. They give no sample of the run.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use duetbench_core::Role;
use duetbench_core::hotspot::{BENCHMARKS_MAX, PROCESS_NS, PROCESSES, ProcessProfile, ProfileDifference};
use duetbench_core::plan::{Plan, PlannedBenchmark, Style};

use super::unmeasured::{Asked, FIRST_SHARE, Obstacle, Processes};
use crate::adapter::{Adapter, Build};
use crate::error::RunError;
use crate::pprof::{self, FILE_BYTES_MAX, Pprof};
use crate::scratch::Scratch;

/// Profiles the benchmarks of two builds on this machine.
pub struct Profiler<'a> {
    processes: Processes<'a>,
    files: Scratch,
}

/// The profiles of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Profiles {
    /// Difference between the sides.
    pub difference: ProfileDifference,
    /// All processes of the baseline and of the candidate in a pprof file each.
    pub merged: [Vec<u8>; 2],
}

/// Wall time that profiling takes at most, where it is known how long operations take: the longest benchmarks are those that regress.
pub fn profiling_takes(plan: &Plan) -> Duration {
    let process = |b: &PlannedBenchmark| b.first_ns.max(PROCESS_NS);
    let mut each: Vec<u64> = plan.benchmarks.iter().map(process).collect();
    each.sort_unstable_by(|a, b| b.cmp(a));
    let sampled = each.iter().take(BENCHMARKS_MAX).fold(0, |sum: u64, ns| sum.saturating_add(*ns));
    Duration::from_nanos(sampled) * 2 * PROCESSES + Duration::from_nanos(sampled / FIRST_SHARE)
}

impl<'a> Profiler<'a> {
    /// A profiler for two builds, baseline first. A process that takes `timeout` longer than planned counts as hung.
    ///
    /// # Errors
    /// When no private directory can be made.
    pub fn new(
        adapter: &'a dyn Adapter,
        builds: [Build; 2],
        timeout: Duration,
        interrupted: Arc<AtomicBool>,
    ) -> Result<Profiler<'a>, RunError> {
        let processes = Processes::new(adapter, builds, timeout, interrupted);
        Ok(Profiler { processes, files: Scratch::in_memory()? })
    }

    /// Profiles both sides of a benchmark that takes so long per operation in the slower version, in nanoseconds. The sides take turns, on the same
    /// core where they are bound to one, and all processes make the same number of invocations.
    ///
    /// # Errors
    /// When a process fails or hangs, or its profile cannot be used; on an interrupt.
    pub fn explain(&self, planned: &PlannedBenchmark, slower_ns: f64) -> Result<Profiles, Obstacle> {
        let invocations = self.processes.invocations(planned, slower_ns, PROCESS_NS)?;
        let mut sides: [Vec<Pprof>; 2] = Default::default();
        for turn in 0..PROCESSES {
            let roles = if turn % 2 == 0 { Role::BOTH } else { [Role::Candidate, Role::Baseline] };
            for role in roles {
                let pprof = self.sampled(planned, role, turn, invocations)?;
                sides[role.index()].push(pprof);
            }
        }
        let words = |e: pprof::PprofError| Obstacle::Failed(e.to_string());
        let made = invocations_made(planned.style, invocations);
        let mut counted: [Vec<ProcessProfile>; 2] = Default::default();
        for (counted, side) in counted.iter_mut().zip(&sides) {
            *counted = side.iter().map(|pprof| pprof.count(made)).collect::<Result<_, _>>().map_err(words)?;
        }
        let [baseline, candidate] = &counted;
        let difference = ProfileDifference::of(baseline, candidate)
            .ok_or_else(|| Obstacle::Failed("a side used too little processor time to be sampled".into()))?;
        let [baseline, candidate] = sides;
        let merged = [pprof::merge(&baseline).map_err(words)?, pprof::merge(&candidate).map_err(words)?];
        Ok(Profiles { difference, merged })
    }

    /// The profile of one process.
    fn sampled(&self, planned: &PlannedBenchmark, role: Role, turn: u32, n: u64) -> Result<Pprof, Obstacle> {
        let file = self.files.path().join(format!("{}-{turn}.pb.gz", role.word()));
        let asked = Asked { role, turn, invocations: n, profile: Some(&file), program: None };
        self.processes.run(planned, asked, PROCESS_NS)?;
        let pprof = pprof::parse(&read_regular(&file, FILE_BYTES_MAX, "read the profile")?)
            .map_err(|e| Obstacle::Failed(e.to_string()));
        let _ = std::fs::remove_file(&file);
        pprof
    }
}

/// Invocations that a process has really made when it was asked for so many: `testing` calls a benchmark once before it counts, but
/// not one with a loop of its own.
fn invocations_made(style: Style, asked: u64) -> u64 {
    if style == Style::Loop || asked < 2 { asked } else { asked + 1 }
}

/// The file that a process left, up to a byte more than it may have; what it may have put there instead is not followed. `deed` is for the error.
pub(crate) fn read_regular(path: &Path, bytes_max: usize, deed: &'static str) -> Result<Vec<u8>, RunError> {
    let refused = |e| RunError::file(deed, path, e);
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = flags.bits().cast_signed();
    let file: File = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(refused)?;
    if !file.metadata().map_err(refused)?.is_file() {
        return Err(refused(std::io::ErrorKind::InvalidData.into()));
    }
    let mut bytes = Vec::new();
    file.take(bytes_max as u64 + 1).read_to_end(&mut bytes).map_err(refused)?;
    Ok(bytes)
}
