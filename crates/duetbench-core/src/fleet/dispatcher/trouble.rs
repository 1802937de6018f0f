//! Recent faults: of one benchmark, of the whole fleet, and calls that the provider throttled.

use std::collections::VecDeque;
use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::fleet::Since;

/// So often in a row a benchmark may fail until nothing more of it is sent.
const FAILURES_IN_ROW_MAX: u32 = 3;

/// Calls of one benchmark that are looked back on.
const RECENT_OF_ONE: usize = 16;

/// So many faults among them close the benchmark.
///
/// Where each call is lost or crashes with probability p, whatever it measures, 16 calls hold 15 faults or more with probability
/// p¹⁵ (16 − 15 p): 2 · 10⁻⁷ at 30 %, 3 · 10⁻⁴ at half of all calls. Over all windows of the 48 calls that 24 tasks take where every
/// second one gives nothing, a benchmark is so given up for no reason of its own with probability 0.4 %; at 30 %, in 40 calls,
/// with 3 · 10⁻⁶. Three in a row would do that to nearly every benchmark: where several calls are in flight, one burst of a bad
/// network is as many faults in a row.
const FAULTS_OF_ONE_MAX: usize = 15;

/// Calls that the circuit breaker looks back on.
const RECENT_OF_ALL: usize = 50;

/// More faults than this among them break the circuit: 80 %. Where half of all calls give nothing, 50 calls hold more with
/// probability 3 · 10⁻⁶.
const FAULTS_OF_ALL_MAX: usize = 40;

/// Longest wait after the first burst of throttles; it doubles with every further one.
const QUIET: Duration = Duration::from_millis(200);

/// Most doublings of that wait.
const DOUBLINGS_MAX: u32 = 5;

/// Why a task is given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reason {
    pub(super) words: String,
    /// Calls were lost or crashed; else the benchmark fails.
    pub(super) by_fleet: bool,
}

/// Whether the last `N` calls were faults, oldest first.
#[derive(Debug, Default)]
struct Recent<const N: usize>(VecDeque<bool>);

impl<const N: usize> Recent<N> {
    /// A call ended. Says how many of the last ones were faults.
    fn note(&mut self, fault: bool) -> usize {
        self.0.push_back(fault);
        if self.0.len() > N {
            self.0.pop_front();
        }
        self.0.iter().filter(|fault| **fault).count()
    }
}

/// Faults among one benchmark's calls.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// Why nothing more of it is sent: it keeps failing, or its calls keep being lost.
    pub(super) closed: Option<Reason>,
    failures_in_row: u32,
    recent: Recent<RECENT_OF_ONE>,
}

impl Record {
    /// The worker answered, with these words if the benchmark failed. Says whether that poisons the benchmark.
    pub(super) fn answered(&mut self, failure: Option<&str>) -> bool {
        self.recent.note(false);
        self.failures_in_row = if failure.is_some() { self.failures_in_row + 1 } else { 0 };
        let words = || format!("failed {FAILURES_IN_ROW_MAX} times in a row: {}", failure.unwrap_or_default());
        self.failures_in_row >= FAILURES_IN_ROW_MAX && self.poison(Reason { words: words(), by_fleet: false })
    }

    /// A call was lost or crashed, in these words. Says whether that poisons the benchmark.
    pub(super) fn fault(&mut self, words: &str) -> bool {
        let faults = self.recent.note(true);
        let of = self.recent.0.len();
        let words = || format!("{faults} of its last {of} calls were lost or crashed: {words}");
        faults >= FAULTS_OF_ONE_MAX && self.poison(Reason { words: words(), by_fleet: true })
    }

    fn poison(&mut self, reason: Reason) -> bool {
        let open = self.closed.is_none();
        self.closed.get_or_insert(reason);
        open
    }
}

/// Ends a sitting in which too much fails for reasons of the fleet: going on would only cost.
#[derive(Debug, Default)]
pub(super) struct Breaker(Recent<RECENT_OF_ALL>);

impl Breaker {
    /// A call ended. Says whether the circuit is broken. Few calls never break it, because each of their tasks is given up anyway.
    pub(super) fn note(&mut self, fault: bool) -> bool {
        self.0.note(fault) > FAULTS_OF_ALL_MAX
    }
}

/// The time for which nothing is sent after a burst of throttles.
///
/// It is drawn between half of what it is at most and all of it, which spreads the calls of those who share an account.
/// Source: Brooker, Exponential Backoff and Jitter (AWS Architecture Blog, 2015), "equal jitter".
#[derive(Debug)]
pub(super) struct Quiet {
    until: Since,
    /// Bursts since a call was taken.
    bursts: u32,
    rng: ChaCha8Rng,
}

impl Quiet {
    pub(super) fn new(seed: u64) -> Quiet {
        Quiet { until: Since::ZERO, bursts: 0, rng: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// When sending may go on, if that is later than now.
    pub(super) fn until(&self, now: Since) -> Option<Since> {
        Some(self.until).filter(|until| *until > now)
    }

    /// A call was throttled. What is throttled while it is quiet was sent before and belongs to the same burst.
    pub(super) fn throttled(&mut self, now: Since) {
        if self.until(now).is_some() {
            return;
        }
        let most = QUIET * 2u32.pow(self.bursts.min(DOUBLINGS_MAX));
        self.until = now.saturating_add(most.mul_f64(self.rng.random_range(0.5..1.0)));
        self.bursts += 1;
    }

    /// A call was taken.
    pub(super) fn taken(&mut self) {
        self.bursts = 0;
    }
}
