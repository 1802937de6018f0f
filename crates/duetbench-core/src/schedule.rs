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
/// A suite run visits every benchmark once, so that slow changes of the machine hit all benchmarks alike (RMIT: Abedi and
/// Brecht, ICPE 2017). Whoever follows the schedule skips benchmarks that have all they need: that one ends early, or
/// needs another visit because a trial failed, never reshuffles the others.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    seed: u64,
    benchmarks: usize,
    suite_runs: u32,
}

impl Schedule {
    /// The schedule of this plan.
    #[must_use]
    pub fn new(plan: &Plan) -> Schedule {
        let suite_runs = plan.benchmarks.iter().map(|b| b.configuration.forks).max().unwrap_or(0);
        Schedule { seed: plan.seed, benchmarks: plan.benchmarks.len(), suite_runs }
    }

    /// Number of suite runs after which every benchmark has all its forks, if none of its trials failed.
    #[must_use]
    pub fn suite_runs(&self) -> u32 {
        self.suite_runs
    }

    /// The trials of one suite run, in order. Depends on the seed, the number of benchmarks and the number of the suite
    /// run alone, so a resumed run continues the same schedule.
    #[must_use]
    pub fn suite_run(&self, suite_run: u32) -> Vec<Trial> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(u64::from(suite_run) + 1);
        let mut order: Vec<usize> = (0..self.benchmarks).collect();
        order.shuffle(&mut rng);
        let mut trial = |benchmark| {
            let (first, core) = self.place(benchmark, suite_run);
            Trial { benchmark, suite_run, fork: 0, build: 0, first, core, seed: rng.next_u64() }
        };
        order.into_iter().map(&mut trial).collect()
    }

    /// Who is on side 0 and on which core, drawn in blocks of two suite runs: the second of a block has both the other way
    /// round, so that whatever favours a side or a core hits both roles equally often (permuted blocks).
    fn place(&self, benchmark: usize, suite_run: u32) -> (Role, u32) {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        // Streams from the top, far from those of the suite runs.
        rng.set_stream(u64::MAX - (benchmark as u64) * u64::from(u32::MAX) - u64::from(suite_run / 2));
        let (baseline_first, core): (bool, u32) = (rng.random(), rng.random());
        let second = suite_run % 2;
        let first = if baseline_first == (second == 0) { Role::Baseline } else { Role::Candidate };
        (first, core.wrapping_add(second))
    }
}
