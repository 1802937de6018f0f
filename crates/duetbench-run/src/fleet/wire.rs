//! Messages to a worker and back: JSON, versioned, sealed by golden files.

use std::path::PathBuf;
use std::time::Duration;

use duetbench_core::plan::PlannedBenchmark;
use duetbench_core::sample::{Cycle, Memory};
use duetbench_core::{Role, Sample, Trial};
use serde::{Deserialize, Serialize};

use crate::engine::{TrialFailure, TrialOutcome};

/// Version of both messages and of a package's contents.
pub const VERSION: u32 = 1;

/// Request to measure a task in one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// [`VERSION`].
    pub version: u32,
    /// Names the task; the answer has the same.
    pub task: String,
    /// The benchmark with its execution configuration.
    pub planned: PlannedBenchmark,
    /// Its fork pairs.
    pub trials: Vec<WireTrial>,
    /// The members of the package that this needs.
    pub members: Vec<String>,
    /// Recipes to start the two sides, baseline first.
    pub sides: [Recipe; 2],
    /// A trial that takes so much longer than planned counts as hung.
    pub timeout: Duration,
    /// Bytes that the answer may have.
    pub answer_bytes_max: usize,
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    /// In words, when it cannot be understood or is one of another version.
    pub fn read(bytes: &[u8]) -> Result<Request, String> {
        read(bytes)
    }

    /// As it travels.
    pub fn write(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

impl Response {
    /// Reads an answer.
    ///
    /// # Errors
    /// In words, when it cannot be understood or is one of another version.
    pub fn read(bytes: &[u8]) -> Result<Response, String> {
        read(bytes)
    }

    /// As it travels, in no more than so many bytes: first without what warmed up, then without the last trials.
    pub fn write(mut self, bytes_max: usize) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(&self).unwrap_or_default();
        if bytes.len() > bytes_max {
            self.trials.iter_mut().for_each(Outcome::drop_warm_up);
            bytes = serde_json::to_vec(&self).unwrap_or_default();
        }
        while bytes.len() > bytes_max && self.trials.pop().is_some() {
            self.truncated = true;
            bytes = serde_json::to_vec(&self).unwrap_or_default();
        }
        bytes
    }
}

/// Reads a message; its version first, so that another one's is told from a broken one.
fn read<T: for<'d> Deserialize<'d>>(bytes: &[u8]) -> Result<T, String> {
    #[derive(Deserialize)]
    struct Versioned {
        version: u32,
    }
    let Versioned { version } = serde_json::from_slice(bytes).map_err(|e| format!("it is no message of ours: {e}"))?;
    if version != VERSION {
        return Err(format!(
            "it is of version {version}, and this duet speaks version {VERSION}: use one duet's worker"
        ));
    }
    serde_json::from_slice(bytes).map_err(|e| format!("it cannot be understood: {e}"))
}

/// Recipe to start one side, with paths relative to the unpacked package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    /// The program.
    pub program: PathBuf,
    /// Where it runs.
    pub dir: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables that it gets.
    pub env: Vec<(String, String)>,
    /// Its hook sees to it that it dies with the worker.
    pub hooked: bool,
    /// The exit code that means success, of a program whose processes are slices.
    pub exit_code: i32,
}

/// A trial as it travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireTrial {
    benchmark: usize,
    suite_run: u32,
    build: u32,
    first: Role,
    core: u32,
    seed: u64,
}

impl From<Trial> for WireTrial {
    fn from(trial: Trial) -> WireTrial {
        let Trial { benchmark, suite_run, build, first, core, seed, .. } = trial;
        WireTrial { benchmark, suite_run, build, first, core, seed }
    }
}

impl From<WireTrial> for Trial {
    fn from(wire: WireTrial) -> Trial {
        let WireTrial { benchmark, suite_run, build, first, core, seed } = wire;
        Trial { benchmark, round: 0, suite_run, fork: 0, build, first, core, seed }
    }
}

/// Answer of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// [`VERSION`].
    pub version: u32,
    /// The request's.
    pub task: String,
    /// Outcome of each trial that was begun, in order.
    pub trials: Vec<Outcome>,
    /// Not all trials were run, or not all results are in the answer: the time or the answer's room was up.
    pub truncated: bool,
    /// Why nothing could be measured at all, for reasons that are not the benchmark's.
    pub trouble: Option<String>,
    /// Where it was measured.
    pub instance: Instance,
}

/// Where a call was carried out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    /// Tells instances apart.
    pub id: String,
    /// Model of its processor.
    pub cpu: String,
    /// Processors that it shows.
    pub cpus: u32,
    /// Memory that it was given, megabytes, where that is known.
    pub memory_mb: Option<u32>,
    /// Calls that it had carried out before: 0 started it.
    pub calls_before: u32,
    /// Time that starting it took, nanoseconds; counts for its first call.
    pub init_ns: u64,
    /// Time of this call, nanoseconds.
    pub call_ns: u64,
}

/// Outcome of one trial, as it travels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    suite_run: u32,
    mode: duetbench_core::plan::Mode,
    wall_ns: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<TrialFailure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conditions: Option<duetbench_core::noise::Conditions>,
    samples: Vec<WireSample>,
}

/// Side, iteration, block, invocations, wall, CPU, start, warm-up, memory: allocations, bytes, collections, invocations, cycle (cost,
/// period, marking beside the benchmark), and collections since the trial began.
/// A row and no map, because a trial has hundreds of them and an answer has a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct WireSample(u8, u32, u32, u64, u64, Option<u64>, u64, u8, Option<WireMemory>, #[serde(default)] Option<u32>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct WireMemory(Option<u64>, u64, u32, u64, #[serde(default)] Option<WireCycle>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct WireCycle(u64, u64, Option<u64>);

impl Outcome {
    /// The outcome of this trial, as it travels.
    pub fn new(trial: &Trial, outcome: &TrialOutcome) -> Outcome {
        let (samples, failure) = match &outcome.result {
            Ok(samples) => (samples.iter().map(WireSample::of).collect(), None),
            Err(failure) => (Vec::new(), Some(failure.clone())),
        };
        Outcome {
            suite_run: trial.suite_run,
            mode: outcome.mode,
            wall_ns: u64::try_from(outcome.wall.as_nanos()).unwrap_or(u64::MAX),
            failure,
            conditions: outcome.conditions,
            samples,
        }
    }

    /// Leaves out what is never judged.
    pub fn drop_warm_up(&mut self) {
        self.samples.retain(|s| s.7 == 0);
    }

    /// The suite run of its trial.
    pub fn suite_run(&self) -> u32 {
        self.suite_run
    }

    /// The outcome of the trial that it belongs to.
    pub fn outcome_of(&self, trial: &Trial) -> TrialOutcome {
        let result = match &self.failure {
            Some(failure) => Err(failure.clone()),
            None => Ok(self.samples.iter().map(|s| s.sample(trial)).collect()),
        };
        TrialOutcome { result, mode: self.mode, wall: Duration::from_nanos(self.wall_ns), conditions: self.conditions }
    }
}

impl WireSample {
    fn of(s: &Sample) -> WireSample {
        let cycle = |c: Cycle| WireCycle(c.cost_ns, c.period_bytes, c.background_ns);
        let memory = |m: Memory| WireMemory(m.allocations, m.bytes, m.collections, m.invocations, m.cycle.map(cycle));
        let side = u8::from(s.at.role == Role::Candidate);
        let warm_up = u8::from(s.warm_up);
        WireSample(
            side,
            s.at.iteration,
            s.block,
            s.invocations,
            s.wall_ns,
            s.cpu_ns,
            s.start_ns,
            warm_up,
            s.memory.map(memory),
            s.cycles,
        )
    }

    fn sample(&self, trial: &Trial) -> Sample {
        let &WireSample(side, iteration, block, invocations, wall_ns, cpu_ns, start_ns, warm_up, memory, cycles) = self;
        let cycle = |WireCycle(cost_ns, period_bytes, background_ns)| Cycle { cost_ns, period_bytes, background_ns };
        let memory = memory.map(|WireMemory(allocations, bytes, collections, invocations, of)| Memory {
            cycle: of.map(cycle),
            allocations,
            bytes,
            collections,
            invocations,
        });
        let at = trial.coordinates(if side == 0 { Role::Baseline } else { Role::Candidate }, iteration);
        Sample { at, block, invocations, wall_ns, cpu_ns, start_ns, memory, cycles, warm_up: warm_up != 0 }
    }
}
