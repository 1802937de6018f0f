//! Comparison of counted quantities: allocations and bytes.

use super::Counted;
use crate::spec::defaults;
use crate::stats;

/// Compares the allocations per invocation that the forks of both sides gave; `None` when a side has none.
///
/// A count is exact but for what the runtime itself adds now and then, so a benchmark of five allocations reads 5.0003. It is
/// `changed` when the medians differ by more than three times the spread of either side, the spread being the range that remains
/// when the lowest and the highest fifth of the forks are left out (none below eight forks: of five that jump between two values four
/// are alike too often), and by at least [`defaults::COUNT_RESOLUTION`]. If the forks of each side agree, any whole allocation is a
/// change; a single disturbed fork among eight hides nothing, and a fork alone tells of whole ones. This is a rule, not a test with a
/// level; `tests/it/counts.rs` states how often it errs for noise that is normal and independent, and for counts that jump.
pub fn compare_counts(baseline: &[f64], candidate: &[f64]) -> Option<Counted> {
    compare(baseline, candidate, 0.0)
}

/// Compares the bytes per invocation that the forks of both sides gave, by the rule of [`compare_counts`].
///
/// The medians must also differ by at least the share [`defaults::BYTES_RESOLUTION`] of the larger one: half a byte in a megabyte is a
/// stray allocation of the runtime spread over many invocations, and such counts decide what number of a fork is judged.
pub fn compare_bytes(baseline: &[f64], candidate: &[f64]) -> Option<Counted> {
    compare(baseline, candidate, defaults::BYTES_RESOLUTION)
}

/// Compares counts of which differences below this share of the larger one are none.
fn compare(baseline: &[f64], candidate: &[f64], share_min: f64) -> Option<Counted> {
    let (b, c) = (stats::median(baseline).ok()?, stats::median(candidate).ok()?);
    let noise = 3.0 * spread(baseline).max(spread(candidate));
    let resolution = defaults::COUNT_RESOLUTION.max(share_min * b.max(c));
    // A single fork says nothing of how much counts differ, so that only whole ones tell.
    let resolution = if baseline.len().min(candidate.len()) > 1 { resolution } else { resolution.max(WHOLE) };
    let difference = (c - b).abs();
    Some(Counted { baseline: b, candidate: c, changed: difference > noise && difference >= resolution })
}

/// Smallest difference that is more than what is averaged over invocations.
const WHOLE: f64 = 0.5;
/// Counts from which on a fifth is left out at each end.
const TRIMMED_FROM: usize = 8;

/// Range of the counts without a fifth at each end.
fn spread(counts: &[f64]) -> f64 {
    let mut ascending = counts.to_vec();
    ascending.sort_by(f64::total_cmp);
    let left_out = if ascending.len() < TRIMMED_FROM { 0 } else { ascending.len() / 5 };
    let kept = &ascending[left_out..ascending.len() - left_out];
    kept.last().zip(kept.first()).map_or(0.0, |(high, low)| high - low)
}
