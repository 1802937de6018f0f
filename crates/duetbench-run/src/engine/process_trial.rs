//! Trials whose slices are whole processes.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use duetbench_core::plan::Mode;
use duetbench_core::{Role, Sample, Trial};

use super::TrialFailure;
use crate::error::RunError;
use crate::page::exchanges;
use crate::process::{Timing, end_leftovers};
use crate::program::{Patience, Program, Trouble, run_both};

/// One version's part in such a trial.
pub(super) struct ProcessSide {
    pub(super) role: Role,
    /// With the processors that it may use.
    pub(super) program: Program,
}

/// The processes of one trial.
pub(super) struct ProcessTrial<'a> {
    /// Name of the benchmark.
    pub(super) name: &'a str,
    pub(super) trial: &'a Trial,
    /// One side, or two; the one that runs first is first.
    pub(super) sides: Vec<ProcessSide>,
    pub(super) mode: Mode,
    /// Processes of each side that warm up, and those that count.
    pub(super) slices: (u32, u32),
    /// Longest time of a process.
    pub(super) limit: Duration,
}

impl ProcessTrial<'_> {
    /// Runs them to their end. The error is for what makes going on pointless; a program's failure is a value.
    pub(super) fn run(&self, interrupted: &AtomicBool) -> Result<Result<Vec<Sample>, TrialFailure>, RunError> {
        let patience = Patience { limit: self.limit, interrupted };
        let mut samples = Vec::new();
        for (slice, sides) in self.steps() {
            let step = self.step(slice, &sides, patience);
            // It would run beside the other version's process.
            end_leftovers(self.name);
            match step {
                Ok(timings) => {
                    samples.extend(sides.iter().zip(timings).map(|(&side, timing)| self.sample(side, slice, timing)));
                }
                Err(Trouble::Fatal(error)) => return Err(error),
                Err(Trouble::Failed { side, reason }) => {
                    let role = side.and_then(|index| sides.get(index)).map(|&side| self.sides[side].role);
                    return Ok(Err(TrialFailure { role, reason, discarded: false }));
                }
            }
        }
        Ok(Ok(samples))
    }

    /// Sides that run at the same time, one step after the other, each step with its slice.
    fn steps(&self) -> Vec<(u32, Vec<usize>)> {
        let slices = 0..self.slices.0 + self.slices.1;
        let sides = 0..self.sides.len();
        match self.mode {
            Mode::Duet => slices.map(|slice| (slice, sides.clone().collect())).collect(),
            Mode::Sequential => sides.flat_map(|side| slices.clone().map(move |slice| (slice, vec![side]))).collect(),
            Mode::InterleavedOneCore | Mode::InterleavedAllCores => {
                let one = |slice| {
                    let first = leads(self.trial.seed, slice);
                    [(slice, vec![first]), (slice, vec![1 - first])]
                };
                slices.flat_map(one).filter(|(_, step)| step.iter().all(|side| sides.contains(side))).collect()
            }
        }
    }

    fn step(&self, slice: u32, sides: &[usize], patience: Patience<'_>) -> Result<Vec<Timing>, Trouble> {
        match *sides {
            [first, second] => {
                let cores = [first, second].map(|side| self.sides[side].program.launch.cpus.clone());
                // Cores are exchanged from slice to slice, because no two are alike.
                let [a, b] = if slice.is_multiple_of(2) { [0, 1] } else { [1, 0] };
                let on = |side: usize, core: usize| {
                    let mut program = self.sides[side].program.clone();
                    program.launch.cpus.clone_from(&cores[core]);
                    program
                };
                Ok(run_both([&on(first, a), &on(second, b)], patience)?.to_vec())
            }
            _ => sides.iter().map(|&side| self.alone(side, patience)).collect(),
        }
    }

    fn alone(&self, side: usize, patience: Patience<'_>) -> Result<Timing, Trouble> {
        self.sides[side].program.run(patience).map_err(|trouble| match trouble {
            // The only one of its step.
            Trouble::Failed { reason, .. } => Trouble::Failed { side: Some(0), reason },
            fatal @ Trouble::Fatal(_) => fatal,
        })
    }

    fn sample(&self, side: usize, slice: u32, timing: Timing) -> Sample {
        let trial = self.trial;
        Sample {
            at: trial.coordinates(self.sides[side].role, slice),
            // A block for each arrangement of cores.
            block: if self.mode == Mode::Duet { slice } else { 0 },
            invocations: 1,
            wall_ns: timing.wall_ns.max(1),
            cpu_ns: Some(timing.cpu_ns),
            start_ns: timing.start_ns,
            memory: None,
            cycles: None,
            warm_up: slice < self.slices.0,
        }
    }
}

/// The side that runs first in a slice. The first slice keeps to the trial's own draw, which is balanced over trials; of the
/// others each two take opposite turns, in drawn order, so that each side goes first as often as the other.
fn leads(seed: u64, slice: u32) -> usize {
    let turn = (slice % 2) as usize;
    if slice < 2 { turn } else { turn ^ usize::from(exchanges(seed, slice / 2)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_goes_first_as_often_as_the_other_and_the_trials_draw_comes_first() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..50 {
            let order: Vec<usize> = (0..20).map(|slice| leads(seed, slice)).collect();
            assert_eq!(order[0], 0);
            assert_eq!(order.iter().sum::<usize>(), 10, "{order:?}");
            seen.insert(order);
        }
        assert!(seen.len() > 30, "orders hardly depend on the seed");
    }
}
