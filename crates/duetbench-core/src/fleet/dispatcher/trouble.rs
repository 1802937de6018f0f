//! What went wrong of late: for one benchmark, for the whole fleet, and at the provider's door.

use std::collections::VecDeque;
use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::fleet::Since;

/// So often in a row a benchmark may fail, or its calls may be lost, until nothing more of it is sent.
const IN_ROW_MAX: u32 = 3;

/// Calls that the circuit breaker looks back on.
const RECENT: usize = 50;

/// More faults than this among them break the circuit: 30 %.
const FAULTS_MAX: usize = 15;

/// Longest wait after the first burst of throttles; it doubles with every further one.
const QUIET: Duration = Duration::from_millis(200);

/// How often it doubles at most.
const DOUBLINGS_MAX: u32 = 5;

/// Why nothing more of a benchmark is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Closed {
    /// Its answer is known.
    Known,
    /// It keeps failing; in words.
    Poisoned(String),
}

/// What is known of one benchmark's calls.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) closed: Option<Closed>,
    failures_in_row: u32,
    faults_in_row: u32,
}

impl Record {
    /// The worker answered, with these words if the benchmark failed. Says whether that poisons the benchmark.
    pub(super) fn answered(&mut self, failure: Option<&str>) -> bool {
        self.faults_in_row = 0;
        self.failures_in_row = if failure.is_some() { self.failures_in_row + 1 } else { 0 };
        let poisoned = self.failures_in_row >= IN_ROW_MAX;
        poisoned && self.poison(&format!("failed {IN_ROW_MAX} times in a row: {}", failure.unwrap_or_default()))
    }

    /// A call was lost or crashed, in these words. Says whether that poisons the benchmark.
    pub(super) fn fault(&mut self, words: &str) -> bool {
        self.faults_in_row += 1;
        let poisoned = self.faults_in_row >= IN_ROW_MAX;
        poisoned && self.poison(&format!("{IN_ROW_MAX} calls in a row were lost or crashed: {words}"))
    }

    fn poison(&mut self, reason: &str) -> bool {
        let open = self.closed.is_none();
        self.closed.get_or_insert_with(|| Closed::Poisoned(reason.to_owned()));
        open
    }
}

/// Ends a sitting in which too much fails for reasons of the fleet: going on would only cost.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    /// Whether the last calls were faults, oldest first.
    recent: VecDeque<bool>,
}

impl Breaker {
    /// A call ended. Says whether the circuit is broken. Few calls never break it, because each of their tasks is given up anyway.
    pub(super) fn note(&mut self, fault: bool) -> bool {
        self.recent.push_back(fault);
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
        self.recent.iter().filter(|fault| **fault).count() > FAULTS_MAX
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
