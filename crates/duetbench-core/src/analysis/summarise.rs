//! From the samples of one benchmark to its fork pairs.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use crate::pair::pair;
use crate::plan::Mode;
use crate::report::{ForkPair, ForkSide};
use crate::sample::{Role, Sample};
use crate::spec::ForkAggregate;
use crate::stats::{self, StatsError};

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
    /// The collector is at work and no block was measured to its end by both sides.
    #[error("the two sides have no complete block in common")]
    NoCommonBlock,
}

impl Rejection {
    /// Whose samples are at fault, where it is one side's.
    #[must_use]
    pub fn role(self) -> Option<Role> {
        match self {
            Rejection::NoTime(role) | Rejection::NoInvocations(role) => Some(role),
            Rejection::NoCommonBlock => None,
        }
    }
}

/// Machine, build, suite run and fork.
type ForkKey = (u32, u32, u32, u32);

/// The counted samples of one fork pair; in a mode with pairs both sides have the same iterations.
#[derive(Default)]
struct Fork {
    baseline: Vec<Sample>,
    candidate: Vec<Sample>,
}

/// Over how much the time of one side is summed before its logarithm is taken.
#[derive(Clone, Copy, PartialEq)]
enum Span {
    Slice,
    Block,
}

/// Makes one number of every fork of one benchmark, the logarithm of the ratio candidate to baseline.
///
/// Slices measured together are compared with each other, `ln(candidate) - ln(baseline)` of their times per invocation, and
/// the differences combined over the fork. If the benchmark's collector is at work, that is if any block of it saw a
/// collection, the times of a whole block are summed first: a mean of logarithms would under-weigh the few slices that pay
/// for a collection. In [`Mode::Sequential`] slices have no partner, so each side is combined by itself.
///
/// Source: Bulej et al., Duet Benchmarking, ICPE 2020, section 3, steps 2 and 3 (with [`ForkAggregate::Mean`]).
#[must_use]
pub fn summarise(samples: &[Sample], mode: Mode, aggregate: ForkAggregate) -> Summary {
    let (forks, orphans) = if mode == Mode::Sequential { unpaired_forks(samples) } else { paired_forks(samples, mode) };
    let mut both_sides = forks.values().flat_map(|fork| fork.baseline.iter().chain(&fork.candidate));
    // Decided for the benchmark, not per fork: a collection that happened to fall into one fork must not change how it counts.
    let collecting = both_sides.any(|s| s.memory.is_some_and(|m| m.collections > 0));
    let span = if collecting { Span::Block } else { Span::Slice };

    let mut summary = Summary { forks: Vec::new(), rejected: Vec::new(), orphans, cpu_share: cpu_share(&forks) };
    for (&(_, build, suite_run, number), fork) in &forks {
        match fork.log_ratio(mode, span, aggregate) {
            Ok(log_ratio) => summary.forks.push(ForkPair {
                build,
                suite_run,
                fork: number,
                baseline: side(&fork.baseline),
                candidate: side(&fork.candidate),
                log_ratio,
                slices: count(fork.baseline.len().min(fork.candidate.len())),
            }),
            Err(rejection) => summary.rejected.push(rejection),
        }
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
    (sample.at.instance, sample.at.build, sample.at.suite_run, sample.at.fork)
}

impl Fork {
    fn log_ratio(&self, mode: Mode, span: Span, aggregate: ForkAggregate) -> Result<f64, Rejection> {
        let (baseline, candidate) = (log_times(&self.baseline, span)?, log_times(&self.candidate, span)?);
        let combined = if mode == Mode::Sequential {
            let alone = |side: BTreeMap<u32, f64>| aggregate.combine(&side.into_values().collect::<Vec<_>>());
            alone(candidate).and_then(|c| Ok(c - alone(baseline)?))
        } else {
            let together = candidate.iter().filter_map(|(at, c)| Some(c - baseline.get(at)?));
            aggregate.combine(&together.collect::<Vec<_>>())
        };
        // Logarithms of positive integers are finite, so that only a lack of values can be in the way.
        combined.map_err(|_: StatsError| Rejection::NoCommonBlock)
    }
}

/// Wall time and invocations of a slice or block.
#[derive(Default)]
struct Total {
    wall_ns: u128,
    invocations: u128,
    /// Its last slice is there.
    ended: bool,
}

/// Logarithm of the time per invocation of every slice or block of one side, by the number of the slice or block.
///
/// Of blocks only those count that were measured to their end, else the cost of their collections would be missing; where no
/// memory was recorded at all this cannot be told, and all count.
fn log_times(samples: &[Sample], span: Span) -> Result<BTreeMap<u32, f64>, Rejection> {
    let mut totals: BTreeMap<u32, Total> = BTreeMap::new();
    for sample in samples {
        if sample.wall_ns == 0 {
            return Err(Rejection::NoTime(sample.at.role));
        }
        if sample.invocations == 0 {
            return Err(Rejection::NoInvocations(sample.at.role));
        }
        let total = totals.entry(if span == Span::Block { sample.block } else { sample.at.iteration }).or_default();
        total.wall_ns += u128::from(sample.wall_ns);
        total.invocations += u128::from(sample.invocations);
        total.ended |= span == Span::Slice || sample.memory.is_some();
    }
    if totals.values().any(|t| t.ended) {
        totals.retain(|_, t| t.ended);
    }
    Ok(totals.into_iter().map(|(at, t)| (at, (t.wall_ns as f64 / t.invocations as f64).ln())).collect())
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
        allocs_per_op: per_counted_op(memory().map(|m| m.allocations as f64).sum()),
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

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
