//! Finds metrics that got worse by more than is tolerated.

use serde::{Deserialize, Serialize};

use super::{Day, Found};
use crate::analysis::{BenchmarkReport, Counted};
use crate::instructions::Direction;
use crate::sample::BenchmarkId;
use crate::spec::{Action, Metric, Policy, Thresholds};
use crate::verdict::Verdict;

/// One thing that got worse.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Breach {
    /// The benchmark.
    pub id: BenchmarkId,
    /// The metric that got worse.
    pub metric: Metric,
    /// Its change for the worse, a fraction of the baseline; infinite where that was 0.
    pub change: f64,
    /// The change that is tolerated, a fraction.
    pub threshold: f64,
    /// Whether it stops the change, and why.
    pub standing: Standing,
}

/// Consequence of a breach.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Standing {
    /// It stops the change.
    Fails,
    /// The policy only wants it to be known.
    Informs,
    /// It was accepted.
    Waived {
        /// Up to so much, a fraction.
        ceiling: f64,
        /// Until the end of this day.
        expires: Day,
    },
    /// It was accepted, but not so much of it.
    AboveCeiling {
        /// The accepted change, a fraction.
        ceiling: f64,
    },
    /// It was accepted until the end of this day, which is over.
    Expired {
        /// The day.
        expires: Day,
    },
}

/// A change that is larger by less is not larger.
const HAIR: f64 = 1e-9;

/// Whether a change is larger than a limit, and not only by what computing it adds: 11 of 10 are no more than 10 % more.
pub(super) fn exceeds(change: f64, limit: f64) -> bool {
    change > limit + HAIR
}

impl Breach {
    /// Whether it got worse by more than this.
    pub fn exceeds(&self, limit: f64) -> bool {
        exceeds(self.change, limit)
    }
}

impl Standing {
    /// Whether it stops the change.
    pub fn fails(&self) -> bool {
        !matches!(self, Standing::Informs | Standing::Waived { .. })
    }
}

/// Breaches of a benchmark: its time if the verdict says so, counts if they differ and grew by more than is tolerated.
pub(super) fn breaches_of(benchmark: &BenchmarkReport, thresholds: Thresholds<'_>) -> Vec<Breach> {
    let id = &benchmark.id;
    let mut found = Vec::new();
    let policy = thresholds.policy();
    let tolerated = match &benchmark.verdict {
        Verdict::Regression => Some(thresholds.of(id, &Metric::Time)),
        // A rule that wants to stop what is not shown to exceed the threshold tolerates nothing.
        Verdict::Slower(_) if policy.slower(id) == Some(Action::Gate) => Some(0.0),
        _ => None,
    };
    if let Some((tolerated, change)) = tolerated.zip(benchmark.change()) {
        let standing = standing(policy, id, &Metric::Time);
        found.push(Breach { id: id.clone(), metric: Metric::Time, change, threshold: tolerated, standing });
    }
    for (metric, counted) in [(Metric::Allocs, benchmark.allocs), (Metric::Bytes, benchmark.bytes)] {
        let Some(change) = counted.filter(|c| c.changed).map(|c| growth(&c)) else { continue };
        let threshold = thresholds.of(id, &metric);
        if exceeds(change, threshold) {
            let standing = standing(policy, id, &metric);
            found.push(Breach { id: id.clone(), metric, change, threshold, standing });
        }
    }
    if benchmark.verdict.is_redefined() {
        found.iter_mut().for_each(|breach| breach.standing = Standing::Informs);
    }
    found
}

/// The breach by a benchmark's instructions, where a rule names them and they grew by more than is tolerated, and by more than counts differ by.
pub(super) fn growth_of_work(
    benchmark: &BenchmarkReport,
    found: Found<'_>,
    thresholds: Thresholds<'_>,
) -> Option<Breach> {
    let (id, policy) = (&benchmark.id, thresholds.policy());
    let counts = found.instructions.iter().find(|one| one.id == *id)?.counts()?;
    let (change, threshold) = (counts.change(), thresholds.of(id, &Metric::Instructions));
    let breached =
        policy.counts_instructions(id) && counts.direction() == Direction::More && exceeds(change, threshold);
    let usual = standing(policy, id, &Metric::Instructions);
    let standing = if benchmark.verdict.is_redefined() { Standing::Informs } else { usual };
    breached.then(|| Breach { id: id.clone(), metric: Metric::Instructions, change, threshold, standing })
}

/// Breaches among the metrics that benchmarks report themselves: those whose verdict says so.
pub(super) fn breaches_of_reported<'a>(found: Found<'a>, policy: &'a Policy) -> impl Iterator<Item = Breach> + 'a {
    found.reported.iter().filter(|one| one.verdict == Verdict::Regression).map(move |one| {
        let metric = Metric::Reported(one.unit.clone());
        // Where signs judged, there was no threshold.
        let threshold = one.change.map_or(0.0, |_| one.threshold);
        let usual = standing(policy, &one.id, &metric);
        let standing = if found.is_redefined(&one.id) { Standing::Informs } else { usual };
        Breach { id: one.id.clone(), metric, change: one.worse_by(), threshold, standing }
    })
}

/// Whether it stops the change that this metric got worse, while nobody has accepted it.
fn standing(policy: &Policy, id: &BenchmarkId, metric: &Metric) -> Standing {
    if policy.action(id, metric) == Action::Gate { Standing::Fails } else { Standing::Informs }
}

/// By how much a count grew, a fraction of the baseline.
fn growth(counted: &Counted) -> f64 {
    if counted.baseline > 0.0 { counted.candidate / counted.baseline - 1.0 } else { f64::INFINITY }
}
