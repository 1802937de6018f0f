//! From the samples of one benchmark to its fork pairs.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use super::aggregate::{self, Completing};
use super::{Clock, ForkPair, ForkSide, LogRatios, count, cycles};
use crate::pair::pair;
use crate::plan::Mode;
use crate::sample::{self, Coordinates, Role, Sample};
use crate::spec::defaults;
use crate::stats::{self, StatsError};

/// The samples of one benchmark, joined to fork pairs.
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
    #[error("a slice of {} took no time", .0.side())]
    NoTime(Role),
    /// A slice consists of no invocation.
    #[error("a slice of {} has no invocations", .0.side())]
    NoInvocations(Role),
    /// Invocations are faster than any processor: the measured loop was not run as often as was asked.
    #[error("an invocation of {} took less than 0.001 ns, so it does nothing", .0.side())]
    NoWork(Role),
}

impl Rejection {
    /// Whose samples are at fault.
    pub fn role(self) -> Role {
        match self {
            Rejection::NoTime(role) | Rejection::NoInvocations(role) | Rejection::NoWork(role) => role,
        }
    }
}

/// The place of a fork pair in the experiment. Instances come last, since in which order they were had says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ForkKey {
    round: u32,
    suite_run: u32,
    fork: u32,
    build: u32,
    instance: u32,
}

/// The counted samples of one fork pair; in a mode with pairs both sides have the same iterations.
#[derive(Default)]
struct Fork {
    baseline: Vec<Sample>,
    candidate: Vec<Sample>,
}

/// Makes the numbers of every fork of one benchmark: the log ratios candidate to baseline of the typical slice, of all slices, and of
/// all in full (see [`ForkPair`]).
///
/// Slices measured together are compared with each other; in [`Mode::Sequential`] slices have no partner, and the two sides'
/// own medians are compared. After Bulej et al., Duet Benchmarking, ICPE 2020, section 3, steps 2 and 3, which take the mean
/// over the pairs of a run.
pub fn summarise(samples: &[Sample], mode: Mode) -> Summary {
    let (forks, orphans) = if mode == Mode::Sequential { unpaired_forks(samples) } else { paired_forks(samples, mode) };
    let mut summary = Summary { forks: Vec::new(), rejected: Vec::new(), orphans, cpu_share: cpu_share(&forks) };
    for (key, fork) in &forks {
        if let Some(rejection) = fork.rejection() {
            summary.rejected.push(rejection);
            continue;
        }
        // Both sides have slices, and all of them took time, so there is nothing left that could fail.
        let Ok(pair) = fork.pair(mode) else { continue };
        let &ForkKey { round, suite_run, fork, build, .. } = key;
        summary.forks.push(ForkPair { build, round, suite_run, fork, ..pair });
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
    let Coordinates { round, suite_run, fork, build, instance, .. } = sample.at;
    ForkKey { round, suite_run, fork, build, instance }
}

impl Fork {
    /// Why its numbers are meaningless, if they are.
    fn rejection(&self) -> Option<Rejection> {
        let impossible = |s: &Sample| match (s.wall_ns, s.invocations) {
            (0, _) => Some(Rejection::NoTime(s.at.role)),
            (_, 0) => Some(Rejection::NoInvocations(s.at.role)),
            (ns, invocations) if sample::does_nothing(ns, invocations) => Some(Rejection::NoWork(s.at.role)),
            _ => None,
        };
        self.baseline.iter().chain(&self.candidate).find_map(impossible)
    }
}

impl Fork {
    /// Its numbers, without its place in the experiment.
    fn pair(&self, mode: Mode) -> Result<ForkPair, StatsError> {
        let typical = match mode {
            Mode::Sequential => aggregate::typical_alone,
            Mode::Duet => aggregate::typical_exchanged,
            Mode::InterleavedOneCore | Mode::InterleavedAllCores => aggregate::typical_paired,
        };
        let wall = typical(&self.baseline, &self.candidate, Clock::Wall)?;
        let collections = self.collections();
        let of_wall = Completing {
            clock: Clock::Wall,
            clips: collections == 0,
            collector_in_line: matches!(mode, Mode::InterleavedOneCore | Mode::Duet),
            by_cycles: cycles::told(&self.baseline) && cycles::told(&self.candidate),
        };
        let complete = |by: Completing| -> Result<f64, StatsError> {
            let of = |side| aggregate::complete(side, by);
            Ok((of(&self.candidate)? / of(&self.baseline)?).ln())
        };
        let log_ratio_complete = complete(of_wall)?;
        let in_full = of_wall.clips.then(|| complete(Completing { clips: false, ..of_wall })).transpose()?;
        let (mut baseline, mut candidate) = (side(&self.baseline), side(&self.candidate));
        let (mut cpu, mut log_ratio_idle) = (None, None);
        if self.has_cpu_times() {
            let (b, c) = (SideCpu::of(&self.baseline, of_wall)?, SideCpu::of(&self.candidate, of_wall)?);
            let typical = typical(&self.baseline, &self.candidate, Clock::Cpu)?.log_ratio;
            cpu = Some(LogRatios { typical, complete: (c.complete_ns / b.complete_ns).ln() });
            log_ratio_idle = b.idle_ns.zip(c.idle_ns).map(|(b, c)| (c / b).ln());
            (baseline.collector_share, candidate.collector_share) = (Some(b.collector_share), Some(c.collector_share));
        }
        Ok(ForkPair {
            build: 0,
            round: 0,
            suite_run: 0,
            fork: 0,
            mode,
            baseline,
            candidate,
            log_ratio: wall.log_ratio,
            log_ratio_complete,
            log_ratio_in_full: in_full.filter(|in_full| *in_full != log_ratio_complete),
            cpu,
            log_ratio_idle,
            busy: busy(&self.baseline).zip(busy(&self.candidate)).map(|(b, c)| b.min(c)),
            slice_spread: wall.spread,
            unrecorded_ns: self.unrecorded_ns(mode),
            collections,
            slices: count(self.baseline.len().min(self.candidate.len())),
        })
    }

    /// Whether every slice of both sides has a CPU time.
    fn has_cpu_times(&self) -> bool {
        self.baseline.iter().chain(&self.candidate).all(|s| s.cpu_ns.is_some_and(|ns| ns > 0))
    }

    /// Time before a side's slices and after the other's, see [`ForkPair::unrecorded_ns`].
    fn unrecorded_ns(&self, mode: Mode) -> Option<f64> {
        if !matches!(mode, Mode::InterleavedOneCore | Mode::InterleavedAllCores) || !self.has_cpu_times() {
            return None;
        }
        let mut turns: Vec<&Sample> = self.baseline.iter().chain(&self.candidate).collect();
        turns.sort_by_key(|s| s.start_ns);
        let before = |role: Role| {
            let own = turns.windows(2).filter(move |turns| turns[0].at.role != role && turns[1].at.role == role);
            let end = |s: &Sample| s.start_ns.saturating_add(s.wall_ns);
            let ns = own.map(|turns| turns[1].start_ns.saturating_sub(end(turns[0])) as f64);
            stats::median(&ns.collect::<Vec<f64>>()).ok()
        };
        Some(before(Role::Baseline)?.min(before(Role::Candidate)?))
    }

    /// Collections of both sides.
    fn collections(&self) -> u32 {
        let of_blocks = self.baseline.iter().chain(&self.candidate).filter_map(|s| Some(s.memory?.collections));
        let of_slices = cycles::ended(&self.baseline).saturating_add(cycles::ended(&self.candidate));
        of_blocks.fold(0, u32::saturating_add).max(of_slices)
    }
}

/// One side's CPU time per invocation, nanoseconds.
struct SideCpu {
    /// With all that it pays for.
    complete_ns: f64,
    /// Without what idle cores would take over; absent where collections cost something and it is not known who pays.
    idle_ns: Option<f64>,
    /// Share of the complete time that the typical slice is short of it.
    collector_share: f64,
}

impl SideCpu {
    /// From a side's slices and the way in which its complete wall time is made.
    fn of(samples: &[Sample], of_wall: Completing) -> Result<SideCpu, StatsError> {
        let by = Completing { clock: Clock::Cpu, clips: false, collector_in_line: true, ..of_wall };
        let complete_ns = aggregate::complete(samples, by)?;
        let nothing_collected = cycles::unseen(samples).is_none() && cycles::whole(samples).is_none();
        let background_ns = if nothing_collected { Some(0.0) } else { cycles::background_ns_per_op(samples) };
        let mutator_ns = stats::median(&Clock::Cpu.times(&cycles::between_ends(samples)))?;
        let idle_ns = background_ns.map(|ns| complete_ns - ns).filter(|ns| *ns > 0.0);
        Ok(SideCpu { complete_ns, idle_ns, collector_share: (1.0 - mutator_ns / complete_ns).max(0.0) })
    }
}

/// Share of a side's slices that were busy throughout, of those with a CPU time.
fn busy(samples: &[Sample]) -> Option<f64> {
    let shares: Vec<f64> = samples.iter().filter_map(|s| Some(s.cpu_ns? as f64 / s.wall_ns as f64)).collect();
    let busy = shares.iter().filter(|share| **share >= defaults::BUSY_SHARE).count();
    (!shares.is_empty()).then(|| busy as f64 / shares.len() as f64)
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
        typical_ns: stats::median(&Clock::Wall.times(&cycles::between_ends(samples))).ok(),
        cpu_ns_per_op: cpu_ns.map(per_op),
        bytes_per_op: per_counted_op(memory().map(|m| m.bytes as f64).sum()),
        allocs_per_op: memory().map(|m| m.allocations.map(|n| n as f64)).sum::<Option<f64>>().and_then(per_counted_op),
        collector_share: None,
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
