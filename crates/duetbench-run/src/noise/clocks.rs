//! The clocks, behind a trait so that tests can let a machine sleep.

use std::time::Duration;

use duetbench_core::noise::ClockReading;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Readings that are closer together than this are good enough.
const CLOSE_NS: u64 = 20_000;
/// Attempts to read them without being interrupted.
const TRIES: usize = 4;

/// Where the time comes from.
pub trait Clocks {
    /// All clocks, read as close together as can be.
    fn read(&mut self) -> ClockReading;
    /// Processor time that this process has used, without its children.
    fn own_ns(&mut self) -> Option<u64>;
}

/// The clocks of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClocks;

fn ns(clock: ClockId) -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(clock);
    let whole = Duration::from_secs(u64::try_from(tv_sec).unwrap_or(0));
    u64::try_from(whole.as_nanos()).unwrap_or(u64::MAX).saturating_add(u64::try_from(tv_nsec).unwrap_or(0))
}

impl Clocks for SystemClocks {
    fn read(&mut self) -> ClockReading {
        let once = || {
            let monotonic_ns = ns(ClockId::Monotonic);
            let (boottime_ns, realtime_ns) = (ns(ClockId::Boottime), ns(ClockId::Realtime));
            // To be interrupted here for 0.1 s would look like a sleep of 0.1 s.
            let uncertainty_ns = ns(ClockId::Monotonic).saturating_sub(monotonic_ns);
            ClockReading { monotonic_ns, boottime_ns, realtime_ns, uncertainty_ns }
        };
        let mut best = once();
        for _ in 1..TRIES {
            if best.uncertainty_ns <= CLOSE_NS {
                break;
            }
            let next = once();
            if next.uncertainty_ns < best.uncertainty_ns {
                best = next;
            }
        }
        best
    }

    fn own_ns(&mut self) -> Option<u64> {
        Some(ns(ClockId::ProcessCPUTime))
    }
}
