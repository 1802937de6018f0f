//! From evidence to a verdict.
//!
//! With `[L, U]` the interval of the ratio at confidence `1 - alpha`, `delta` the threshold:
//!
//! | verdict | when |
//! | --- | --- |
//! | no change | `1 / (1 + delta) < L` and `U < 1 + delta`, even if 1 is outside `[L, U]` |
//! | regression | else, if `p <= alpha`, the adjusted `p <= fdr`, and `L > 1` |
//! | improvement | the same with `U < 1` |
//! | inconclusive | else |
//!
//! # The two promises
//!
//! **A regression (or improvement) means:** of the benchmarks whose code did not change in speed, at most the share `alpha` is
//! expected to be called one or the other; and among all that are called so in a suite, the expected share of false ones is at
//! most `fdr` (Benjamini and Hochberg 1995). It does not mean that the change exceeds the threshold, only that a change up to
//! the threshold was not shown to be all there is.
//!
//! **No change means:** a benchmark that really changed by the threshold or more gets this answer with probability at most
//! `alpha / 2` (two one-sided tests, each at `alpha / 2`; Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15,
//! 1987). It is evidence for equivalence, not a lack of evidence; the lack is *inconclusive*.
//!
//! Both promises hold over all looks at the data together: intervals and p-values are those of a group-sequential test. Where
//! every unit has a build pair of its own they are about the two versions of the source; with a single build pair they are
//! about these two artifacts, and another build of the same source may lie elsewhere in memory and run at another speed.

use crate::spec::{Decision, defaults};
use crate::stats::{Level, StatsError, smallest_sample};
use crate::verdict::Verdict;

use super::{Counts, Estimate, Evidence};

/// The verdict on one benchmark.
///
/// # Errors
/// When a number of the decision is out of its range (see [`Decision::check`]).
pub fn judge(evidence: &Evidence, estimate: &Estimate, decision: &Decision) -> Result<Verdict, StatsError> {
    let interval = (estimate.ratio_low, estimate.ratio_high);
    match decided(interval, (estimate.p_value, estimate.p_adjusted), decision) {
        Some(verdict) => Ok(verdict),
        None => Ok(Verdict::Inconclusive { forks_sufficient: forks_sufficient(evidence, estimate, decision)? }),
    }
}

/// The verdict, where there is one, by the interval of the ratio and by p and its adjusted value.
pub(crate) fn decided(
    (low, high): (f64, f64),
    (p_value, p_adjusted): (f64, f64),
    decision: &Decision,
) -> Option<Verdict> {
    let tolerated = 1.0 + decision.threshold;
    if 1.0 / tolerated < low && high < tolerated {
        return Some(Verdict::NoChange);
    }
    let changed = p_value <= decision.alpha && p_adjusted <= decision.false_discovery_rate;
    match changed {
        true if low > 1.0 => Some(Verdict::Regression),
        true if high < 1.0 => Some(Verdict::Improvement),
        _ => None,
    }
}

/// Fork pairs with which a verdict would be reached with the stated power, if the present spread and ratio were the true ones
/// and every unit went on having as many forks.
///
/// The interval must come clear either of 1 or of the near edge of the band that counts as no change, whichever takes less. A
/// ratio at 1 or at the threshold is settled about when the minimal detectable change has come down to the threshold;
/// half-way between them it takes four times as many forks.
fn forks_sufficient(evidence: &Evidence, estimate: &Estimate, decision: &Decision) -> Result<Option<u32>, StatsError> {
    let resolving = |distance: f64, alpha: f64| {
        let level = Level { alpha, power: decision.power };
        if distance > 0.0 {
            smallest_sample(evidence.log_ratio.spread(), distance, (level, defaults::FORKS_SUFFICIENT_MAX))
        } else {
            Ok(None)
        }
    };
    let change = evidence.log_ratio.mean.abs();
    // Where the rest of the suite demands a smaller p than alpha, the ratio of p to its adjusted value tells how small.
    let demanded = decision.false_discovery_rate * estimate.p_value / estimate.p_adjusted;
    let alpha = if demanded > 0.0 { decision.alpha.min(demanded) } else { decision.alpha };
    let for_change = resolving(change, alpha)?;
    let for_no_change = resolving(decision.threshold.ln_1p() - change, decision.alpha)?;
    // The forecast may already be fulfilled, by bad luck; then one more is the least that can help.
    let Counts { units, forks, .. } = evidence.counts;
    let forks_per_unit = f64::from(forks) / f64::from(units.max(1));
    let units_sufficient = for_change.into_iter().chain(for_no_change).min().map(|n| n.max(units.saturating_add(1)));
    Ok(units_sufficient.map(|units| (f64::from(units) * forks_per_unit).ceil() as u32))
}
