//! The slices of some fork pairs, thinned to what a chart can show.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::ForkPair;
use crate::pair::{Pair, pair};
use crate::plan::Mode;
use crate::sample::Sample;
use crate::stats;

/// Most points of one fork pair.
pub const POINTS_MAX: usize = 120;

/// The slices of one fork pair in their order, both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct SliceCourse {
    /// Index of the fork pair in the picture, counted from 0.
    pub fork: usize,
    /// Its slices. Where it has more than [`POINTS_MAX`], they are cut into as many runs of consecutive slices, of nearly equal
    /// length, and each run is a point: the medians of both sides, at the slice in its middle.
    pub points: Vec<SlicePoint>,
}

/// A slice pair, or a run of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlicePoint {
    /// Number of the slice within its fork, warm-up included, counted from 0.
    pub slice: u32,
    /// Time per invocation of the baseline, nanoseconds.
    pub baseline_ns: f64,
    /// The same of the candidate.
    pub candidate_ns: f64,
}

/// Round, suite run, fork and build.
type Key = (u32, u32, u32, u32);

/// The slice pairs of every fork pair, in their order.
///
/// In sequential mode slices with the same number were not measured together; they stand side by side all the same, because
/// that shows how each process went.
pub(super) fn by_fork(samples: &[Sample], mode: Mode) -> BTreeMap<Key, Vec<Pair>> {
    let mut forks: BTreeMap<Key, Vec<Pair>> = BTreeMap::new();
    for both in pair(samples, mode).pairs {
        let at = both.baseline.at;
        forks.entry((at.round, at.suite_run, at.fork, at.build)).or_default().push(both);
    }
    forks
}

fn of_fork<'a>(fork: &ForkPair, by_fork: &'a BTreeMap<Key, Vec<Pair>>) -> &'a [Pair] {
    by_fork.get(&(fork.round, fork.suite_run, fork.fork, fork.build)).map_or(&[], Vec::as_slice)
}

/// Log ratios of all slice pairs of the first round.
pub(super) fn log_ratios(forks: &[ForkPair], by_fork: &BTreeMap<Key, Vec<Pair>>) -> Vec<f64> {
    let pairs = forks.iter().filter(|fork| fork.round == 0).flat_map(|fork| of_fork(fork, by_fork));
    pairs.map(|pair| (pair.candidate.ns_per_op() / pair.baseline.ns_per_op()).ln()).collect()
}

/// Times per invocation of both sides in all slice pairs of the first round.
pub(super) fn times(forks: &[ForkPair], by_fork: &BTreeMap<Key, Vec<Pair>>) -> [Vec<f64>; 2] {
    let pairs = || forks.iter().filter(|fork| fork.round == 0).flat_map(|fork| of_fork(fork, by_fork));
    [pairs().map(|pair| pair.baseline.ns_per_op()).collect(), pairs().map(|pair| pair.candidate.ns_per_op()).collect()]
}

/// The courses of the first fork pair of the first round, of the one with the median ratio, and of the last.
pub(super) fn courses(
    forks: &[ForkPair],
    by_fork: &BTreeMap<Key, Vec<Pair>>,
    ratio: impl Fn(&ForkPair) -> f64,
) -> Vec<SliceCourse> {
    let shown: Vec<usize> =
        (0..forks.len()).filter(|i| forks[*i].round == 0 && !of_fork(&forks[*i], by_fork).is_empty()).collect();
    let mut by_ratio = shown.clone();
    by_ratio.sort_by(|a, b| ratio(&forks[*a]).total_cmp(&ratio(&forks[*b])));
    let median = by_ratio.get(by_ratio.len().saturating_sub(1) / 2);
    let chosen: BTreeSet<usize> = shown.first().into_iter().chain(median).chain(shown.last()).copied().collect();
    let course = |fork: usize| SliceCourse { fork, points: thinned(of_fork(&forks[fork], by_fork)) };
    chosen.into_iter().map(course).collect()
}

fn thinned(pairs: &[Pair]) -> Vec<SlicePoint> {
    let points = pairs.len().min(POINTS_MAX);
    (0..points).filter_map(|i| point(&pairs[i * pairs.len() / points..(i + 1) * pairs.len() / points])).collect()
}

/// A run of slice pairs as one point.
fn point(run: &[Pair]) -> Option<SlicePoint> {
    let median = |side: fn(&Pair) -> &Sample| {
        stats::median(&run.iter().map(|pair| side(pair).ns_per_op()).collect::<Vec<_>>()).ok()
    };
    Some(SlicePoint {
        slice: run.get(run.len() / 2)?.baseline.at.iteration,
        baseline_ns: median(|pair| &pair.baseline)?,
        candidate_ns: median(|pair| &pair.candidate)?,
    })
}
