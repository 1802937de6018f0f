//! Cycles of a collector: from the end of one collection to the end of the next.
//!
//! Code that allocates pays for its collector in few slices, and how many collections fall into a trial is a whole number. Over
//! whole cycles the cost is complete and no number is rounded.

use std::ops::RangeInclusive;

use crate::sample::{Cycle, Memory, Sample};
use crate::spec::defaults;

/// The slices of whole cycles: those after the one in which the first collection ended, to the one in which the last did; all of
/// them where one ended in each, as where slices end with a collection. Absent where fewer than two ended.
pub(super) fn whole(side: &[Sample]) -> Option<&[Sample]> {
    Some(&side[places_of_whole(side)?])
}

fn places_of_whole(side: &[Sample]) -> Option<RangeInclusive<usize>> {
    let ends: Vec<usize> = (0..side.len()).filter(|&place| ends_in(side, place)).collect();
    let [first, .., last] = ends[..] else { return None };
    let from = if end_in_each(side) { 0 } else { first + 1 };
    Some(from..=last)
}

/// Whether a collection ended in each slice, so that each is as dear as any.
pub(super) fn end_in_each(side: &[Sample]) -> bool {
    side.len() > 2 && (1..side.len()).all(|place| ends_in(side, place))
}

/// Whether a collection ended in this slice. No slice before the first one tells that of it.
fn ends_in(side: &[Sample], place: usize) -> bool {
    place > 0 && ended(&side[place - 1..=place]) > 0
}

/// Whether a side's slices tell all that it pays for collecting: they hold whole cycles, or there is nothing to collect.
pub(super) fn told(side: &[Sample]) -> bool {
    whole(side).is_some() || unseen(side).is_none()
}

/// Collections that ended from after the first of these slices to their last.
pub(super) fn ended(slices: &[Sample]) -> u32 {
    let counted = || slices.iter().map(|s| s.cycles);
    match (counted().next().flatten(), counted().next_back().flatten()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => 0,
    }
}

/// The slices in which no collection ended; all of them if one ended in each.
pub(super) fn between_ends(side: &[Sample]) -> Vec<Sample> {
    let in_each = end_in_each(side);
    (0..side.len()).filter(|&place| in_each || !ends_in(side, place)).map(|place| side[place]).collect()
}

/// The price of collections that a process pays for and whose end its slices do not hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unseen {
    bytes_per_op: f64,
    cycle: Cycle,
}

/// Absent where nothing is allocated, or it is not known what a collection costs.
pub(super) fn unseen(side: &[Sample]) -> Option<Unseen> {
    let memory = || side.iter().filter_map(|s| s.memory);
    let invocations: f64 = memory().map(|m| m.invocations as f64).sum();
    let bytes_per_op = memory().map(|m| m.bytes as f64).sum::<f64>() / invocations;
    (bytes_per_op > 0.0).then_some(Unseen { bytes_per_op, cycle: cycle(side)? })
}

impl Unseen {
    /// The slices in which no collection can have been under way, which would be paid for twice: without the last part of a cycle, as
    /// much as marking may take ([`defaults::MARKED_SHARE`]). A cycle begins with the trial and where a collection ended. Without those
    /// in which one ended alone, where nothing else would be left.
    pub(super) fn without_marking(self, side: &[Sample]) -> Vec<Sample> {
        let [_, most] = defaults::MARKED_SHARE;
        let period = self.cycle.period_bytes as f64;
        let bytes = |sample: &Sample| self.bytes_per_op * sample.invocations as f64;
        // Those that warmed up came before.
        let mut since = side.first().map_or(0.0, |first| f64::from(first.at.iteration) * bytes(first));
        let (mut kept, mut from) = (Vec::new(), 0);
        for last in (0..side.len()).filter(|&place| ends_in(side, place) || place + 1 == side.len()) {
            let cycle = &side[from..=last];
            let all = since + cycle.iter().map(bytes).sum::<f64>();
            let marks_from = (1.0 - most) * if ends_in(side, last) { all } else { period };
            for sample in cycle {
                since += bytes(sample);
                kept.extend((since <= marks_from).then_some(*sample));
            }
            (since, from) = (0.0, last + 1);
        }
        if kept.is_empty() { between_ends(side) } else { kept }
    }

    /// CPU time of collecting per invocation, nanoseconds, for an invocation that itself takes so many: bytes per invocation
    /// divided by those of a cycle, times what a collection costs.
    ///
    /// A cycle has more bytes than could be allocated after the forced collection, because nothing was allocated while that
    /// marked: what is allocated meanwhile survives and so raises the next goal. A collector that takes a quarter of the
    /// processors marks while the mutator runs three times as long as marking takes ([`defaults::MARKED_SHARE`] has the source).
    pub(super) fn ns_per_op(self, mutator_ns: f64) -> f64 {
        let (cost_ns, period) = (self.cycle.cost_ns as f64, self.cycle.period_bytes as f64);
        let beside = 1.0 / defaults::MARKING_SHARE - 1.0;
        let marked = beside * cost_ns / mutator_ns * self.bytes_per_op / period;
        let [least, most] = defaults::MARKED_SHARE;
        let share = (marked / (1.0 + marked)).clamp(least, most);
        self.bytes_per_op / period * (1.0 - share) * cost_ns
    }
}

/// CPU time of marking beside the benchmark, per invocation over whole cycles, nanoseconds: what idle cores would take over. Absent
/// where the slices hold no whole cycle.
pub(super) fn background_ns_per_op(side: &[Sample]) -> Option<f64> {
    let (from, last) = places_of_whole(side)?.into_inner();
    // One slice more at the head, at whose end the first of these cycles begins.
    let slices = &side[from.saturating_sub(1)..=last];
    let cycles = ended(slices);
    let invocations: f64 = slices[1..].iter().map(|s| s.invocations as f64).sum();
    Some(f64::from(cycles) * cycle(side)?.background_ns? as f64 / invocations)
}

fn cycle(side: &[Sample]) -> Option<Cycle> {
    side.iter().rev().find_map(|s| s.memory.as_ref().and_then(cycle_of))
}

fn cycle_of(memory: &Memory) -> Option<Cycle> {
    memory.cycle.filter(|c| c.period_bytes > 0)
}
