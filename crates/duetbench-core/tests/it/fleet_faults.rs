//! A small run whose provider answers half of all calls with nothing, and one whose provider is gone.

use std::collections::BTreeMap;
use std::time::Duration;

use duetbench_core::fleet::{Caps, Dispatcher, Ended, Heard, Next, Sending, Since, Tallied, Task, Usage};
use duetbench_core::spec::Arch;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::fleet::RATE;

const BENCHMARKS: u32 = 3;
const TASKS_EACH: u32 = 14;

/// Each thing that becomes of calls: its share of all of them, and what is heard.
type Faults = [(f64, fn() -> Heard); 6];

/// A proxy between duet and the provider that did all of this once had a run give up three benchmarks.
const BAD_NETWORK: Faults = [
    (0.20, || Heard::Throttled),
    (0.10, || Heard::Lost("ServiceException".into())),
    (0.05, || Heard::Lost("connection refused".into())),
    (0.10, || Heard::Lost("connection reset".into())),
    (0.10, || Heard::Lost("unexpected end of the answer".into())),
    (0.05, || Heard::Crashed("the worker's answer: expected value".into())),
];

fn caps() -> Caps {
    Caps {
        parallel: 4,
        cost_usd: 2.0,
        time: Duration::from_secs(1800),
        rate: RATE,
        memory_mb: 2048,
        arch: Arch::X86_64,
        call_max_ns: 64_000_000_000,
    }
}

fn tasks() -> Vec<Task> {
    let of = |run| (0..BENCHMARKS).map(move |benchmark| Task { benchmark, first_suite_run: 2 * run, suite_runs: 2 });
    (0..TASKS_EACH).flat_map(of).collect()
}

/// The end of a sitting, its numbers, and benchmarks that were abandoned.
type Came = (Ended, Tallied, usize);

/// A sitting in which each call meets what `heard` says and takes a second or less.
fn sit(seed: u64, mut heard: impl FnMut(&mut ChaCha8Rng) -> Heard) -> Came {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut dispatcher, mut now) = (Dispatcher::new(caps(), 0.0, seed), Since::ZERO);
    dispatcher.add(&tasks());
    let mut coming: BTreeMap<(Since, u64), (Sending, Heard)> = BTreeMap::new();
    for number in 0.. {
        match dispatcher.next(now) {
            Next::Send(sending) => {
                let at = now + Duration::from_millis(rng.random_range(5..1000));
                coming.insert((at, number), (sending, heard(&mut rng)));
            }
            Next::Wait(longest) => match coming.first_entry().filter(|next| next.key().0 <= now + longest) {
                Some(next) => {
                    let ((at, _), (sending, heard)) = next.remove_entry();
                    now = at;
                    dispatcher.heard(sending, heard, now);
                }
                None => now += longest,
            },
            Next::End(ended) => {
                let abandoned = (0..BENCHMARKS).filter(|b| dispatcher.abandons(*b, ended, false).is_some());
                return (ended, dispatcher.tallied(), abandoned.count());
            }
        }
    }
    unreachable!("numbers do not end")
}

fn bad_network(rng: &mut ChaCha8Rng) -> Heard {
    let mut draw: f64 = rng.random();
    for (share, heard) in BAD_NETWORK {
        draw -= share;
        if draw < 0.0 {
            return heard();
        }
    }
    Heard::Measured(Usage { billed_ns: 1_000_000_000, cold: false })
}

#[test]
fn a_small_run_gets_its_answers_over_a_bad_network() {
    let sittings: Vec<Came> = (0..400).map(|seed| sit(seed, bad_network)).collect();
    let (mut abandoned, mut lost, mut throttled) = (0, 0, 0);
    for (seed, (ended, tallied, left)) in sittings.iter().enumerate() {
        assert_eq!(*ended, Ended::Done, "seed {seed}: {tallied:?}");
        assert!(tallied.cost_usd < 2.0, "seed {seed}: {tallied:?}");
        abandoned += left;
        (lost, throttled) = (lost + tallied.lost, throttled + tallied.throttled);
    }
    let tasks = 400 * BENCHMARKS * TASKS_EACH;
    assert!(lost > tasks * 9 / 10 && throttled > tasks / 3, "the weather was fair: {lost} and {throttled} of {tasks}");
    // In 28 calls of each of 1,200 benchmarks 0.2 % are expected, and of 14 tasks of each 0.3 %.
    assert!(abandoned <= 12, "{abandoned} of {} benchmarks were given up", 400 * BENCHMARKS);
    let all = sittings.iter().filter(|(_, tallied, _)| tallied.done == BENCHMARKS * TASKS_EACH).count();
    assert!(all >= 388, "{all} of 400 runs have all results");
}

#[test]
fn a_provider_that_is_gone_ends_the_run_soon_and_every_benchmark_is_abandoned() {
    for answered in [0, 6] {
        let mut left = answered;
        let (ended, tallied, abandoned) = sit(1, |_| {
            if left == 0 {
                return Heard::Lost("connection refused".into());
            }
            left -= 1;
            Heard::Measured(Usage { billed_ns: 1_000_000_000, cold: false })
        });
        assert_eq!((ended, tallied.done, abandoned), (Ended::Broken, answered, 3));
        // Calls in flight when the circuit breaks may be lost as well.
        assert!((41..45).contains(&tallied.lost), "{tallied:?}");
    }
}
