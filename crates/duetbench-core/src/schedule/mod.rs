//! The order of trials: randomized multiple interleaved trials (RMIT), from plan and seed alone.

use rand::seq::SliceRandom;
use rand::{Rng, RngCore};

use crate::plan::{Design, Plan};
use crate::sample::{Coordinates, Role};

mod mixture;
mod solo;
mod stream;

pub use mixture::Mixture;
use stream::Stream;

/// One scheduled visit to one benchmark in one suite run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trial {
    /// Index into [`Plan::benchmarks`].
    pub benchmark: usize,
    /// Round of measuring: 0, or one of those that confirm regressions.
    pub round: u32,
    /// Pass over the suite, counted from 0 in every round; where benchmarks do not take part in every pass, the number of those
    /// in which this one took part before.
    pub suite_run: u32,
    /// Fork within the suite run, counted from 0.
    pub fork: u32,
    /// Build of each version, counted from 0.
    pub build: u32,
    /// The role on side 0: it is started and calibrated first, and in a sequential trial runs first.
    pub first: Role,
    /// Core on which side 0 starts, an index into the usable ones (modulo their number).
    pub core: u32,
    /// Orders the slices within the trial.
    pub seed: u64,
}

impl Trial {
    /// The coordinates of one of its samples, measured on this machine.
    pub fn coordinates(&self, role: Role, iteration: u32) -> Coordinates {
        let Trial { build, round, suite_run, fork, .. } = *self;
        Coordinates { role, instance: 0, build, round, suite_run, fork, iteration }
    }
}

/// Builds of different rounds never have the same number: a round confirms nothing with the layouts of the one before.
const BUILDS_PER_ROUND: u32 = 100_000;

/// The suite runs of a plan, each in a fresh random order.
///
/// A suite run visits every benchmark once, so that slow changes of the machine hit all benchmarks alike (RMIT: Abedi and
/// Brecht, ICPE 2017). Whoever follows the schedule skips benchmarks that have all they need: that one ends early, or
/// needs another visit because a trial failed, never reshuffles the others.
#[derive(Debug, Clone)]
pub struct Schedule {
    seed: u64,
    designs: Vec<Design>,
    spread: bool,
}

impl Schedule {
    /// The schedule of this plan.
    pub fn new(plan: &Plan) -> Schedule {
        let designs = plan.benchmarks.iter().map(|b| b.configuration.design).collect();
        Schedule { seed: plan.seed, designs, spread: plan.spread }
    }

    /// Number of suite runs after which every benchmark has all its forks, if none of its trials failed.
    pub fn suite_runs(&self) -> u32 {
        self.designs.iter().map(Design::forks).max().unwrap_or(0)
    }

    /// The trials of one suite run of one round, in order. Depends on the seed, the designs and these two numbers
    /// alone, so a resumed run continues the same schedule.
    pub fn suite_run(&self, round: u32, suite_run: u32) -> Vec<Trial> {
        self.pass(round, suite_run, &vec![Some(suite_run); self.designs.len()])
    }

    /// The trials of one pass over the suite, in order. `visits` says for every benchmark which of its own suite runs this is;
    /// absent, it does not take part, which does not reshuffle the others.
    pub fn pass(&self, round: u32, number: u32, visits: &[Option<u32>]) -> Vec<Trial> {
        let mut rng = Stream::Order { pass: number }.of(self.seed, round);
        let mut order: Vec<usize> = (0..self.designs.len()).collect();
        order.shuffle(&mut rng);
        let mut trial = |benchmark: usize| {
            let seed = rng.next_u64();
            let suite_run = visits.get(benchmark).copied().flatten()?;
            let (first, core) = self.place(benchmark, round, suite_run);
            let build = self.build(benchmark, round, suite_run, number);
            Some(Trial { benchmark, round, suite_run, fork: 0, build, first, core, seed })
        };
        order.into_iter().filter_map(&mut trial).collect()
    }

    /// Seeds that order the functions in the two halves of a build pair, baseline first; never 0.
    pub fn layout_seeds(&self, build: u32) -> [u32; 2] {
        let mut rng = Stream::Layouts { build }.of(self.seed, 0);
        [rng.next_u32() | 1, rng.next_u32() | 1]
    }

    /// The build pair from which a benchmark's processes of this suite run are started.
    fn build(&self, benchmark: usize, round: u32, suite_run: u32, pass: u32) -> u32 {
        let design = self.designs[benchmark].of_round(round);
        // Benchmarks of one package that take part in the same pass share its programs, wherever each of them stands.
        let shared = self.spread && round == 0 && design.forks_per_unit == 1 && design.doubled == 0;
        let number = if shared { pass } else { design.unit(suite_run) };
        if design.by_build { round * BUILDS_PER_ROUND + number } else { 0 }
    }

    /// Who is on side 0 and on which core, drawn in blocks of two suite runs: the second of a block has the roles the other way round, on
    /// the same cores, so that whatever favours a side or a core hits both roles equally often (permuted blocks).
    fn place(&self, benchmark: usize, round: u32, suite_run: u32) -> (Role, u32) {
        let mut rng = Stream::Place { benchmark, block: suite_run / 2 }.of(self.seed, round);
        let (baseline_first, core): (bool, u32) = (rng.random(), rng.random());
        let first = if baseline_first == suite_run.is_multiple_of(2) { Role::Baseline } else { Role::Candidate };
        (first, core)
    }
}
