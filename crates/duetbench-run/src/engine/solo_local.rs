//! One version measured alone on this machine.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use duetbench_core::plan::{Mode, SoloBenchmark, Style};
use duetbench_core::spec::defaults;
use duetbench_core::{Role, Sample, Trial};

use super::local::CAPACITY;
use super::placement::Placements;
use super::process_trial::{ProcessSide, ProcessTrial};
use super::trial::{Gathered, TrialRun, samples_of};
use super::{SoloBackend, TrialFailure, TrialOutcome};
use crate::adapter::{Adapter, Build, Order};
use crate::error::RunError;
use crate::page::{NO_CORE, Page, PageHeader, PageMode};
use crate::process::end_leftovers;
use crate::scratch::Scratch;

/// While calibrating, slices of more than a quarter of this are believed at once; shorter ones are measured twice, because an
/// interruption in the first would make all iterations too short.
const DOUBTED_NS: u64 = 100_000_000;

const _: () = assert!(defaults::SOLO_ITERATIONS_MAX <= CAPACITY);

/// Runs the processes of one version on this machine, one at a time, free to use every core as the harness itself would be.
pub struct SoloLocal<'a> {
    adapter: &'a dyn Adapter,
    build: Build,
    pages: Scratch,
    placements: Placements,
    _copies: Scratch,
    page: Option<Page>,
    timeout: Duration,
    interrupted: Arc<AtomicBool>,
}

impl<'a> SoloLocal<'a> {
    /// A back end for one build. A process that takes `timeout` longer than planned counts as hung.
    ///
    /// # Errors
    /// When no private directory can be made.
    pub fn new(
        adapter: &'a dyn Adapter,
        build: Build,
        timeout: Duration,
        interrupted: Arc<AtomicBool>,
    ) -> Result<SoloLocal<'a>, RunError> {
        let copies = Scratch::new()?;
        Ok(SoloLocal {
            adapter,
            build,
            pages: Scratch::in_memory()?,
            placements: Placements::new(copies.path()),
            _copies: copies,
            page: None,
            timeout,
            interrupted,
        })
    }

    /// Runs a trial whose iterations are whole processes.
    fn processes(&self, planned: &SoloBenchmark, trial: &Trial) -> Result<Result<Vec<Sample>, TrialFailure>, RunError> {
        let Some(program) = self.adapter.program(&self.build, &planned.id) else { return Ok(Err(lacks(planned))) };
        let sides = vec![ProcessSide { role: Role::Candidate, program }];
        let slices = (planned.repetitions.warmup, planned.repetitions.iterations);
        let limit = self.timeout + 4 * Duration::from_nanos(planned.first_ns);
        ProcessTrial { trial, sides, mode: Mode::Sequential, slices, limit }.run(&self.interrupted)
    }

    fn gather(&mut self, planned: &SoloBenchmark, trial: &Trial) -> Result<Gathered, RunError> {
        let Some(mut launch) = self.adapter.launch(&self.build, &planned.id, &order(planned)) else {
            return Ok(Err(lacks(planned)));
        };
        if launch.placed {
            launch.program = self.placements.program(trial.first, &launch.program, trial.suite_run)?;
        }
        let header = header(planned, trial);
        let page = match self.page.take() {
            Some(page) => {
                page.reset(&header);
                page
            }
            None => Page::create_for(launch.sandbox.as_ref(), &self.pages.path().join("page"), &header)?,
        };
        let page = self.page.insert(page);
        let limit = self.timeout + 4 * Duration::from_nanos(planned.trial_predicted_ns());
        let run = TrialRun { page, launches: vec![(0, launch)], roles: [Role::Candidate; 2], limit };
        run.gather(&self.interrupted)
    }
}

/// The failure of a trial whose build does not hold the benchmark.
fn lacks(planned: &SoloBenchmark) -> TrialFailure {
    let reason = format!("the build has no package `{}`", planned.id.package);
    TrialFailure { role: None, reason, discarded: false }
}

/// The order for each process of a benchmark: whole processes, free to use every core.
fn order(planned: &SoloBenchmark) -> Order {
    let r = &planned.repetitions;
    Order { mode: Mode::Sequential, slice_ns: r.iteration_ns, warmup_slices: r.warmup, slices: r.iterations }
}

/// Page header for a process: exactly so many iterations, with nothing forced between them. The memory counters are read around
/// each iteration, outside of its time.
fn header(planned: &SoloBenchmark, trial: &Trial) -> PageHeader {
    let repetitions = &planned.repetitions;
    PageHeader {
        mode: PageMode::Solo,
        seed: trial.seed,
        slice_ns: repetitions.iteration_ns,
        trial_ns: repetitions.iteration_ns.max(DOUBTED_NS),
        warmup_slices: repetitions.warmup,
        capacity: CAPACITY,
        block_slices: 1,
        stretch: 0,
        gc_ns: 0,
        k_hint: 0,
        cores: [NO_CORE; 2],
        swap: false,
        slices: repetitions.iterations,
    }
}

impl SoloBackend for SoloLocal<'_> {
    fn run_alone(&mut self, planned: &SoloBenchmark, trial: &Trial) -> Result<TrialOutcome, RunError> {
        let outcome = self.trial(planned, trial);
        end_leftovers(&planned.id.name);
        outcome
    }
}

impl SoloLocal<'_> {
    fn trial(&mut self, planned: &SoloBenchmark, trial: &Trial) -> Result<TrialOutcome, RunError> {
        let began = Instant::now();
        if planned.style == Style::Process {
            let result = self.processes(planned, trial)?.map_err(|failure| TrialFailure { role: None, ..failure });
            return Ok(TrialOutcome { result, mode: Mode::Sequential, wall: began.elapsed(), conditions: None });
        }
        let gathered = self.gather(planned, trial)?;
        let result = match gathered {
            Ok(sides) => {
                let samples: Vec<_> = sides.iter().flat_map(|side| samples_of(side, trial)).collect();
                let (wanted, had) = (planned.repetitions.iterations, samples.iter().filter(|s| !s.warm_up).count());
                let short = format!("it gave {had} of {wanted} iterations");
                if had == wanted as usize {
                    Ok(samples)
                } else {
                    Err(TrialFailure { role: None, reason: short, discarded: false })
                }
            }
            // There is no other version that it could be mistaken for.
            Err(failure) => Err(TrialFailure { role: None, ..failure }),
        };
        // Whole processes, free to use every core: what a comparison calls sequential.
        Ok(TrialOutcome { result, mode: Mode::Sequential, wall: began.elapsed(), conditions: None })
    }
}
