//! The page, and what both sides compute alike from it.

use std::convert::TryFrom;
use std::sync::atomic::{AtomicU32, AtomicU64};

pub(crate) const VERSION: u32 = 1;
pub(crate) const HEADER_BYTES: usize = 4096;
pub(super) const NO_CORE: u32 = u32::MAX;
/// Invocations of one slice: a benchmark that takes no time would otherwise grow for ever.
pub(super) const K_MAX: u64 = 1_000_000_000;
/// The longest interruption of a calibration slice that is told from waiting code by a second one, in trials.
const INTERRUPTION_TRIALS: u64 = 10;

pub(super) const DUET: u32 = 0;
pub(super) const INTERLEAVED: u32 = 1;
pub(super) const SOLO: u32 = 2;
pub(super) const ALIVE: u32 = 1;
pub(super) const DONE: u32 = 2;
pub(super) const STYLE_LOOP: u32 = 1;

pub(crate) const FLAG_WARM_UP: u32 = 1;
pub(crate) const FLAG_FIRST: u32 = 2;
pub(crate) const FLAG_PAUSED: u32 = 8;
pub(crate) const FLAG_CPU: u32 = 16;

#[repr(C)]
pub(crate) struct Header {
    pub(crate) magic: [u8; 8],
    pub(crate) version: u32,
    pub(crate) mode: u32,
    pub(crate) seed: u64,
    pub(crate) slice_ns: u64,
    pub(crate) trial_ns: u64,
    pub(crate) warmup_slices: u32,
    pub(crate) capacity: u32,
    pub(crate) block_slices: u32,
    pub(crate) stretch: u32,
    pub(crate) k_hint: u64,
    pub(crate) cores: [u32; 2],
    pub(crate) swap: u32,
    pub(crate) slices: u32,
    pub(crate) gc_ns: u64,
    pub(crate) warm_ns: u64,
    unused_1: [u8; 32],
    pub(crate) stop: AtomicU32,
    unused_2: [u8; 60],
    pub(crate) turn: AtomicU32,
    unused_3: [u8; 60],
    pub(crate) sides: [Side; 2],
}

/// Atomic where both sides look at it.
#[repr(C)]
pub(crate) struct Side {
    pub(crate) state: AtomicU32,
    pub(crate) style: AtomicU32,
    pub(crate) arrive: AtomicU32,
    pub(crate) asleep: AtomicU32,
    pub(crate) k: AtomicU64,
    pub(crate) k_ns: AtomicU64,
    pub(crate) k_bytes: AtomicU64,
    pub(crate) gc_period: AtomicU64,
    pub(crate) resets: AtomicU32,
    pub(crate) records: AtomicU32,
    pub(crate) parallelism: AtomicU32,
    pub(crate) left_early: AtomicU32,
    pub(crate) slice_ns: AtomicU64,
    pub(crate) gc_cost_ns: AtomicU64,
    pub(crate) background_ns: AtomicU64,
    pub(crate) ended: AtomicU32,
    unused: [u8; 164],
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Record {
    pub(crate) slice: u32,
    pub(crate) flags: u32,
    pub(crate) invocations: u64,
    pub(crate) wall_ns: u64,
    pub(crate) cpu_ns: u64,
    pub(crate) allocs: u64,
    pub(crate) bytes: u64,
    pub(crate) start_ns: u64,
    pub(crate) gcs: u32,
    pub(crate) block: u32,
}

pub(crate) fn page_size(capacity: u32) -> usize {
    HEADER_BYTES + 2 * capacity as usize * std::mem::size_of::<Record>()
}

/// The side that runs first in a slice of an interleaved trial.
pub(crate) fn lead(seed: u64, slice: u64) -> u32 {
    let mut z = seed.wrapping_add(slice).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ z >> 31) & 1) as u32
}

/// The turn in which a side runs a slice.
pub(crate) fn turn_of(seed: u64, slice: u64, side: u32) -> u32 {
    (2 + 2 * slice) as u32 + (lead(seed, slice) ^ side)
}

/// The side whose turn it is.
pub(crate) fn owner(seed: u64, turn: u32) -> u32 {
    if turn < 2 {
        turn
    } else {
        lead(seed, u64::from(turn - 2) / 2) ^ (turn & 1)
    }
}

/// What a side publishes after calibration.
#[derive(Clone, Copy)]
pub(crate) struct Published {
    pub(crate) k: u64,
    pub(crate) k_ns: u64,
    pub(crate) slice_ns: u64,
}

/// What both sides compute alike from the published numbers. Rust has no collector, so no trial spans its cycles.
#[derive(Clone, Copy, Default)]
pub(crate) struct Plan {
    pub(crate) k: u64,
    pub(crate) warmup: u64,
    pub(crate) slices: u64,
    pub(crate) block: u64,
    /// Invocations before each slice that are not recorded.
    pub(crate) warm_k: u64,
}

/// A slice's block, and whether the slice is its first and its last.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    pub(crate) number: u64,
    pub(crate) first: bool,
    pub(crate) last: bool,
}

impl Plan {
    pub(crate) fn agree(header: &Header, sides: &[Published]) -> Plan {
        let length = sides.iter().map(|s| s.slice_ns).fold(header.slice_ns, u64::max);
        let k = invocations_of(sides, length);
        let warms = header.mode == INTERLEAVED && header.warm_ns > 0;
        let warm_k = if warms { invocations_of(sides, header.warm_ns) } else { 0 };
        let estimate = time_of(sides, k).saturating_add(if warms { time_of(sides, warm_k) } else { 0 });
        let (room, asked) =
            (u64::from(header.capacity), u64::from(header.warmup_slices).min(u64::from(header.capacity)));
        let as_long = mul_div_up(asked, header.slice_ns, estimate).max(2);
        let timed = if estimate <= header.trial_ns / 4 { asked.min(as_long) } else { 0 };
        let (warmup, slices) = match header.slices {
            0 => (timed, (header.trial_ns / estimate).max(1)),
            slices => (asked, u64::from(slices)),
        };
        Plan { k, warmup, slices: slices.min(room - warmup), block: u64::from(header.block_slices.max(1)), warm_k }
    }

    pub(crate) fn total(&self) -> u64 {
        self.warmup + self.slices
    }

    pub(crate) fn block_of(&self, slice: u64) -> Block {
        if slice < self.warmup {
            return Block { number: 0, first: slice == 0, last: slice + 1 == self.warmup };
        }
        let n = slice - self.warmup;
        let last = (n + 1) % self.block == 0 || slice + 1 == self.total();
        Block { number: 1 + n / self.block, first: n % self.block == 0, last }
    }

    pub(super) fn invocations(&self, slice: u64, stretch: u32) -> u64 {
        let stretched = stretch > 1 && self.block_of(slice).number % 2 == 1;
        if stretched {
            self.k.saturating_mul(u64::from(stretch)).min(K_MAX)
        } else {
            self.k
        }
    }
}

/// Those of a slice that takes about so long on the side that is slower.
fn invocations_of(sides: &[Published], length: u64) -> u64 {
    let fits = |s: &Published| mul_div(s.k.max(1), length, s.k_ns.max(1)).max(1);
    sides.iter().map(fits).fold(K_MAX, u64::min)
}

/// The time that so many invocations take on the side that is slower, at least 1 ns.
fn time_of(sides: &[Published], k: u64) -> u64 {
    let needs = |s: &Published| mul_div_up(s.k_ns.max(1), k, s.k.max(1));
    sides.iter().map(needs).fold(1, u64::max)
}

fn mul_div(a: u64, b: u64, c: u64) -> u64 {
    u64::try_from(u128::from(a) * u128::from(b) / u128::from(c)).unwrap_or(u64::MAX)
}

fn mul_div_up(a: u64, b: u64, c: u64) -> u64 {
    u64::try_from((u128::from(a) * u128::from(b) + u128::from(c) - 1) / u128::from(c)).unwrap_or(u64::MAX)
}

/// The time that a slice is taken to need of which so much is timed, while `elapsed_ns` passed: set-up that is not timed may take 20 times
/// what is, but no slice longer than a second for it.
pub(crate) fn charged_ns(ns: u64, elapsed_ns: u64, slice_ns: u64) -> u64 {
    let times = (1_000_000_000 / slice_ns.max(1)).max(1).min(20);
    ns.max(elapsed_ns / times)
}

/// Whether a calibration slice that was long enough must prove it a second time: one interruption, in which the process has no processor,
/// would otherwise pass for a slow benchmark, and make all slices tiny.
pub(crate) fn repeats(k: u64, ns: u64, busy_ns: u64, trial_ns: u64) -> bool {
    k < K_MAX && busy_ns.min(ns) <= trial_ns / 4 && ns <= INTERRUPTION_TRIALS * trial_ns
}

/// The size of the calibration slice after one of `k` invocations that took so long; absent: it was long enough.
pub(crate) fn grown(k: u64, ns: u64, slice_ns: u64) -> Option<u64> {
    if k >= K_MAX || ns >= mul_div_up(slice_ns, 7, 10) {
        return None;
    }
    let wanted = mul_div_up(k, slice_ns, ns.max(1)).min(k.saturating_mul(100));
    Some(wanted.max(k + 1).min(K_MAX))
}
