//! Whether what was judged was steady.

use std::collections::BTreeMap;

use crate::sample::{Role, Sample};
use crate::stats;

/// Fewest iterations of which a half has a level.
const ITERATIONS_MIN: usize = 4;

/// Processes of one version that went on changing while they were judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// The version, the one with more such processes.
    pub role: Role,
    /// Processes whose second half differed from the first by more than the threshold, in the direction that more of them have.
    pub forks: u32,
    /// Processes that were looked at.
    pub of: u32,
    /// Ratio of the second half to the first, the median over those that changed.
    pub ratio: f64,
}

/// Finds processes that changed their level while they were judged: whose median time in the second half of the iterations that count
/// is more than `threshold` (a fraction) away from that in the first half. Absent where no process has enough iterations.
///
/// Disturbances shift a process up as often as down, a warm-up that was too short shifts all of them down: so only one direction is
/// counted, the one that more processes have.
pub fn drift(samples: &[Sample], threshold: f64) -> Option<Drift> {
    let of_role = |role: Role| drift_of(samples.iter().filter(|s| s.at.role == role), role, threshold);
    let both: Vec<Drift> = Role::BOTH.into_iter().filter_map(of_role).collect();
    let share = |drift: &Drift| f64::from(drift.forks) / f64::from(drift.of);
    both.into_iter().max_by(|a, b| share(a).total_cmp(&share(b)))
}

impl Drift {
    /// Whether this is the rule and no exception.
    pub fn is_usual(&self) -> bool {
        2 * self.forks > self.of
    }
}

fn drift_of<'a>(samples: impl Iterator<Item = &'a Sample>, role: Role, threshold: f64) -> Option<Drift> {
    let mut forks: BTreeMap<_, Vec<(u32, f64)>> = BTreeMap::new();
    for sample in samples.filter(|s| !s.warm_up && s.wall_ns > 0 && s.invocations > 0) {
        let at = sample.at;
        let time = sample.wall_ns as f64 / sample.invocations as f64;
        forks.entry((at.instance, at.round, at.suite_run, at.fork, at.build)).or_default().push((at.iteration, time));
    }
    let changes: Vec<f64> = forks.into_values().filter_map(change).collect();
    if changes.is_empty() {
        return None;
    }
    let beyond = (1.0 + threshold).ln();
    let (faster, slower): (Vec<f64>, Vec<f64>) =
        changes.iter().filter(|change| change.abs() > beyond).partition(|change| **change < 0.0);
    let more = if faster.len() >= slower.len() { faster } else { slower };
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let ratio = stats::median(&more).map_or(1.0, f64::exp);
    Some(Drift { role, forks: count(more.len()), of: count(changes.len()), ratio })
}

/// Log ratio of the second half of a process's iterations to the first, by their medians.
fn change(mut iterations: Vec<(u32, f64)>) -> Option<f64> {
    if iterations.len() < ITERATIONS_MIN {
        return None;
    }
    iterations.sort_by_key(|(iteration, _)| *iteration);
    let times: Vec<f64> = iterations.into_iter().map(|(_, time)| time).collect();
    let half = times.len() / 2;
    let (first, second) = (stats::median(&times[..half]).ok()?, stats::median(&times[times.len() - half..]).ok()?);
    Some((second / first).ln())
}
