//! Results of the analysis: the numbers of every fork pair, and all that is reported about one benchmark.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::plan::{Mode, PlannedBenchmark};
use crate::sample::{BenchmarkId, Role};
use crate::verdict::{RatioInterval, Verdict};

use super::confirm::Standing;
use super::examine::median_over;
use super::{Basis, Clock, Confirmation, Estimate, Layout, Ranged, Warning};

/// One side's numbers in one fork pair.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ForkSide {
    /// Invocations in the slices that count.
    pub invocations: u64,
    /// Mean time per invocation over these slices, nanoseconds.
    pub ns_per_op: f64,
    /// Time per invocation of the typical slice in which no collection ended (median), nanoseconds.
    #[serde(skip)]
    pub typical_ns: Option<f64>,
    /// Mean CPU time per invocation, nanoseconds, where known for every slice.
    pub cpu_ns_per_op: Option<f64>,
    /// Bytes allocated per invocation, where recorded.
    pub bytes_per_op: Option<f64>,
    /// Allocations per invocation, where recorded.
    pub allocs_per_op: Option<f64>,
    /// Share of the complete CPU time that the collector costs: what the typical slice is short of it. Absent without CPU times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collector_share: Option<f64>,
}

impl ForkSide {
    /// Time that it was measured, nanoseconds.
    pub fn measured_ns(&self) -> f64 {
        self.ns_per_op * self.invocations as f64
    }

    /// Time per invocation without what the collector costs, nanoseconds: as the typical slice has it, or the mean less that cost, if that
    /// is more. The cost may have been computed, and not be in the mean.
    pub(super) fn without_collecting_ns(&self) -> f64 {
        let mean_ns = self.ns_per_op * (1.0 - self.collector_share.unwrap_or(0.0));
        self.typical_ns.map_or(mean_ns, |typical_ns| typical_ns.max(mean_ns))
    }
}

/// The two log ratios of a fork pair, candidate to baseline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LogRatios {
    /// The typical slice.
    pub typical: f64,
    /// All that is paid for, collections included.
    pub complete: f64,
}

/// One fork pair: the unit of inference, where there is one build pair alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ForkPair {
    /// Build it belongs to.
    pub build: u32,
    /// Round it belongs to: 0, or one of those that confirm.
    pub round: u32,
    /// Suite run it belongs to.
    pub suite_run: u32,
    /// Fork within the suite run.
    pub fork: u32,
    /// The mode in which it was measured: another than planned once a duet was given up.
    pub mode: Mode,
    /// The baseline's numbers.
    pub baseline: ForkSide,
    /// The candidate's numbers.
    pub candidate: ForkSide,
    /// Logarithm of the ratio candidate to baseline of the typical slice: the median over slices.
    pub log_ratio: f64,
    /// Logarithm of the ratio of all that is paid for, slow slices and collections included, each side over whole cycles of its
    /// own collector.
    pub log_ratio_complete: f64,
    /// The same with every slice in full, however long; absent where none was clipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_ratio_in_full: Option<f64>,
    /// The first two numbers made of CPU time, which a neighbour on the core does not lengthen; absent unless every slice has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<LogRatios>,
    /// Logarithm of the ratio of complete CPU time without marking beside the benchmark: what is left in its way where idle cores
    /// do the marking. Absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_ratio_idle: Option<f64>,
    /// Share of the slices whose CPU time is at least [`BUSY_SHARE`](crate::spec::defaults::BUSY_SHARE) of their wall time, the lower of both sides': code
    /// that waits does so in nearly all of its slices, code that was interrupted in few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy: Option<f64>,
    /// Spread of the slices' log ratios around `log_ratio`: what the standard deviation of normal ones would be (the median
    /// absolute deviation times 1.4826).
    pub slice_spread: f64,
    /// Time that a side worked unrecorded, after the other one's slice and before its own (median), the lower of both sides'. Absent where
    /// versions do not take turns, or stop their timer.
    #[serde(skip)]
    pub unrecorded_ns: Option<f64>,
    /// Collections that were counted on both sides.
    pub collections: u32,
    /// Slice pairs it was made from.
    pub slices: u32,
}

impl ForkPair {
    /// Whether a whole cycle of a collector came before each slice, and each slice holds one: two ended from slice to slice on either side.
    pub(super) fn has_cycles_before_slices(&self) -> bool {
        self.collections > 0 && self.collections >= 4 * self.slices.saturating_sub(1)
    }

    /// Share of the wall time of all slices in which the processes had no processor, on the side where it is smaller: a machine that
    /// takes it takes it from both, and a side that alone is without it waits by itself. Absent without CPU times.
    pub(super) fn lost_share(&self) -> Option<f64> {
        let lost = |side: &ForkSide| Some(1.0 - side.cpu_ns_per_op? / side.ns_per_op);
        Some(lost(&self.baseline)?.min(lost(&self.candidate)?))
    }

    /// By how much more of its wall time the candidate had no processor for, as the logarithm of a ratio. Absent without CPU times.
    pub(super) fn lost_more(&self) -> Option<f64> {
        let lost = |side: &ForkSide| Some((side.ns_per_op / side.cpu_ns_per_op?).ln());
        Some(lost(&self.candidate)? - lost(&self.baseline)?).filter(|more| more.is_finite())
    }
}

/// An exact comparison of a counted quantity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// The baseline's median over forks, per invocation.
    pub baseline: f64,
    /// The candidate's.
    pub candidate: f64,
    /// Whether the two differ by more than the counts themselves vary.
    pub changed: bool,
}

/// The place of a unit in a run.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct UnitKey {
    round: u32,
    build: u32,
    suite_run: u32,
    fork: u32,
}

/// Everything that is reported about one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchmarkReport {
    /// The benchmark.
    pub id: BenchmarkId,
    /// The answer.
    pub verdict: Verdict,
    /// Whether its trials failed so often that it was given up, which a regression of the rest does not make good.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed_too_often: bool,
    /// The mode in which it was measured, if it was.
    pub mode: Option<Mode>,
    /// The evidence, when there is enough for an interval.
    pub estimate: Option<Estimate>,
    /// Smallest change that was worth a verdict, where a rule gives it one of its own, a fraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// Time per invocation of the baseline, median over forks, nanoseconds.
    pub baseline_ns: Option<f64>,
    /// The same of the candidate.
    pub candidate_ns: Option<f64>,
    /// Allocations per invocation.
    pub allocs: Option<Counted>,
    /// Bytes per invocation.
    pub bytes: Option<Counted>,
    /// Layout's part of the spread; absent with a single build, or too few forks of each.
    pub layout: Option<Layout>,
    /// Ratio of the two programs as they are linked without a layout being drawn, by one to three processes of each in first trials;
    /// absent where there was none, and where these are what was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_linked: Option<f64>,
    /// Result of later rounds of fresh trials, where there were any.
    pub confirmation: Option<Confirmation>,
    /// Every fork pair, in order.
    pub forks: Vec<ForkPair>,
    /// Caveats about the numbers.
    pub warnings: Vec<Warning>,
}

impl BenchmarkReport {
    /// A benchmark with an answer and no numbers.
    pub fn unmeasured(id: BenchmarkId, verdict: Verdict) -> BenchmarkReport {
        BenchmarkReport {
            id,
            verdict,
            failed_too_often: false,
            mode: None,
            estimate: None,
            threshold: None,
            baseline_ns: None,
            candidate_ns: None,
            allocs: None,
            bytes: None,
            layout: None,
            as_linked: None,
            confirmation: None,
            forks: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// The change that is reported, a fraction: that of fresh trials alone where they confirmed it or withdrew it, since the first
    /// round's was selected for being large.
    pub fn change(&self) -> Option<f64> {
        let fresh = self.confirmation.as_ref().filter(|c| c.standing != Standing::Open).map(|c| c.fresh.ratio);
        Some(fresh.or(self.estimate.map(|e| e.ratio))? - 1.0)
    }

    /// The ratio with its interval on which the verdict rests: that of fresh trials where they withdrew a regression.
    pub fn judged(&self) -> Option<Ranged> {
        let withdrawn = self.withdrawing().map(|confirmation| confirmation.fresh);
        withdrawn.or(self.estimate.map(|e| Ranged { basis: e.basis, ratio: e.ratio, interval: e.interval() }))
    }

    /// The fresh trials, where they withdrew a regression: then the numbers of the first round are not those to be shown.
    fn withdrawing(&self) -> Option<&Confirmation> {
        self.confirmation.as_ref().filter(|confirmation| confirmation.standing == Standing::Withdrawn)
    }

    /// Time per invocation of the slower version, nanoseconds; that of the first invocation where neither was measured.
    pub fn slower_ns(&self, planned: &PlannedBenchmark) -> f64 {
        let measured = [self.baseline_ns, self.candidate_ns].into_iter().flatten().reduce(f64::max);
        measured.unwrap_or(planned.first_ns as f64)
    }

    /// The changes that are not excluded: those that either of the two numbers leaves open which a verdict of *no change* needs.
    pub fn open_range(&self) -> Option<RatioInterval> {
        let judged = self.judged()?.interval;
        let beside = self.beside().map_or(judged, |beside| beside.interval);
        Some(RatioInterval { low: judged.low.min(beside.low), high: judged.high.max(beside.high) })
    }

    /// The other number of the same trials as [`judged`](Self::judged), as [`choose_basis`](super::choose_basis) says.
    pub fn beside(&self) -> Option<Ranged> {
        let fresh = self.withdrawing().map(|confirmation| confirmation.beside);
        fresh.or(self.estimate.and_then(|estimate| estimate.beside))
    }

    /// The ratio of wall times beside the judged one of CPU times, where the same trials have both.
    pub fn wall_beside(&self) -> Option<Ranged> {
        self.own_estimate().and_then(|estimate| estimate.by_wall)
    }

    /// The ratio of wall times with its interval: that beside the judged number where CPU time is judged, and else the judged number.
    /// Absent where fresh trials were judged by CPU time.
    pub fn by_wall(&self) -> Option<Ranged> {
        let judged_by_cpu = self.estimate.is_some_and(|estimate| estimate.clock == Clock::Cpu);
        self.wall_beside().or(self.judged().filter(|_| !judged_by_cpu || self.withdrawing().is_none()))
    }

    /// The estimate, where the judged number is its own: not where fresh trials withdrew a regression, which have other p-values and units.
    pub fn own_estimate(&self) -> Option<Estimate> {
        self.estimate.filter(|_| self.withdrawing().is_none())
    }

    /// Times per invocation of both versions that cannot contradict the change, nanoseconds: the baseline's median, and that times the
    /// ratio by wall time. The two medians, each over forks of its own, differ by what disturbed either.
    pub fn times_ns(&self) -> [Option<f64>; 2] {
        let after = self.baseline_ns.zip(self.by_wall()).map(|(before, wall)| before * wall.ratio);
        [self.baseline_ns, after.or(self.candidate_ns)]
    }

    /// The candidate's time of [`times_ns`](Self::times_ns) with the interval by wall time laid around it, where there is one, nanoseconds.
    pub fn candidate_within(&self) -> Option<(f64, Option<RatioInterval>)> {
        let [_, value] = self.times_ns();
        let around = |value: f64, Ranged { ratio, interval, .. }: Ranged| RatioInterval {
            low: value * interval.low / ratio,
            high: value * interval.high / ratio,
        };
        value.map(|value| (value, self.by_wall().map(|wall| around(value, wall))))
    }

    /// User and system time per invocation of both versions, medians over forks, nanoseconds; absent where no fork has one.
    pub fn cpu_times_ns(&self) -> Option<[f64; 2]> {
        let of = |role| median_over(&self.forks, role, |side| side.cpu_ns_per_op);
        Some([of(Role::Baseline)?, of(Role::Candidate)?])
    }

    /// The log ratios of its units, of the number and by the clock of an estimate, its own or one to be compared with; of the typical slice
    /// by wall time without one. Units are build pairs, each averaged over its fork pairs, or fork pairs where all are of one build.
    pub fn unit_log_ratios(&self, by_build: bool, as_in: Option<&Estimate>) -> Vec<f64> {
        let (basis, clock) = as_in.map_or((Basis::TypicalSlice, Clock::Wall), |e| (e.basis, e.clock));
        let mut units: BTreeMap<UnitKey, Vec<f64>> = BTreeMap::new();
        for fork in &self.forks {
            let own = if by_build { 0 } else { fork.suite_run };
            let key = UnitKey {
                round: fork.round,
                build: fork.build,
                suite_run: own,
                fork: if by_build { 0 } else { fork.fork },
            };
            units.entry(key).or_default().push(basis.of(&clock.read(fork)));
        }
        units.into_values().map(|forks| forks.iter().sum::<f64>() / forks.len() as f64).collect()
    }

    /// Whether the two versions were really compared: by measuring both, or by proving them equal.
    pub fn was_compared(&self) -> bool {
        self.verdict.is_comparison() && (!self.forks.is_empty() || self.verdict.is_proven())
    }
}
