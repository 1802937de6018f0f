//! Times of benchmarks over the runs of a store, as a picture beside an answer: nothing is judged by them.

use std::collections::BTreeMap;

use crate::sample::BenchmarkId;

/// Most runs of a history, the last one included.
pub const RUNS_MAX: usize = 20;
/// Fewest that are worth a picture.
pub const RUNS_MIN: usize = 3;

/// A run, and how long its candidate took.
#[derive(Debug, Clone, PartialEq)]
pub struct PastRun {
    /// Its name.
    pub run: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// The candidate, as it was typed.
    pub version: String,
    /// Wall time per operation by benchmark, nanoseconds.
    pub times_ns: BTreeMap<BenchmarkId, f64>,
}

/// One benchmark's times, the oldest first: the place of each run, and its time in nanoseconds. Absent where it is known of too few.
pub fn of(id: &BenchmarkId, runs: &[PastRun]) -> Option<Vec<(usize, f64)>> {
    let times = runs.iter().enumerate().filter_map(|(place, past)| Some((place, *past.times_ns.get(id)?)));
    Some(times.collect::<Vec<_>>()).filter(|times| times.len() >= RUNS_MIN)
}
