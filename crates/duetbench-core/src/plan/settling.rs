//! The time that a process needs to become as fast as it will be, as first trials tell it.

use std::collections::BTreeSet;

use crate::sample::{Role, Sample};
use crate::stats;

/// Longer warm-ups that are tried where a process is still getting faster, nanoseconds: in the first, caches of some megabytes are filled,
/// in the second those of some ten.
pub const SETTLING_NS: [u64; 2] = [32_000_000, 128_000_000];

/// Ratio of the first third of slices to the last from which on a process is said to be getting faster still.
const SLOW_START: f64 = 1.03;
/// Fewest slices of which a third says anything.
pub const SETTLING_SLICES_MIN: u64 = 9;

/// Whether both versions were still getting faster while they were measured: the work that the candidate does more then happens in part
/// where work is cheaper, and a change reads smaller. Of one version alone it may be a neighbour who left.
pub fn is_settling(samples: &[Sample]) -> bool {
    let trials: BTreeSet<u32> = samples.iter().map(|s| s.at.suite_run).collect();
    Role::BOTH.into_iter().all(|role| {
        let ratios: Vec<f64> = trials.iter().filter_map(|&trial| slow_start(samples, role, trial)).collect();
        stats::median(&ratios).is_ok_and(|ratio| ratio > SLOW_START)
    })
}

/// Ratio of the median time of the first third of a version's slices in a trial to that of the last, of the shortest where they have two
/// lengths.
fn slow_start(samples: &[Sample], role: Role, trial: u32) -> Option<f64> {
    let is_of = |s: &&Sample| (s.at.role, s.at.suite_run) == (role, trial);
    let counted = || samples.iter().filter(is_of).filter(|s| !s.warm_up && s.invocations > 0);
    let shortest = counted().map(|s| s.invocations).min()?;
    let times: Vec<f64> = counted().filter(|s| s.invocations == shortest).map(|s| s.ns_per_op()).collect();
    if (times.len() as u64) < SETTLING_SLICES_MIN {
        return None;
    }
    let third = times.len() / 3;
    Some(stats::median(&times[..third]).ok()? / stats::median(&times[times.len() - third..]).ok()?)
}
