//! The plan of a run of one version: how often each of its benchmarks is measured.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::lengths::FORK_OVERHEAD_NS;
use super::{Discovered, Style};
use crate::sample::BenchmarkId;
use crate::spec::{SoloSpec, SpecError, defaults};

/// Repetitions of one version of a benchmark, level by level (µOpTime calls this its execution configuration).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repetitions {
    /// Passes over the suite in which it takes part.
    pub suite_runs: u32,
    /// Fresh processes in each of them.
    pub forks: u32,
    /// Iterations of each process that count.
    pub iterations: u32,
    /// Iterations before these, which warm up.
    pub warmup: u32,
    /// Length an iteration aims at, nanoseconds.
    pub iteration_ns: u64,
}

impl Default for Repetitions {
    fn default() -> Self {
        Repetitions {
            suite_runs: defaults::SOLO_SUITE_RUNS,
            forks: defaults::SOLO_FORKS,
            iterations: defaults::SOLO_ITERATIONS,
            warmup: defaults::SOLO_WARMUP,
            iteration_ns: defaults::SOLO_ITERATION_NS,
        }
    }
}

impl Repetitions {
    /// Checks that there is something to measure, and that it has room.
    ///
    /// # Errors
    /// Names the first number that is out of range.
    pub fn check(self) -> Result<Repetitions, SpecError> {
        let within = |name, value: u64, most: u64| {
            let high = most as f64 + 1.0;
            let fits = value > 0 && value <= most;
            if fits { Ok(()) } else { Err(SpecError::OutOfRange { name, value: value as f64, low: 0.0, high }) }
        };
        within("suite-runs", self.suite_runs.into(), defaults::SOLO_SUITE_RUNS_MAX.into())?;
        within("forks", self.forks.into(), defaults::SOLO_FORKS_MAX.into())?;
        within("iterations", self.iterations.into(), defaults::SOLO_ITERATIONS_MAX.into())?;
        let (all, most) = (u64::from(self.iterations) + u64::from(self.warmup), defaults::SOLO_ITERATIONS_MAX.into());
        within("iterations and warmup together", all, most)?;
        if self.iteration_ns == 0 || self.iteration_ns > defaults::SOLO_ITERATION_MAX_NS {
            let (value, high) = (self.iteration_ns as f64 * 1e-9, defaults::SOLO_ITERATION_MAX_NS as f64 * 1e-9);
            return Err(SpecError::OutOfRange { name: "seconds", value, low: 0.0, high });
        }
        Ok(self)
    }

    /// Iterations of all processes that count, where [`check`](Self::check) finds nothing.
    pub fn iterations_in_all(&self) -> u64 {
        self.trials() * u64::from(self.iterations)
    }

    /// Processes in all.
    pub fn trials(&self) -> u64 {
        u64::from(self.suite_runs) * u64::from(self.forks)
    }

    /// Wall time that one process will probably take whose first invocation took `first_ns`, nanoseconds.
    pub fn trial_predicted_ns(&self, first_ns: u64) -> u64 {
        // Calibration ends with a slice that is about as long as an iteration.
        let slices = u64::from(self.iterations) + u64::from(self.warmup) + 1;
        slices.saturating_mul(self.iteration_ns.max(first_ns)).saturating_add(FORK_OVERHEAD_NS)
    }
}

/// One benchmark of the plan of one version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SoloBenchmark {
    /// The benchmark.
    pub id: BenchmarkId,
    /// The style in which it is sliced.
    pub style: Style,
    /// Time of its first invocation when it was listed, nanoseconds.
    pub first_ns: u64,
    /// Its repetitions.
    pub repetitions: Repetitions,
}

impl SoloBenchmark {
    /// Wall time that one of its processes will probably take, nanoseconds.
    pub fn trial_predicted_ns(&self) -> u64 {
        self.repetitions.trial_predicted_ns(self.first_ns)
    }

    /// Wall time of all its processes, if it goes as predicted, nanoseconds.
    pub fn predicted_ns(&self) -> u64 {
        self.trial_predicted_ns().saturating_mul(self.repetitions.trials())
    }
}

/// Everything that is going to be measured of one version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SoloPlan {
    /// Source of every random choice.
    pub seed: u64,
    /// Benchmarks that are measured, in name order.
    pub benchmarks: Vec<SoloBenchmark>,
    /// Benchmarks that failed while they were listed, with their words; in name order.
    pub failed: Vec<(BenchmarkId, String)>,
}

impl SoloPlan {
    /// Settles how often each benchmark is measured: as `planned` says under its full name, else as was asked for all.
    pub fn new(spec: &SoloSpec, found: &[Discovered], planned: &BTreeMap<String, Repetitions>) -> SoloPlan {
        let mut sorted: Vec<&Discovered> = found.iter().collect();
        sorted.sort_by(|a, b| a.id.cmp(&b.id));
        let mut plan = SoloPlan { seed: spec.seed, benchmarks: Vec::new(), failed: Vec::new() };
        for one in sorted {
            let id = one.id.clone();
            if let Some(words) = &one.failure {
                plan.failed.push((id, words.clone()));
                continue;
            }
            let mut repetitions = planned.get(&id.to_string()).copied().unwrap_or(spec.repetitions);
            if one.style == Style::Process {
                // The length of a whole process is not for us to choose.
                repetitions.iteration_ns = one.first_ns.clamp(1, defaults::SOLO_ITERATION_MAX_NS);
            }
            plan.benchmarks.push(SoloBenchmark { id, style: one.style, first_ns: one.first_ns, repetitions });
        }
        plan
    }

    /// Wall time that measuring will take, if it goes as predicted.
    pub fn predicted(&self) -> Duration {
        Duration::from_nanos(self.benchmarks.iter().fold(0, |sum: u64, b| sum.saturating_add(b.predicted_ns())))
    }
}
