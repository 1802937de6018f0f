//! An executor that measures nothing: outcomes come from a script, so that the whole program runs deterministically in
//! tests, in milliseconds.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use duetbench_core::plan::{Discovered, Mode, PlannedBenchmark, Repetitions, SoloBenchmark, Style};
use duetbench_core::sample::Memory;
use duetbench_core::{BenchmarkId, Role, Sample, Trial};
use serde::Deserialize;

use super::{Executor, TrialFailure, TrialOutcome};
use crate::error::RunError;

/// Slices that a scripted fork has.
const SLICES: u32 = 8;
/// Length of a scripted slice, nanoseconds.
const SLICE_NS: f64 = 200_000.0;

/// One scripted benchmark.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    /// Time per invocation in the baseline, nanoseconds; absent: the baseline lacks it.
    baseline_ns: Option<f64>,
    /// The same for the candidate.
    candidate_ns: Option<f64>,
    /// Relative amplitude of the difference between forks.
    #[serde(default)]
    spread: f64,
    /// Allocations per invocation, baseline and candidate.
    #[serde(default)]
    allocs: [u64; 2],
    /// The candidate fails in every trial with these words.
    failure: Option<String>,
    /// The candidate fails in this suite run only.
    failure_in: Option<u32>,
    /// The process is interrupted when this suite run reaches it.
    interrupt_in: Option<u32>,
    /// Duration of each of its trials, microseconds; never part of an outcome.
    #[serde(default)]
    pause_us: u64,
    /// Time that each of its trials takes by the script's own clock, which only such trials move, milliseconds.
    #[serde(default)]
    takes_ms: u64,
}

/// Outcomes by script.
#[derive(Debug, Clone)]
pub struct Scripted {
    parts: BTreeMap<String, Part>,
    /// The script's own clock.
    clock: Duration,
}

impl Scripted {
    /// Package name of all scripted benchmarks.
    pub const PACKAGE: &'static str = "example.com/scripted";

    /// Reads a script: JSON, benchmark names with their parts.
    ///
    /// # Errors
    /// When the file cannot be read or is no script.
    pub fn load(path: &Path) -> Result<Scripted, RunError> {
        let text = std::fs::read_to_string(path).map_err(|e| RunError::file("read", path, e))?;
        let parts = serde_json::from_str(&text)
            .map_err(|e| RunError::file("parse", path, std::io::Error::new(std::io::ErrorKind::InvalidData, e)))?;
        Ok(Scripted { parts, clock: Duration::ZERO })
    }

    /// The benchmarks of one version.
    pub fn discovered(&self, role: Role) -> Vec<Discovered> {
        let present = self.parts.iter().filter(|(_, part)| part.ns(role).is_some());
        present
            .map(|(name, part)| {
                let id = BenchmarkId { package: Self::PACKAGE.into(), name: name.clone() };
                Discovered::of(id, Style::Rewritten, Ok(part.ns(role).map_or(0, |ns| ns as u64)))
            })
            .collect()
    }
}

impl Part {
    fn ns(&self, role: Role) -> Option<f64> {
        match role {
            Role::Baseline => self.baseline_ns,
            Role::Candidate => self.candidate_ns,
        }
    }

    fn slice(&self, trial: &Trial, role: Role, iteration: u32) -> Sample {
        // A fixed pattern over forks with mean zero and a slower trend that both sides share.
        let pattern = [0.0, 1.0, -1.0, 0.5, -0.5][trial.suite_run as usize % 5] * self.spread;
        let own = if role == Role::Candidate { pattern } else { 0.0 };
        let shared = 1.0 + 0.1 * f64::from(trial.suite_run % 3);
        let ns = self.ns(role).unwrap_or(1.0);
        let invocations = (SLICE_NS / ns).max(1.0) as u64;
        let wall_ns = (invocations as f64 * ns * shared * (1.0 + own)) as u64;
        let allocations = self.allocs[role.index()];
        Sample {
            at: trial.coordinates(role, iteration),
            block: 1,
            invocations,
            wall_ns,
            cpu_ns: Some(wall_ns),
            start_ns: u64::from(iteration) * 1_000_000,
            memory: (iteration + 1 == SLICES).then_some(Memory {
                allocations: Some(allocations * invocations * u64::from(SLICES)),
                bytes: 16 * allocations * invocations * u64::from(SLICES),
                collections: 0,
                invocations: invocations * u64::from(SLICES),
                cycle: None,
            }),
            cycles: None,
            warm_up: false,
        }
    }
}

impl Scripted {
    /// The script's part for a benchmark, once its trial of this suite run has taken its time.
    fn play(&self, name: &str, trial: &Trial) -> Result<&Part, RunError> {
        let Some(part) = self.parts.get(name) else {
            return Err(RunError::stored_run(format!("the script has no `{name}`")));
        };
        if part.interrupt_in == Some(trial.suite_run) {
            return Err(RunError::Interrupted);
        }
        std::thread::sleep(Duration::from_micros(part.pause_us));
        Ok(part)
    }
}

impl Part {
    /// Why a trial fails, if it does.
    fn failure(&self, trial: &Trial) -> Option<String> {
        let once = self.failure_in.filter(|run| *run == trial.suite_run).map(|_| "it failed this once".to_owned());
        self.failure.clone().or(once)
    }

    /// An iteration of one version alone; it varies with suite run, fork and iteration.
    fn iteration(&self, trial: &Trial, iteration: u32, warmup: u32) -> Sample {
        let slice = self.slice(trial, Role::Candidate, iteration);
        let own = 1.0 + self.spread * f64::from((7 * trial.fork + 3 * iteration) % 5) / 5.0;
        let wall_ns = (slice.wall_ns as f64 * own) as u64;
        let memory = Some(Memory {
            allocations: Some(self.allocs[1] * slice.invocations),
            bytes: 16 * self.allocs[1] * slice.invocations,
            collections: 0,
            invocations: slice.invocations,
            cycle: None,
        });
        Sample { block: iteration, wall_ns, cpu_ns: Some(wall_ns), memory, warm_up: iteration < warmup, ..slice }
    }
}

impl Executor for Scripted {
    fn clock(&self) -> Option<Duration> {
        self.parts.values().any(|part| part.takes_ms > 0).then_some(self.clock)
    }

    fn run_trial(&mut self, planned: &PlannedBenchmark, trial: &Trial) -> Result<TrialOutcome, RunError> {
        let part = self.play(&planned.id.name, trial)?;
        let wall = Duration::from_millis(part.takes_ms.max(1));
        let result = match part.failure(trial) {
            Some(reason) => Err(TrialFailure { role: Some(Role::Candidate), reason, discarded: false }),
            None => Ok(Role::BOTH.iter().flat_map(|role| (0..SLICES).map(|i| part.slice(trial, *role, i))).collect()),
        };
        self.clock += wall;
        Ok(TrialOutcome { result, mode: planned.mode, wall, conditions: None })
    }
}

impl Executor<SoloBenchmark> for Scripted {
    fn run_trial(&mut self, planned: &SoloBenchmark, trial: &Trial) -> Result<TrialOutcome, RunError> {
        let part = self.play(&planned.id.name, trial)?;
        let Repetitions { iterations, warmup, .. } = planned.repetitions;
        let result = match part.failure(trial) {
            Some(reason) => Err(TrialFailure { role: None, reason, discarded: false }),
            None => Ok((0..warmup + iterations).map(|i| part.iteration(trial, i, warmup)).collect()),
        };
        Ok(TrialOutcome { result, mode: Mode::Sequential, wall: Duration::from_millis(1), conditions: None })
    }
}
