//! The order of trials: randomized multiple interleaved trials (RMIT), from plan and seed alone.

use rand::seq::SliceRandom;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::plan::Plan;
use crate::sample::Role;

/// One scheduled visit to one benchmark in one suite run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trial {
    /// Index into [`Plan::benchmarks`].
    pub benchmark: usize,
    /// Pass over the suite, counted from 0.
    pub suite_run: u32,
    /// Fork within the suite run, counted from 0.
    pub fork: u32,
    /// Build of each version, counted from 0.
    pub build: u32,
    /// The role on side 0: it is started and calibrated first, and in a sequential trial runs first.
    pub first: Role,
    /// Which of the usable cores (modulo their number) side 0 starts on.
    pub core: u32,
    /// Orders the slices within the trial.
    pub seed: u64,
}

/// The suite runs of a plan, each in a fresh random order.
///
/// A suite run visits every benchmark that still has forks to come once, so that slow changes of the machine hit all
/// benchmarks alike (RMIT: Abedi and Brecht, ICPE 2017).
#[derive(Debug, Clone)]
pub struct Schedule {
    seed: u64,
    forks: Vec<u32>,
}

impl Schedule {
    /// The schedule of this plan.
    #[must_use]
    pub fn new(plan: &Plan) -> Schedule {
        Schedule { seed: plan.seed, forks: plan.benchmarks.iter().map(|b| b.configuration.forks).collect() }
    }

    /// Number of suite runs until every benchmark has all its forks.
    #[must_use]
    pub fn suite_runs(&self) -> u32 {
        self.forks.iter().copied().max().unwrap_or(0)
    }

    /// The trials of one suite run, in order. Depends on the seed and the number of the suite run alone, so a resumed
    /// run continues the same schedule.
    #[must_use]
    pub fn suite_run(&self, suite_run: u32) -> Vec<Trial> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(u64::from(suite_run) + 1);
        let mut order: Vec<usize> = (0..self.forks.len()).collect();
        order.shuffle(&mut rng);
        let trials = order.into_iter().map(|benchmark| Trial {
            benchmark,
            suite_run,
            fork: 0,
            build: 0,
            first: if rng.random::<bool>() { Role::Baseline } else { Role::Candidate },
            core: rng.next_u32(),
            seed: rng.next_u64(),
        });
        // Draw for every benchmark, keep those with forks left: one benchmark ending early must not reshuffle the others.
        trials.filter(|t| suite_run < self.forks[t.benchmark]).collect()
    }
}
