//! Processes that give no sample of the run: started as the harness itself starts them, once everything is judged.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use duetbench_core::plan::{Mode, Plan, PlannedBenchmark};
use duetbench_core::{Role, Schedule};

use super::Needed;
use super::layout::{Layouts, Linker};
use super::placement::Placements;
use crate::adapter::{Adapter, Build, Sampling};
use crate::error::RunError;
use crate::process::{Launch, WaitEnd, end_leftovers, failure_words, hangs, wait_all, words_of_death};
use crate::processors::usable_cpus;
use crate::program::Program;
use crate::scratch::Scratch;

/// A process makes this part of the invocations first: what a harness does besides invocations (set-up, paused timers) is in no
/// time per operation, and could make the others take for ever.
pub(super) const FIRST_SHARE: u64 = 10;
/// Most invocations of a process, as Go has it.
const INVOCATIONS_MAX: f64 = 1e9;

/// Why something that needs no sample did not work out.
#[derive(Debug)]
pub enum Obstacle {
    /// The user wants to stop.
    Interrupted,
    /// It did not work out, in words.
    Failed(String),
}

impl From<RunError> for Obstacle {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Interrupted => Obstacle::Interrupted,
            other => Obstacle::Failed(other.to_string()),
        }
    }
}

/// An order for one process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    /// The version.
    pub(super) role: Role,
    /// Number of the process on its side; decides on which core it runs where it is bound to one.
    pub(super) turn: u32,
    /// Invocations that it makes.
    pub(super) invocations: u64,
    /// Where it writes a profile, if it is to.
    pub(super) profile: Option<&'a Path>,
    /// The program to start instead of the build's own.
    pub(super) program: Option<&'a Path>,
}

/// Starts processes of two builds, baseline first.
pub(super) struct Processes<'a> {
    adapter: &'a dyn Adapter,
    builds: [Build; 2],
    cpus: Vec<u32>,
    timeout: Duration,
    interrupted: Arc<AtomicBool>,
}

impl<'a> Processes<'a> {
    /// A process that takes `timeout` longer than planned counts as hung.
    pub(super) fn new(
        adapter: &'a dyn Adapter,
        builds: [Build; 2],
        timeout: Duration,
        interrupted: Arc<AtomicBool>,
    ) -> Processes<'a> {
        Processes { adapter, builds, cpus: usable_cpus(), timeout, interrupted }
    }

    /// Whether build pairs of a package have the functions and the data of both versions at the same addresses.
    pub(super) fn matches(&self, package: &str) -> bool {
        let alike = self.adapter.pair_layouts().and_then(|pairs| pairs.plan(package)).is_some_and(|plan| plan.alike);
        alike && self.adapter.matches_data()
    }

    /// The program of a side, where it is the program itself that is measured: such ones are started from copies of their own.
    pub(super) fn placed_program(&self, planned: &PlannedBenchmark, role: Role) -> Option<PathBuf> {
        let build = self.build(role);
        let sampling = Sampling { mode: planned.mode, invocations: 1, file: None };
        let launch = self.adapter.sampled(build, &planned.id, &sampling)?;
        launch.placed.then_some(launch.program)
    }

    /// A process of a side that makes so many invocations, to be counted.
    pub(super) fn counted(&self, planned: &PlannedBenchmark, role: Role, invocations: u64) -> Result<Launch, Obstacle> {
        let lacks = || Obstacle::Failed(format!("the build has no package `{}`", planned.id.package));
        self.adapter.counted(self.build(role), &planned.id, invocations).ok_or_else(lacks)
    }

    /// The whole program of a side, where that is what is measured.
    pub(super) fn program(&self, planned: &PlannedBenchmark, role: Role) -> Option<Program> {
        self.adapter.program(self.build(role), &planned.id)
    }

    /// The build of a side.
    fn build(&self, role: Role) -> &Build {
        &self.builds[role.index()]
    }

    /// Time that a process may take longer than expected.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Set once the user wants to stop.
    pub(super) fn interrupted(&self) -> &AtomicBool {
        &self.interrupted
    }

    /// Invocations that each process is to make, so that it takes about `process_ns`, or not much longer, where an operation takes so
    /// long in the slower version.
    pub(super) fn invocations(
        &self,
        planned: &PlannedBenchmark,
        slower_ns: f64,
        process_ns: u64,
    ) -> Result<u64, Obstacle> {
        let wanted = (process_ns as f64 / slower_ns.max(0.1)).clamp(1.0, INVOCATIONS_MAX) as u64;
        if wanted < FIRST_SHARE {
            return Ok(wanted);
        }
        let began = Instant::now();
        let invocations = wanted / FIRST_SHARE;
        let first = Asked { role: Role::Candidate, turn: 0, invocations, profile: None, program: None };
        self.run(planned, first, process_ns)?;
        let took = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let affordable = u128::from(wanted) * u128::from(process_ns) / u128::from(took.max(1));
        Ok(if took > process_ns { u64::try_from(affordable).unwrap_or(wanted).max(1) } else { wanted })
    }

    /// Runs one process, which is to take about `process_ns`, to its end; gives the end of what it printed.
    pub(super) fn run(
        &self,
        planned: &PlannedBenchmark,
        asked: Asked<'_>,
        process_ns: u64,
    ) -> Result<String, Obstacle> {
        let Asked { role, turn, invocations, profile, program } = asked;
        let sampling = Sampling { mode: planned.mode, invocations, file: profile };
        let lacks = || Obstacle::Failed(format!("the build has no package `{}`", planned.id.package));
        let build = self.build(role);
        let mut launch = self.adapter.sampled(build, &planned.id, &sampling).ok_or_else(lacks)?;
        if let Some(program) = program {
            program.clone_into(&mut launch.program);
        }
        if matches!(planned.mode, Mode::Duet | Mode::InterleavedOneCore) {
            launch.cpus = Some(vec![self.cpus[turn as usize % self.cpus.len()]]);
        }
        self.to_end(&planned.id.name, &launch, 4 * Duration::from_nanos(planned.first_ns.max(process_ns)))
    }

    /// Runs a process that is expected to take so long to its end; gives the end of what it printed.
    pub(super) fn to_end(&self, name: &str, launch: &Launch, expected: Duration) -> Result<String, Obstacle> {
        RunError::stop_if(&self.interrupted)?;
        let limit = self.timeout + expected;
        let mut children = [launch.spawn()?];
        let end = wait_all(&mut children, Instant::now() + limit, &self.interrupted, |_| {});
        let [child] = &mut children;
        child.kill();
        end_leftovers(name);
        match (end, child.status().and_then(failure_words)) {
            (WaitEnd::Interrupted, _) => Err(Obstacle::Interrupted),
            (WaitEnd::TimedOut, _) => Err(Obstacle::Failed(hangs(limit))),
            (WaitEnd::Ended, Some(death)) => Err(Obstacle::Failed(words_of_death(&death, &child.output_tail()))),
            (WaitEnd::Ended, None) => Ok(child.output_tail()),
        }
    }
}

/// Programs of processes that are linked in the orders of a run's first build pairs.
pub(super) struct BuildPairs {
    layouts: Layouts,
    pub(super) placements: Placements,
    _programs: Scratch,
}

impl BuildPairs {
    /// None is linked yet.
    pub(super) fn new() -> Result<BuildPairs, RunError> {
        let programs = Scratch::new()?;
        let placements = Placements::new(programs.path());
        Ok(BuildPairs { layouts: Layouts::default(), placements, _programs: programs })
    }

    /// Has the first so many build pairs of these packages at hand, and no others.
    pub(super) fn provide(
        &mut self,
        processes: &Processes<'_>,
        plan: &Plan,
        packages: &[&str],
        builds: u32,
    ) -> Result<(), RunError> {
        let Processes { adapter, builds: versions, interrupted, .. } = processes;
        let linker = Linker { adapter: *adapter, builds: versions, at_once: processes.cpus.len(), interrupted };
        let schedule = Schedule::new(plan);
        let needed = |package: &&str| {
            let package = (*package).to_owned();
            let layout_seeds = |build| schedule.layout_seeds(build);
            (0..builds).map(move |build| Needed { package: package.clone(), build, layout_seeds: layout_seeds(build) })
        };
        let needed: Vec<Needed> = packages.iter().flat_map(needed).collect();
        self.layouts.provide(&needed, &[], &linker, &mut self.placements)
    }

    /// The program of one half.
    pub(super) fn program(&self, role: Role, package: &str, build: u32) -> PathBuf {
        self.layouts.program(role, package, build).to_owned()
    }
}
