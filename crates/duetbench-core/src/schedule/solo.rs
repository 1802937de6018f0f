//! The order of trials in a run of one version.

use rand::RngCore;
use rand::seq::SliceRandom;

use super::Trial;
use super::stream::Stream;
use crate::plan::{SoloBenchmark, SoloPlan};
use crate::sample::Role;

impl SoloPlan {
    /// The trials of one suite run, in order: all processes of all benchmarks that take part are shuffled together, so that those of
    /// one benchmark do not follow each other. `visits` says for every benchmark which of its own suite runs this is; absent, it
    /// does not take part. Depends on the seed and these numbers alone.
    pub fn suite_run(&self, number: u32, visits: &[Option<u32>]) -> Vec<Trial> {
        let mut rng = Stream::Order { pass: number }.of(self.seed, 0);
        let of = |(benchmark, (visit, planned)): (usize, (&Option<u32>, &SoloBenchmark))| {
            let (suite_run, forks) = ((*visit)?, planned.repetitions.forks);
            Some((0..forks).map(move |fork| (benchmark, suite_run, fork)))
        };
        let mut order: Vec<(usize, u32, u32)> =
            visits.iter().zip(&self.benchmarks).enumerate().filter_map(of).flatten().collect();
        order.shuffle(&mut rng);
        let mut trial = |(benchmark, suite_run, fork)| {
            // The only version there is plays the part of the one under test, alone on side 0.
            let (first, seed) = (Role::Candidate, rng.next_u64());
            Trial { benchmark, round: 0, suite_run, fork, build: 0, first, core: 0, seed }
        };
        order.into_iter().map(&mut trial).collect()
    }
}
