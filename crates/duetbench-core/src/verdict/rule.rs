//! The one rule that makes verdicts: where an interval lies to the threshold.
//!
//! With `[L, U]` the interval of the ratio, `delta` the threshold, and *changed* meaning `p <= alpha` and the adjusted
//! `p <= fdr`:
//!
//! | verdict | when |
//! | --- | --- |
//! | regression | changed, and `L > 1 + delta` |
//! | slower, within tolerance | changed, `L > 1`, and `[L, U]` within the band |
//! | slower, size open | changed, `L > 1`, and neither |
//! | no change | none of these or their opposites, and `[L, U]` within the band |
//! | inconclusive | else |
//!
//! and *improvement*, *faster* the other way round. The band is `1 / (1 + delta)` to `1 + delta`, and *within* it means that the
//! interval of the judged number is and that of the one beside it too: what few slices pay for must not hide behind the others.
//!
//! # Promises of each verdict
//!
//! **Changed** (regression, improvement, slower, faster): of the benchmarks whose code did not change in speed, at most the share
//! `alpha` is expected to be called so; and among all that are called so in a suite, the expected share of false ones is at most
//! `fdr` (Benjamini and Hochberg 1995).
//!
//! **Regression** also: a benchmark that got slower by `delta` or less is called so with probability at most half the interval's
//! error. **No change and within tolerance**: a benchmark that changed by `delta` or more is called so with probability at most
//! half that error (two one-sided tests; Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987; that both numbers
//! have to pass costs nothing more: Berger, Technometrics 24, 1982).
//!
//! So there is one boundary, the threshold, with a claim to either side of it. No two of these claims can be true at once, and
//! more data of the same truth never turn one into another, but for these errors; they only turn *open* into an answer.
//!
//! The promises hold over all looks at the data together: intervals and p-values are those of group-sequential tests. Where
//! every unit has a build pair of its own they are about the two versions of the source; with a single build pair they are
//! about these two artifacts, and another build of the same source may lie elsewhere in memory and run at another speed.

use serde::{Deserialize, Serialize};

use super::{Extent, Verdict};
use crate::spec::Decision;

/// An interval of a ratio candidate to baseline; over 1 is slower.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RatioInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl RatioInterval {
    /// The interval of a ratio, from that of its logarithm.
    pub fn of_logs(low: f64, high: f64) -> RatioInterval {
        RatioInterval { low: finite_exp(low), high: finite_exp(high) }
    }

    /// The interval, which reaches from a ratio in it by this share of it at least to either side.
    #[must_use]
    pub fn around(self, ratio: f64, share: f64) -> RatioInterval {
        RatioInterval { low: self.low.min(ratio / (1.0 + share)), high: self.high.max(ratio * (1.0 + share)) }
    }

    /// The interval of changes of which up to this share, below 1, does not show: ends that make it wider move.
    #[must_use]
    pub fn with_hidden(self, share: f64) -> RatioInterval {
        let whole = |end| with_hidden(end, share);
        RatioInterval { low: self.low.min(whole(self.low)), high: self.high.max(whole(self.high)) }
    }

    /// Whether every ratio in it is closer to 1 than the threshold, a fraction, allows.
    pub fn is_within(self, threshold: f64) -> bool {
        let most = 1.0 + threshold;
        1.0 / most < self.low && self.high < most
    }

    /// Whether every ratio in it exceeds `1 + threshold`.
    pub fn is_above(self, threshold: f64) -> bool {
        self.low > 1.0 + threshold
    }

    /// Whether some ratio in it exceeds `1 + threshold`, or is that.
    pub fn reaches_above(self, threshold: f64) -> bool {
        self.high >= 1.0 + threshold
    }

    /// Whether every ratio in it lies below `1 / (1 + threshold)`.
    pub fn is_below(self, threshold: f64) -> bool {
        self.high < 1.0 / (1.0 + threshold)
    }
}

/// The ratio of the work, where this one shows and both versions pay alike for something else besides, this share, below 1, of the faster
/// one's time: `(r - s) / (1 - s)` over 1, and below it the inverse of that of the inverse.
pub(crate) fn with_hidden(ratio: f64, share: f64) -> f64 {
    if ratio < 1.0 {
        ratio * (1.0 - share) / (1.0 - ratio * share)
    } else {
        ((ratio - share) / (1.0 - share)).min(f64::MAX)
    }
}

/// Exponential that stays finite, because infinity cannot be written in JSON.
pub(crate) fn finite_exp(log: f64) -> f64 {
    log.exp().min(f64::MAX)
}

/// The p-value of no change, and what the whole suite made of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PValues {
    /// That of this benchmark alone.
    pub(crate) own: f64,
    /// Adjusted for all that were tested.
    pub(crate) adjusted: f64,
}

impl PValues {
    /// Whether they show a change.
    pub(crate) fn show_change(self, decision: &Decision) -> bool {
        self.own <= decision.alpha && self.adjusted <= decision.false_discovery_rate
    }
}

/// The verdict by the interval of the ratio that is judged, that of the number beside it, and p.
pub(crate) fn decided(
    judged: RatioInterval,
    beside: Option<RatioInterval>,
    p_values: PValues,
    decision: &Decision,
) -> Verdict {
    let threshold = decision.threshold;
    let changed = p_values.show_change(decision);
    let (slower, faster) = (changed && judged.low > 1.0, changed && judged.high < 1.0);
    let tolerated = judged.is_within(threshold) && beside.is_none_or(|beside| beside.is_within(threshold));
    let extent = if tolerated { Extent::WithinTolerance } else { Extent::Open { forks_sufficient: None } };
    match (slower, faster) {
        (true, _) if judged.is_above(threshold) => Verdict::Regression,
        (_, true) if judged.is_below(threshold) => Verdict::Improvement,
        (true, _) => Verdict::Slower(extent),
        (_, true) => Verdict::Faster(extent),
        _ if tolerated => Verdict::NoChange,
        _ => Verdict::Inconclusive { forks_sufficient: None },
    }
}
