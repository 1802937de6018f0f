//! Gaps in a loop that only reads the clock: every gap is time in which the processor was taken away from it.

use serde::{Deserialize, Serialize};

/// Gaps up to this long come with every interrupt of the timer and are no disturbance.
const GAP_MIN_NS: u64 = 20_000;

/// The gaps that one processor had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gaps {
    /// Its number.
    pub cpu: u32,
    /// Time for which it was watched.
    pub watched_ns: u64,
    /// Number of gaps.
    pub count: u64,
    /// Length of all gaps together.
    pub taken_ns: u64,
    /// Length of the longest gap.
    pub longest_ns: u64,
}

impl Gaps {
    /// A processor before it is watched.
    pub fn on(cpu: u32) -> Gaps {
        Gaps { cpu, watched_ns: 0, count: 0, taken_ns: 0, longest_ns: 0 }
    }

    /// Counts the time between one look at the clock and the next.
    pub fn pass(&mut self, between_ns: u64) {
        self.watched_ns = self.watched_ns.saturating_add(between_ns);
        if between_ns > GAP_MIN_NS {
            self.count += 1;
            self.taken_ns = self.taken_ns.saturating_add(between_ns);
            self.longest_ns = self.longest_ns.max(between_ns);
        }
    }

    /// Adds what was seen of the same processor at another time.
    pub fn merge(&mut self, other: &Gaps) {
        self.watched_ns = self.watched_ns.saturating_add(other.watched_ns);
        self.count = self.count.saturating_add(other.count);
        self.taken_ns = self.taken_ns.saturating_add(other.taken_ns);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
    }

    /// Share of the time that was taken away.
    pub fn share(&self) -> Option<f64> {
        (self.watched_ns > 0).then(|| self.taken_ns as f64 / self.watched_ns as f64)
    }
}
