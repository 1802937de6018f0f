//! Runs a plan: trials in the schedule's order, each result on disk before the next trial begins, until everything is known.

use std::time::Duration;

use duetbench_core::analysis::Seen;
use duetbench_core::noise::Conditions;
use duetbench_core::plan::{Mode, PlannedBenchmark};
use duetbench_core::report::LayoutsUsed;
use duetbench_core::{BenchmarkId, Sample, Trial};

use crate::error::RunError;

mod campaign;
mod comparison;
mod costs;
mod counting;
mod layout;
mod local;
mod local_alone;
mod one_version;
mod placement;
mod probe;
mod process_trial;
mod profiling;
mod reading;
mod scripted;
mod tally;
mod trial;
mod unmeasured;
mod watched;

pub use campaign::{Job, Strategy, measure};
pub use comparison::Comparison;
pub use counting::{Counter, Valgrind, valgrind_for};
pub use local::Local;
pub(crate) use local::order;
pub use one_version::OneVersion;
pub use probe::{Benches, Wanted, probe, probing_takes};
pub(crate) use profiling::read_regular;
pub use profiling::{Profiler, Profiles, profiling_takes};
pub use reading::{UnitReader, unit_reading_takes};
pub use scripted::Scripted;
pub use unmeasured::Obstacle;
pub use watched::Watched;

/// A trial that gave nothing, and why.
pub use duetbench_core::analysis::TrialFailure;

/// Outcome of one trial.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialOutcome {
    /// The samples of both sides, or why there are none.
    pub result: Result<Vec<Sample>, TrialFailure>,
    /// The mode it was run in.
    pub mode: Mode,
    /// Wall time it took, processes' starts and ends included.
    pub wall: Duration,
    /// Conditions of the machine meanwhile, where it was watched.
    pub conditions: Option<Conditions>,
}

/// A build pair of one package that trials are going to be started from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Needed {
    /// The package.
    pub package: String,
    /// Its number.
    pub build: u32,
    /// Seeds for the order of the functions in the baseline's and in the candidate's half.
    pub layout_seeds: [u32; 2],
}

/// The build pairs of a suite run.
#[derive(Debug, Default)]
pub struct Provision {
    /// Those that its trials are started from.
    pub now: Vec<Needed>,
    /// Those that come after them, where making them does not disturb the trials.
    pub next: Vec<Needed>,
}

/// Runs trials of benchmarks as the plan of a comparison has them, or as another plan does (`B`): on this machine, or by a script.
pub trait Executor<B = PlannedBenchmark> {
    /// Makes the build pairs that the next trials need, and begins those after them; no others are needed any more.
    ///
    /// # Errors
    /// When one cannot be made, or begun.
    fn provide(&mut self, builds: &Provision) -> Result<(), RunError> {
        let _ = builds;
        Ok(())
    }

    /// Processes that it has working beside the trials.
    fn beside(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Layouts of the halves of build pairs until now; absent where this does not link.
    fn layouts(&self) -> Option<LayoutsUsed> {
        None
    }

    /// Time since it began by a clock of its own, where time is scripted.
    fn clock(&self) -> Option<Duration> {
        None
    }

    /// Runs one trial to its end.
    ///
    /// # Errors
    /// Only when measuring as a whole cannot go on; what goes wrong inside a benchmark is part of the outcome.
    fn run_trial(&mut self, planned: &B, trial: &Trial) -> Result<TrialOutcome, RunError>;
}

/// Hears of every trial; keeps it before the next one begins.
pub trait Observer {
    /// Something is about to begin.
    fn begins(&mut self, progress: &Progress<'_>);
    /// A trial has ended.
    ///
    /// # Errors
    /// When the result cannot be kept: the run must not go on.
    fn ended(&mut self, trial: &Trial, outcome: &TrialOutcome) -> Result<(), RunError>;
}

/// Present activity of a run.
#[derive(Debug, Clone, Copy)]
pub enum Activity<'a> {
    /// Linking this many programs in another order.
    Linking(usize),
    /// A trial of this benchmark, which has so many fork pairs.
    Trial(&'a BenchmarkId, u32),
    /// A process of this benchmark alone, in the suite run of this number, of so many.
    Solo(&'a BenchmarkId, (u32, u32)),
}

/// Where a run stands.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// Its present activity.
    pub activity: Activity<'a>,
    /// The round: 0, or one of those that confirm regressions.
    pub round: u32,
    /// Benchmarks whose answer is known, or that ended without.
    pub settled: usize,
    /// Wall time measured so far.
    pub elapsed: Duration,
    /// Wall time that is left at most.
    pub left: Duration,
    /// Whether that is a bound, because a budget ends there; else it is what was learnt until now.
    pub is_bound: bool,
    /// The answers so far; absent where nobody looks while measuring.
    pub answers: Option<&'a [Option<Seen>]>,
}

/// Time that a run used, and whether it came to its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunSummary {
    /// Wall time spent in trials and in linking, that of earlier sittings included.
    pub measured: Duration,
    /// Every benchmark got its due.
    pub complete: bool,
}
