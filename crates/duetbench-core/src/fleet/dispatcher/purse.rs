//! Keeps account of the money that was spent, and says whether one more call can be afforded.

use super::Caps;
use crate::fleet::Usage;

/// The money of a run, US dollars.
#[derive(Debug)]
pub(super) struct Purse {
    caps: Caps,
    /// Spent by earlier sittings.
    before_usd: f64,
    spent_usd: f64,
    billed_ns: u64,
}

impl Purse {
    pub(super) fn new(caps: Caps, before_usd: f64) -> Purse {
        Purse { caps, before_usd, spent_usd: 0.0, billed_ns: 0 }
    }

    /// Pays a call that told what it used.
    pub(super) fn pay(&mut self, usage: Usage) {
        self.spent_usd += self.price(usage);
        self.billed_ns = self.billed_ns.saturating_add(usage.billed_ns);
    }

    /// Pays a call of which nobody knows what it used.
    pub(super) fn pay_most(&mut self) {
        self.pay(self.most());
    }

    /// Whether everything in flight and one call more are paid for even if each uses the most it can.
    pub(super) fn affords_one_more(&self, in_flight: u32) -> bool {
        let owed_usd = (f64::from(in_flight) + 1.0) * self.price(self.most());
        self.before_usd + self.spent_usd + owed_usd <= self.caps.cost_usd
    }

    /// Spent by this sitting, US dollars.
    pub(super) fn spent_usd(&self) -> f64 {
        self.spent_usd
    }

    /// Time that this sitting was billed for, seconds.
    pub(super) fn billed_s(&self) -> f64 {
        self.billed_ns as f64 / 1e9
    }

    fn most(&self) -> Usage {
        Usage { billed_ns: self.caps.call_max_ns, cold: false }
    }

    fn price(&self, usage: Usage) -> f64 {
        self.caps.rate.of(usage, self.caps.memory_mb, self.caps.arch)
    }
}
