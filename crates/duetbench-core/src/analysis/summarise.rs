//! From the samples of one benchmark to its fork pairs.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use super::{ForkPair, ForkSide, count};
use crate::pair::pair;
use crate::plan::Mode;
use crate::sample::{Role, Sample};
use crate::stats;

use super::aggregate;

/// What the samples of one benchmark come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// One entry per fork pair, in the order of their coordinates.
    pub forks: Vec<ForkPair>,
    /// Fork pairs that were left out, and why.
    pub rejected: Vec<Rejection>,
    /// Samples whose other half is missing.
    pub orphans: u32,
    /// CPU time as a share of wall time, the lower of both sides' medians over slices; absent without CPU times.
    pub cpu_share: Option<f64>,
}

/// Why a fork pair was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Rejection {
    /// A slice took no time.
    #[error("a slice of the {} took no time", .0.word())]
    NoTime(Role),
    /// A slice consists of no invocation.
    #[error("a slice of the {} has no invocations", .0.word())]
    NoInvocations(Role),
}

impl Rejection {
    /// Whose samples are at fault.
    #[must_use]
    pub fn role(self) -> Role {
        match self {
            Rejection::NoTime(role) | Rejection::NoInvocations(role) => role,
        }
    }
}

/// Machine, round, suite run, fork and build.
type ForkKey = (u32, u32, u32, u32, u32);

/// The counted samples of one fork pair; in a mode with pairs both sides have the same iterations.
#[derive(Default)]
struct Fork {
    baseline: Vec<Sample>,
    candidate: Vec<Sample>,
}

/// Makes two numbers of every fork of one benchmark: the log ratios candidate to baseline of the typical slice and of all
/// slices (see [`ForkPair`]).
///
/// Slices measured together are compared with each other; in [`Mode::Sequential`] slices have no partner, and the two sides'
/// own medians are compared. After Bulej et al., Duet Benchmarking, ICPE 2020, section 3, steps 2 and 3, which take the mean
/// over the pairs of a run.
#[must_use]
pub fn summarise(samples: &[Sample], mode: Mode) -> Summary {
    let (forks, orphans) = if mode == Mode::Sequential { unpaired_forks(samples) } else { paired_forks(samples, mode) };
    let mut summary = Summary { forks: Vec::new(), rejected: Vec::new(), orphans, cpu_share: cpu_share(&forks) };
    for (&(_, round, suite_run, number, build), fork) in &forks {
        if let Some(rejection) = fork.rejection() {
            summary.rejected.push(rejection);
            continue;
        }
        let typical = if mode == Mode::Sequential { aggregate::typical_alone } else { aggregate::typical_paired };
        let numbers = typical(&fork.baseline, &fork.candidate)
            .and_then(|typical| Ok((typical, aggregate::complete(&fork.baseline, &fork.candidate)?)));
        // Both sides have slices, and all of them took time, so there is nothing left that could fail.
        let Ok((typical, log_ratio_complete)) = numbers else { continue };
        summary.forks.push(ForkPair {
            build,
            round,
            suite_run,
            fork: number,
            baseline: side(&fork.baseline),
            candidate: side(&fork.candidate),
            log_ratio: typical.log_ratio,
            log_ratio_complete,
            slice_spread: typical.spread,
            collections: fork.collections(),
            slices: count(fork.baseline.len().min(fork.candidate.len())),
        });
    }
    summary
}

/// Forks made of pairs, and the number of orphans.
fn paired_forks(samples: &[Sample], mode: Mode) -> (BTreeMap<ForkKey, Fork>, u32) {
    let pairing = pair(samples, mode);
    let mut forks: BTreeMap<ForkKey, Fork> = BTreeMap::new();
    for both in pairing.pairs {
        let fork = forks.entry(fork_key(&both.baseline)).or_default();
        fork.baseline.push(both.baseline);
        fork.candidate.push(both.candidate);
    }
    (forks, count(pairing.orphans.len()))
}

/// Forks whose sides were not measured together: a sample is an orphan only if its whole fork has no other side, or if it
/// repeats the coordinates of another.
fn unpaired_forks(samples: &[Sample]) -> (BTreeMap<ForkKey, Fork>, u32) {
    let mut forks: BTreeMap<ForkKey, Fork> = BTreeMap::new();
    let (mut seen, mut orphans) = (BTreeSet::new(), 0);
    for &sample in samples.iter().filter(|s| !s.warm_up) {
        if !seen.insert(sample.at) {
            orphans += 1;
            continue;
        }
        let fork = forks.entry(fork_key(&sample)).or_default();
        match sample.at.role {
            Role::Baseline => fork.baseline.push(sample),
            Role::Candidate => fork.candidate.push(sample),
        }
    }
    forks.retain(|_, fork| {
        let complete = !fork.baseline.is_empty() && !fork.candidate.is_empty();
        if !complete {
            orphans += fork.baseline.len() + fork.candidate.len();
        }
        complete
    });
    for fork in forks.values_mut() {
        fork.baseline.sort_by_key(|s| s.at.iteration);
        fork.candidate.sort_by_key(|s| s.at.iteration);
    }
    (forks, count(orphans))
}

fn fork_key(sample: &Sample) -> ForkKey {
    (sample.at.instance, sample.at.round, sample.at.suite_run, sample.at.fork, sample.at.build)
}

impl Fork {
    /// What makes its numbers meaningless.
    fn rejection(&self) -> Option<Rejection> {
        let impossible = |s: &Sample| match (s.wall_ns, s.invocations) {
            (0, _) => Some(Rejection::NoTime(s.at.role)),
            (_, 0) => Some(Rejection::NoInvocations(s.at.role)),
            _ => None,
        };
        self.baseline.iter().chain(&self.candidate).find_map(impossible)
    }
}

impl Fork {
    fn collections(&self) -> u32 {
        let counted = self.baseline.iter().chain(&self.candidate).filter_map(|s| Some(s.memory?.collections));
        counted.fold(0, u32::saturating_add)
    }
}

/// One side's numbers of a fork, over all its counted slices.
fn side(samples: &[Sample]) -> ForkSide {
    let invocations: u64 = samples.iter().map(|s| s.invocations).fold(0, u64::saturating_add);
    let per_op = |total: f64| total / invocations as f64;
    let cpu_ns: Option<f64> = samples.iter().map(|s| s.cpu_ns.map(|ns| ns as f64)).sum();
    let memory = || samples.iter().filter_map(|s| s.memory);
    let memory_invocations: f64 = memory().map(|m| m.invocations as f64).sum();
    let per_counted_op = |total: f64| (memory_invocations > 0.0).then(|| total / memory_invocations);
    ForkSide {
        invocations,
        ns_per_op: per_op(samples.iter().map(|s| s.wall_ns as f64).sum()),
        cpu_ns_per_op: cpu_ns.map(per_op),
        bytes_per_op: per_counted_op(memory().map(|m| m.bytes as f64).sum()),
        allocs_per_op: memory().map(|m| m.allocations.map(|n| n as f64)).sum::<Option<f64>>().and_then(per_counted_op),
    }
}

fn cpu_share(forks: &BTreeMap<ForkKey, Fork>) -> Option<f64> {
    let median_of = |side: fn(&Fork) -> &[Sample]| {
        let counted = forks.values().flat_map(side).filter(|s| s.wall_ns > 0);
        let shares: Vec<f64> = counted.filter_map(|s| Some(s.cpu_ns? as f64 / s.wall_ns as f64)).collect();
        stats::median(&shares).ok()
    };
    let sides = [median_of(|fork| &fork.baseline), median_of(|fork| &fork.candidate)];
    sides.into_iter().flatten().reduce(f64::min)
}
