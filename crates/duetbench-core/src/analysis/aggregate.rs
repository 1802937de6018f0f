//! The fork's numbers.
//!
//! A fork lasts some hundred slices, and on a machine with neighbours some of them are disturbed: their times are doubled, or
//! hundredfold. The **typical** slice, the median of the log ratios of slices taken together, does not notice. But it also
//! does not notice what a benchmark really pays for in few slices, such as a collector that works more often. The **complete**
//! number sums all slices and notices everything, neighbours included, of which it clips the most; *in full* it clips nothing. The number
//! that is judged is chosen in `basis`.

use super::{Clock, cycles};
use crate::sample::Sample;
use crate::spec::defaults;
use crate::stats::{self, StatsError};

impl Clock {
    /// Time per invocation of a slice, nanoseconds; not a number where this clock was not read.
    pub(super) fn ns_per_op(self, sample: &Sample) -> f64 {
        match self {
            Clock::Wall => sample.ns_per_op(),
            Clock::Cpu => sample.cpu_ns.map_or(f64::NAN, |ns| ns as f64 / sample.invocations as f64),
        }
    }

    /// Logarithm of the ratio of each pair of slices.
    fn log_ratios<'s>(self, pairs: impl Iterator<Item = (&'s Sample, &'s Sample)>) -> Vec<f64> {
        pairs.map(|(b, c)| (self.ns_per_op(c) / self.ns_per_op(b)).ln()).collect()
    }

    /// Time per invocation of every slice, nanoseconds.
    pub(super) fn times(self, samples: &[Sample]) -> Vec<f64> {
        samples.iter().map(|s| self.ns_per_op(s)).collect()
    }
}

/// Log ratio of the typical slice, with its spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Typical {
    /// Logarithm of the ratio.
    pub(super) log_ratio: f64,
    /// Spread of the slices around it.
    pub(super) spread: f64,
}

/// Factor that turns the median absolute deviation of normal values into their standard deviation.
const MAD_TO_SD: f64 = 1.4826;

/// Logarithm of the ratio of the typical slice: the median over slices of the difference of logarithms.
///
/// `baseline` and `candidate` hold the same slices in the same order.
///
/// # Errors
/// Without slices, or with one that took no time.
pub(super) fn typical_paired(baseline: &[Sample], candidate: &[Sample], clock: Clock) -> Result<Typical, StatsError> {
    let logs = clock.log_ratios(baseline.iter().zip(candidate));
    let log_ratio = stats::median(&logs)?;
    Ok(Typical { log_ratio, spread: deviation(&logs, log_ratio)? })
}

/// The same for sides that exchange their cores at every block: the mean of what the two arrangements say. Where cores are unlike, the
/// median over all slices would be that of the arrangement that has more of them. With one arrangement, its own.
///
/// # Errors
/// As for [`typical_paired`].
pub(super) fn typical_exchanged(
    baseline: &[Sample],
    candidate: &[Sample],
    clock: Clock,
) -> Result<Typical, StatsError> {
    let Some([even, odd]) = arranged(baseline, candidate, clock) else {
        return typical_paired(baseline, candidate, clock);
    };
    let log_ratio = f64::midpoint(even, odd);
    let logs = clock.log_ratios(baseline.iter().zip(candidate));
    Ok(Typical { log_ratio, spread: deviation(&logs, log_ratio)? })
}

/// Log ratio of the typical slice in blocks of even and of odd numbers, between which sides exchange their cores; absent with blocks of one
/// kind. The first eighth of a block does not count: the caches of the other core are cold, and what filling them costs both sides alike
/// makes any difference look smaller.
pub(super) fn arranged(baseline: &[Sample], candidate: &[Sample], clock: Clock) -> Option<[f64; 2]> {
    let both: Vec<(&Sample, &Sample)> = baseline.iter().zip(candidate).collect();
    let of = |parity: u32| {
        let blocks = both.chunk_by(|(one, _), (next, _)| one.block == next.block);
        let warm = blocks.map(|block| &block[block.len() / 8..]).filter(|block| block[0].0.block % 2 == parity);
        stats::median(&clock.log_ratios(warm.flatten().copied())).ok()
    };
    Some([of(0)?, of(1)?])
}

/// The same for sides that were not measured together: the ratio of their medians. The spread is that of a difference of two
/// slices.
///
/// # Errors
/// As for [`typical_paired`].
pub(super) fn typical_alone(baseline: &[Sample], candidate: &[Sample], clock: Clock) -> Result<Typical, StatsError> {
    let of = |side: &[Sample]| {
        let log_median = stats::median(&clock.times(side))?.ln();
        let logs: Vec<f64> = clock.times(side).into_iter().map(f64::ln).collect();
        Ok((log_median, deviation(&logs, log_median)?))
    };
    let ((b, b_spread), (c, c_spread)) = (of(baseline)?, of(candidate)?);
    Ok(Typical { log_ratio: c - b, spread: b_spread.hypot(c_spread) })
}

fn deviation(values: &[f64], centre: f64) -> Result<f64, StatsError> {
    let deviations: Vec<f64> = values.iter().map(|v| (v - centre).abs()).collect();
    Ok(MAD_TO_SD * stats::median(&deviations)?)
}

/// The way in which the complete number of a side is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Completing {
    /// The clock.
    pub(super) clock: Clock,
    /// A slice counts at most as [`defaults::CLIP`] times its side's median (one-sided winsorising, Tukey 1962), or as many times as it
    /// has CPU time, so that one interruption of some milliseconds does not outweigh a whole fork. Not where collections ran: they are
    /// such slices too, and marked on other cores.
    pub(super) clips: bool,
    /// Whether the collector works in the time of this clock, so that its cost may be added where no collection was seen: always
    /// by CPU time, by wall time where the process has one core.
    pub(super) collector_in_line: bool,
    /// Whether whole cycles of the collector are summed, which both sides must have: counted in two ways, sides that collect alike
    /// would seem to differ.
    pub(super) by_cycles: bool,
}

/// Time per invocation of a side with all that it pays for in few slices, nanoseconds: over whole cycles of its collector where
/// both sides' slices hold any, or its own hold one each; where it allocates and they hold none, of the slices as they are and what
/// collecting will cost; else of all slices.
///
/// # Errors
/// Without slices.
pub(super) fn complete(side: &[Sample], by: Completing) -> Result<f64, StatsError> {
    if (by.by_cycles || cycles::end_in_each(side))
        && let Some(whole) = cycles::whole(side)
    {
        return Ok(mean(whole, by.clock, Limit::NONE));
    }
    let limit = if by.clips { Limit::of(side, by.clock)? } else { Limit::NONE };
    let unseen = if by.collector_in_line { cycles::unseen(side) } else { None };
    let Some(unseen) = unseen else { return Ok(mean(side, by.clock, limit)) };
    let mutator = mean(&unseen.without_marking(side), by.clock, limit);
    Ok(mutator + unseen.ns_per_op(mutator))
}

/// The most that a slice counts as. What interrupts it takes no CPU time, so that what has CPU time is its own: a table that grows, a
/// buffer that is flushed.
#[derive(Debug, Clone, Copy)]
struct Limit {
    /// Nanoseconds per invocation for any slice.
    ns: f64,
    /// Nanoseconds for each nanosecond of CPU time: the typical slice's; 0 where CPU times are not known.
    per_cpu_ns: f64,
}

impl Limit {
    const NONE: Limit = Limit { ns: f64::INFINITY, per_cpu_ns: 0.0 };

    /// That of a side's slices.
    fn of(side: &[Sample], clock: Clock) -> Result<Limit, StatsError> {
        let typical = stats::median(&clock.times(side))?;
        let cpu = stats::median(&Clock::Cpu.times(side)).ok().filter(|cpu| *cpu > 0.0);
        Ok(Limit { ns: defaults::CLIP * typical, per_cpu_ns: cpu.map_or(0.0, |cpu| typical / cpu) })
    }

    fn of_slice(self, slice: &Sample) -> f64 {
        self.ns.max(self.per_cpu_ns * Clock::Cpu.ns_per_op(slice))
    }
}

/// Mean time per invocation, where no slice counts as more than its limit.
fn mean(slices: &[Sample], clock: Clock, limit: Limit) -> f64 {
    let invocations: f64 = slices.iter().map(|s| s.invocations as f64).sum();
    let counted = |s: &Sample| s.invocations as f64 * clock.ns_per_op(s).min(limit.of_slice(s));
    slices.iter().map(counted).sum::<f64>() / invocations
}
