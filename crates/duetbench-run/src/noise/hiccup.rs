//! A loop that only reads the clock: how much time is taken away from it, and for how long at once.

use std::time::{Duration, Instant};

use duetbench_core::noise::Gaps;
use rustix::thread::{CpuSet, sched_setaffinity};

/// Watches one processor for a while, on a thread of its own that is pinned there; absent if it may not be pinned.
pub fn watch(cpu: u32, length: Duration) -> Option<Gaps> {
    let spin = move || {
        let mut only = CpuSet::new();
        only.set(usize::try_from(cpu).ok()?);
        sched_setaffinity(None, &only).ok()?;
        let began = Instant::now();
        let now_ns = || u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Some(gaps(cpu, length, now_ns))
    };
    std::thread::Builder::new().spawn(spin).ok()?.join().ok().flatten()
}

/// The gaps of a clock until a length has passed.
fn gaps(cpu: u32, length: Duration, mut now_ns: impl FnMut() -> u64) -> Gaps {
    let mut gaps = Gaps::on(cpu);
    let length_ns = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
    let mut last_ns = now_ns();
    while gaps.watched_ns < length_ns {
        let next_ns = now_ns();
        gaps.pass(next_ns.saturating_sub(last_ns));
        last_ns = next_ns;
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_gaps_are_counted() {
        let mut times_us = [0, 1, 20, 41, 50, 150, 151, 300].into_iter();
        let got = gaps(3, Duration::from_micros(150), || times_us.next().unwrap() * 1000);
        assert_eq!(got, Gaps { cpu: 3, watched_ns: 150_000, count: 2, taken_ns: 121_000, longest_ns: 100_000 });
        assert_eq!(times_us.next(), Some(151));
    }

    #[test]
    fn a_processor_that_is_not_there_gives_nothing() {
        assert_eq!(watch(1023, Duration::from_millis(1)), None);
    }
}
