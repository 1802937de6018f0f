//! One version measured alone on this machine, free to use every core as the harness itself would be.

use std::time::{Duration, Instant};

use duetbench_core::plan::{Mode, SoloBenchmark, Style};
use duetbench_core::spec::defaults;
use duetbench_core::{Role, Sample, Trial};

use super::local::{CAPACITY, Local, lacks};
use super::process_trial::{ProcessSide, ProcessTrial};
use super::trial::{TrialRun, samples_of};
use super::{Executor, TrialFailure, TrialOutcome};
use crate::adapter::{Build, Order};
use crate::error::RunError;
use crate::page::PageHeader;
use crate::process::end_leftovers;

/// While calibrating, slices of more than a quarter of this are believed at once; shorter ones are measured twice, because an
/// interruption in the first would make all iterations too short.
const DOUBTED_NS: u64 = 100_000_000;

const _: () = assert!(defaults::SOLO_ITERATIONS_MAX <= CAPACITY);

impl Local<'_, Build> {
    /// Runs a trial whose iterations are whole processes.
    fn processes(&self, planned: &SoloBenchmark, trial: &Trial) -> Result<Result<Vec<Sample>, TrialFailure>, RunError> {
        let Some(program) = self.adapter.program(&self.builds, &planned.id) else {
            return Ok(Err(lacks(&planned.id, None)));
        };
        let sides = vec![ProcessSide { role: Role::Candidate, program }];
        let slices = (planned.repetitions.warmup, planned.repetitions.iterations);
        let limit = self.timeout + 4 * Duration::from_nanos(planned.first_ns);
        ProcessTrial { name: &planned.id.name, trial, sides, mode: Mode::Sequential, slices, limit }
            .run(&self.interrupted)
    }

    /// Runs a trial that is one process, which gives all its iterations or fails.
    fn iterations(
        &mut self,
        planned: &SoloBenchmark,
        trial: &Trial,
    ) -> Result<Result<Vec<Sample>, TrialFailure>, RunError> {
        let Some(mut launch) = self.adapter.launch(&self.builds, &planned.id, &order(planned)) else {
            return Ok(Err(lacks(&planned.id, None)));
        };
        if launch.placed {
            launch.program = self.placements.places(&[launch.program], trial.suite_run)?.remove(0);
        }
        let limit = self.timeout + 4 * Duration::from_nanos(planned.trial_predicted_ns());
        let run = TrialRun { launches: vec![(0, launch)], roles: [Role::Candidate; 2], limit };
        let wanted = planned.repetitions.iterations;
        Ok(self.gather(&header(planned, trial), &run)?.and_then(|sides| {
            let samples: Vec<_> = sides.iter().flat_map(|side| samples_of(side, trial)).collect();
            let had = samples.iter().filter(|s| !s.warm_up).count();
            let reason = format!("it gave {had} of {wanted} iterations");
            let short = TrialFailure { role: None, reason, discarded: false };
            if had == wanted as usize { Ok(samples) } else { Err(short) }
        }))
    }
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
    let trial_ns = repetitions.iteration_ns.max(DOUBTED_NS);
    let alone = PageHeader::alone(repetitions.iteration_ns, repetitions.warmup, repetitions.iterations);
    PageHeader { seed: trial.seed, trial_ns, capacity: CAPACITY, ..alone }
}

impl Executor<SoloBenchmark> for Local<'_, Build> {
    fn run_trial(&mut self, planned: &SoloBenchmark, trial: &Trial) -> Result<TrialOutcome, RunError> {
        let began = Instant::now();
        let whole = planned.style == Style::Process;
        let result = if whole { self.processes(planned, trial) } else { self.iterations(planned, trial) };
        let wall = began.elapsed();
        end_leftovers(&planned.id.name);
        // There is no other version that it could be mistaken for.
        let result = result?.map_err(|failure| TrialFailure { role: None, ..failure });
        // Whole processes, free to use every core: what a comparison calls sequential.
        Ok(TrialOutcome { result, mode: Mode::Sequential, wall, conditions: None })
    }
}
