//! First trials in which both versions take turns on one core: what getting caches warm takes, and how the programs differ as they are
//! linked.

use std::ops::Range;

use duetbench_core::analysis::summarise;
use duetbench_core::plan::{ColdShare, Mode, PlannedBenchmark, Profile, Purpose, is_settling, lost_in_turns};
use duetbench_core::spec::defaults;
use duetbench_core::{Sample, stats};

use super::super::Executor;
use super::{as_trial, trial};
use crate::error::RunError;

/// Slices of two lengths in a trial that tells what getting warm takes, where the shorter ones have the usual length.
const SLICES: u64 = 80;
/// Fewest where they are longer, and vary less.
const SLICES_MIN: u64 = 16;
/// Most such trials: another one where it is open whether getting warm is a large part or none.
const LOOKS: u32 = 3;
/// Lengths of the shorter slices, as multiples of the usual one, that are tried one after the other.
const LENGTHS: [f64; 4] = [1.0, 4.0, 16.0, 64.0];
/// Share of a slice from which on the true one may be larger: by what getting warm takes, or by what the version did not take alone. Such
/// slices may be too short to get warm in, and those of both lengths equally cold.
const DOUBTED: f64 = 0.05;
/// Multiple from which on longer slices are tried only if these show it: what shows in none of them is not taken by caches.
const SHOWN: f64 = 16.0;
/// Most that slices outweigh by being longer, as a multiple of a slice of the usual length.
const OUTWEIGHED: f64 = defaults::COLD_MAX * defaults::COLD_FACTOR_MAX;
/// Length of the slices, as a multiple of the usual one, that tell whether they are warm after a part that is not recorded.
const WARMED_TIMES: f64 = 16.0;
/// Log ratio of two programs as they are linked from which on it is seen twice.
const LINKED_DOUBTED: f64 = 0.02;
/// Fewest slices that warm up in trials of longer ones.
const WARMUP_MIN: f64 = 2.0;

/// One benchmark, and that which runs its trials.
pub(super) struct InTurns<'a> {
    pub(super) executor: &'a mut dyn Executor,
    pub(super) planned: &'a PlannedBenchmark,
    pub(super) benchmark: usize,
    /// Time of an invocation, nanoseconds: no slice is shorter.
    pub(super) invocation_ns: f64,
}

/// Wall time of the first look at a benchmark in turns, nanoseconds: half of its slices are four times as long, on both sides; every second
/// benchmark needs another look.
pub(super) fn takes_ns(planned: &PlannedBenchmark) -> u64 {
    8 * (SLICES * planned.configuration.slice_ns).max(SLICES_MIN * planned.first_ns)
}

/// Slices of a benchmark's first trials.
pub(super) struct Seen {
    /// Each version alone.
    alone: Vec<Sample>,
    /// Both in turns, of two lengths, the shorter one as usual.
    in_turns: Vec<Sample>,
}

impl Seen {
    /// Slices of each version alone, where they were not looked at in turns.
    pub(super) fn alone(alone: Vec<Sample>) -> Seen {
        Seen { alone, in_turns: Vec::new() }
    }

    /// Whether there are slices in turns.
    pub(super) fn is_in_turns(&self) -> bool {
        !self.in_turns.is_empty()
    }

    /// Whether the versions were still getting faster, alone or in turns.
    pub(super) fn is_settling(&self) -> bool {
        is_settling(&self.alone) || is_settling(&self.in_turns)
    }
}

impl InTurns<'_> {
    /// A first look at slices in turns, beside those of each version alone: the profile by these, and what a closer look goes on from.
    pub(super) fn first(mut self, profile: Profile, alone: Vec<Sample>) -> Result<(Profile, Seen), RunError> {
        let times = self.lasting(LENGTHS[0]);
        let in_turns = self.of_two_lengths(times, 0..LOOKS)?;
        let cold_share = ColdShare::of(&in_turns).map(|seen| seen.least * times);
        Ok((profile.with_cold_share(cold_share), Seen { alone, in_turns }))
    }

    /// A closer look where the first one left something open: at longer slices, and at some after a part that is not recorded.
    pub(super) fn closer(mut self, profile: Profile, seen: Seen) -> Result<Profile, RunError> {
        let as_linked = self.as_linked(&seen.in_turns)?;
        let cold_share = self.cold_share(seen)?;
        self.warmed(profile.with_as_linked(as_linked).with_cold_share(cold_share))
    }

    /// The ratio of two programs as they are linked, whose slices took turns. One that is far from 1 is seen twice, from places in memory
    /// that are exchanged, and the nearer one believed, or none that the other contradicts: places make processes faster or slower, and
    /// neighbours burst.
    fn as_linked(&mut self, in_turns: &[Sample]) -> Result<Option<f64>, RunError> {
        let seen = ratio_of(in_turns);
        let Some(first) = seen.filter(|ratio| ratio.ln().abs() > LINKED_DOUBTED) else { return Ok(seen) };
        let again = ratio_of(&self.of_two_lengths(self.lasting(LENGTHS[0]), 1..1 + LOOKS)?);
        let agreeing = again.filter(|again| (*again > 1.0) == (first > 1.0));
        Ok(agreeing.map(|again| if first > 1.0 { first.min(again) } else { first.max(again) }))
    }

    /// The time that getting warm takes in turns on one core, as a multiple of a slice of the usual length: from slices of two lengths,
    /// and from longer ones as long as these may be too short to get warm in.
    fn cold_share(&mut self, Seen { alone, in_turns: mut samples }: Seen) -> Result<Option<f64>, RunError> {
        let mut known: Option<(f64, f64)> = None;
        let shortest = self.lasting(LENGTHS[0]);
        for times in std::iter::once(shortest).chain(LENGTHS.into_iter().filter(|times| *times > shortest)) {
            if times > shortest {
                samples = self.of_two_lengths(times, 0..LOOKS)?;
            }
            let Some(ColdShare { least, .. }) = ColdShare::of(&samples) else { break };
            if known.is_none_or(|(most, _)| least * times > most) {
                known = Some((least * times, times));
            }
            let lost = if times < SHOWN { lost_to_the_other(&alone, &samples) } else { 0.0 };
            if least.max(lost) <= DOUBTED {
                break;
            }
        }
        let Some((share, times)) = known.filter(|(share, _)| *share > defaults::COLD_LARGE) else {
            return Ok(known.map(|(share, _)| share));
        };
        // So much makes every slice many times as long, and a neighbour's burst looks the same: it is seen twice or not believed.
        let again = ColdShare::of(&self.of_two_lengths(times, 0..LOOKS)?);
        Ok(Some(share.min(again.map_or(0.0, |again| again.least * times))))
    }

    /// The same with a part before each slice that warms and is not recorded, where getting warm takes more than slices can outweigh, and
    /// that part most of it. Not of code that collects, which has whole cycles to go by.
    fn warmed(self, cold: Profile) -> Result<Profile, RunError> {
        let may_be = self.planned.style.refills() && !cold.collects;
        let Some(share) = cold.cold_share.filter(|share| may_be && *share > OUTWEIGHED) else { return Ok(cold) };
        let warm_ns = (defaults::WARM_TIMES * share * defaults::SLICE_NS as f64) as u64;
        let warm_ns = warm_ns.min(defaults::WARM_NS_MAX);
        let mut warm = self.planned.clone();
        warm.configuration.warm_ns = warm_ns;
        let times = self.lasting(WARMED_TIMES);
        let InTurns { benchmark, invocation_ns, .. } = self;
        let mut warmed = InTurns { executor: self.executor, planned: &warm, benchmark, invocation_ns };
        let seen = warmed.of_two_lengths(times, 0..LOOKS)?;
        let left = ColdShare::of(&seen).map(|left| left.least * times);
        Ok(left.filter(|left| *left <= share / 2.0).map_or(cold, |left| cold.with_warm_part(warm_ns, left)))
    }

    /// The length of a slice that is to be so many times as long as usual, in usual ones.
    fn lasting(&self, times: f64) -> f64 {
        times.max(self.invocation_ns / self.planned.configuration.slice_ns as f64)
    }

    /// Slices in turns, some of so many times the usual length and some longer, of as many trials as are needed to tell.
    fn of_two_lengths(&mut self, times: f64, looks: Range<u32>) -> Result<Vec<Sample>, RunError> {
        let usual = self.planned.configuration;
        let slice_ns = (times * usual.slice_ns as f64) as u64;
        let slices = ((SLICES as f64 / times) as u64).max(SLICES_MIN);
        let mut stretched = as_trial(self.planned, Mode::InterleavedOneCore, slices * (usual.warm_ns + slice_ns));
        stretched.configuration.purpose = Purpose::Stretched;
        stretched.configuration.slice_ns = slice_ns;
        stretched.configuration.warmup_slices = (f64::from(usual.warmup_slices) / times).max(WARMUP_MIN) as u32;
        let mut samples = Vec::new();
        for look in looks {
            let outcome = self.executor.run_trial(&stretched, &trial(self.benchmark, look))?;
            samples.append(&mut outcome.result.unwrap_or_default());
            if !ColdShare::of(&samples).is_some_and(ColdShare::is_open) {
                break;
            }
        }
        Ok(samples)
    }
}

/// The ratio of two programs whose slices took turns; absent where there are none.
fn ratio_of(samples: &[Sample]) -> Option<f64> {
    let log_ratios: Vec<f64> = summarise(samples, Mode::InterleavedOneCore).forks.iter().map(|f| f.log_ratio).collect();
    Some(stats::mean(&log_ratios).ok()?.exp())
}

/// Share of a slice in turns that versions do not need alone. Code that collects cannot tell: its collector marks on idle cores
/// beside a version alone, and in its way in turns.
fn lost_to_the_other(alone: &[Sample], in_turns: &[Sample]) -> f64 {
    let collects = collected(alone) || collected(in_turns);
    lost_in_turns(alone, in_turns).filter(|_| !collects).unwrap_or(0.0)
}

/// Whether a collection took part in any of these slices. It may be in those in turns alone: a version alone has few slices.
fn collected(samples: &[Sample]) -> bool {
    samples.iter().filter_map(|sample| sample.memory).any(|memory| memory.collections > 0)
}
