//! Chooses the length of a trial, once some were measured.

use super::ForkPair;
use super::unit::means_of;
use crate::plan::{Design, ExecutionConfiguration, Mode};
use crate::spec::defaults;
use crate::stats::{self, StatsError};

/// Fork pairs after which trials get the length that suits them.
pub const PILOT_FORKS: usize = 8;
/// Fewest slices of a trial; a median of fewer is not much better than one slice.
const SLICES_MIN: u32 = 16;
/// A trial grows to at most this many times its planned length.
const GROWTH_MAX: u32 = 4;
/// Variance of a median as a multiple of that of a mean, for normal values.
const MEDIAN_TO_MEAN: f64 = std::f64::consts::FRAC_PI_2;

/// Execution configuration of a benchmark by the fork pairs it has and the mean time of a trial, nanoseconds.
///
/// Slices within a trial and trials are two levels with variances and costs of their own, so the number of slices that makes the
/// most of the time follows from them ([`stats::repetitions`]): the larger of those for the typical slice and for the complete
/// number. It is settled once, after the first fork pairs. Where collections were counted the length stays: a trial must span whole
/// ones.
pub fn refined(planned: ExecutionConfiguration, forks: &[ForkPair], trial_ns: f64) -> ExecutionConfiguration {
    let Some(pilot) = forks.get(..PILOT_FORKS) else { return planned };
    let slices = slices_worth_taking(pilot, planned, trial_ns).unwrap_or(None);
    match slices {
        Some((wanted, had)) if had >= SLICES_MIN => {
            // Fork pairs whose places cancel hardly vary; but more of them reach the next look sooner than longer ones.
            let most = if planned.design.places > 1 { had } else { had.saturating_mul(GROWTH_MAX) };
            // A duet exchanges cores from block to block, the first of which warms up.
            let least = if pilot.iter().all(is_duet) { had.min(2 * SLICES_MIN) } else { SLICES_MIN };
            let wanted = wanted.clamp(least, most);
            let trial_ns = planned.trial_ns.saturating_mul(u64::from(wanted)) / u64::from(had);
            ExecutionConfiguration { trial_ns, ..planned }
        }
        _ => planned,
    }
}

/// Slices that a trial should have, and those it had; absent where collections decide.
fn slices_worth_taking(
    pilot: &[ForkPair],
    planned: ExecutionConfiguration,
    trial_ns: f64,
) -> Result<Option<(u32, u32)>, StatsError> {
    if pilot.iter().any(|f| f.collections > 0) {
        return Ok(None);
    }
    let median = |number: fn(&ForkPair) -> f64| stats::median(&pilot.iter().map(number).collect::<Vec<_>>());
    let had = median(|f| f64::from(f.slices))?;
    let slice_variance = MEDIAN_TO_MEAN * median(|f| f.slice_spread)?.powi(2);
    let of_forks = fork_variance(pilot, planned.design, |f| f.log_ratio)?;
    // The complete number has the same forks, and slow slices besides.
    let of_complete = fork_variance(pilot, planned.design, |f| f.log_ratio_complete)?;
    let complete_variance = slice_variance + had * (of_complete - of_forks).max(0.0);
    // Variance between forks beyond what their slices explain; never 0, because that too is only an estimate.
    let beyond_slices = (of_forks - slice_variance / had).max(of_forks / 10.0);
    let recorded_ns = median(|f| recorded_ns(f) / f64::from(f.slices))?;
    let warm_parts = if pilot.iter().all(is_duet) { 1.0 } else { 2.0 };
    let slice_pair_ns = recorded_ns + warm_parts * planned.warm_ns as f64;
    let overhead_ns = (trial_ns - had * slice_pair_ns).max(0.0);
    let fork = stats::Repetition { variance: beyond_slices, cost: overhead_ns };
    let slice = stats::Repetition { variance: complete_variance, cost: slice_pair_ns };
    Ok(Some((stats::repetitions(fork, slice)?, had as u32)))
}

fn is_duet(fork: &ForkPair) -> bool {
    fork.mode == Mode::Duet
}

/// Wall time of a fork pair's slices, nanoseconds: in a duet both sides are measured at once.
fn recorded_ns(fork: &ForkPair) -> f64 {
    let (baseline, candidate) = (fork.baseline.measured_ns(), fork.candidate.measured_ns());
    if is_duet(fork) { baseline.max(candidate) } else { baseline + candidate }
}

/// Variance of a number of a fork pair, without what cancels where programs exchange their places from one to the next.
fn fork_variance(pilot: &[ForkPair], design: Design, number: fn(&ForkPair) -> f64) -> Result<f64, StatsError> {
    let numbers: Vec<f64> = pilot.iter().map(number).collect();
    Ok(f64::from(design.places) * stats::trimmed_t(&means_of(&numbers, design.places))?.spread().powi(2))
}

const _: () = assert!(SLICES_MIN >= defaults::BLOCK_SLICES);
