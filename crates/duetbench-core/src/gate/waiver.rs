//! Slowdowns that were accepted.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::breach::exceeds;
use super::{Breach, Day, Found, Standing};
use crate::sample::BenchmarkId;
use crate::spec::Metric;
use crate::verdict::Verdict;

/// One slowdown that was accepted, up to a size and until a day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waiver {
    /// The benchmark: package and name, as `example.com/codec.BenchmarkEncode/json`, or as reports print it.
    pub benchmark: String,
    /// The metric that it accepts.
    #[serde(default = "Waiver::usual_metric")]
    pub metric: Metric,
    /// Change for the worse that is accepted, a fraction.
    pub ceiling: f64,
    /// The last day on which that is accepted.
    pub expires: Day,
    /// Why it is.
    pub reason: String,
    /// Where more can be read about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// Why a waiver is none.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum WaiverError {
    /// Its ceiling is out of range.
    #[error("the waiver of `{benchmark}` has the `ceiling` {value}, but it must lie above 0")]
    Ceiling {
        /// The benchmark.
        benchmark: String,
        /// The given value.
        value: f64,
    },
    /// It has no reason.
    #[error("the waiver of `{benchmark}` has no `reason`")]
    Reason {
        /// The benchmark.
        benchmark: String,
    },
    /// There are two of them.
    #[error("`{benchmark}` has two waivers for its {}", .metric.word())]
    Twice {
        /// The benchmark.
        benchmark: String,
        /// The metric of both.
        metric: Metric,
    },
}

/// Why a waiver has to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stale {
    /// Its last day is over.
    Expired,
    /// Its benchmark was compared and did not get worse.
    Unused,
    /// Its name fits several benchmarks, so that it accepts nothing.
    Ambiguous,
}

/// A waiver that has to go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StaleWaiver {
    /// The waiver.
    pub waiver: Waiver,
    /// Why.
    pub why: Stale,
    /// The benchmarks that its name fits, where that is why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fits: Vec<BenchmarkId>,
}

impl Waiver {
    fn usual_metric() -> Metric {
        Metric::Time
    }

    /// Checks what its file says of each and of all together.
    ///
    /// # Errors
    /// Names the first one that is none.
    pub fn check(waivers: &[Waiver]) -> Result<(), WaiverError> {
        for (i, waiver) in waivers.iter().enumerate() {
            let benchmark = || waiver.benchmark.clone();
            if !(waiver.ceiling > 0.0 && waiver.ceiling.is_finite()) {
                return Err(WaiverError::Ceiling { benchmark: benchmark(), value: waiver.ceiling });
            }
            if waiver.reason.trim().is_empty() {
                return Err(WaiverError::Reason { benchmark: benchmark() });
            }
            let same = |other: &Waiver| (&other.benchmark, &other.metric) == (&waiver.benchmark, &waiver.metric);
            if waivers[..i].iter().any(same) {
                return Err(WaiverError::Twice { benchmark: benchmark(), metric: waiver.metric.clone() });
            }
        }
        Ok(())
    }

    /// The standing of a breach that it is about.
    pub(super) fn standing(&self, change: f64, today: Day) -> Standing {
        let Waiver { ceiling, expires, .. } = *self;
        if today > expires {
            Standing::Expired { expires }
        } else if exceeds(change, ceiling) {
            Standing::AboveCeiling { ceiling }
        } else {
            Standing::Waived { ceiling, expires }
        }
    }
}

/// A waiver beside the benchmarks of a report that its name means.
pub(super) struct Held<'a> {
    pub(super) waiver: &'a Waiver,
    fits: Vec<&'a BenchmarkId>,
}

impl<'a> Held<'a> {
    /// Waivers beside these benchmarks.
    pub(super) fn all(waivers: &'a [Waiver], benchmarks: &[&'a BenchmarkId]) -> Vec<Held<'a>> {
        let held = |waiver: &'a Waiver| Held { waiver, fits: BenchmarkId::meant(&waiver.benchmark, benchmarks) };
        waivers.iter().map(held).collect()
    }

    /// Whether it is about this metric of this benchmark. Whoever accepts a slowdown has seen one: a name that fits several benchmarks is
    /// about none.
    pub(super) fn is_about(&self, id: &BenchmarkId, metric: &Metric) -> bool {
        self.waiver.metric == *metric && self.fits == [id]
    }

    /// Why it has to go, if it does.
    pub(super) fn staleness(&self, found: Found<'_>, breaches: &[Breach], today: Day) -> Option<StaleWaiver> {
        let (Held { waiver, fits }, Found { benchmarks, reported, instructions }) = (self, found);
        let stale = |why, fits| Some(StaleWaiver { waiver: Waiver::clone(waiver), why, fits });
        if today > waiver.expires {
            return stale(Stale::Expired, Vec::new());
        }
        if fits.len() > 1 {
            return stale(Stale::Ambiguous, fits.iter().copied().cloned().collect());
        }
        let used = breaches.iter().any(|breach| self.is_about(&breach.id, &breach.metric));
        let is_answer = |verdict: &Verdict| verdict.is_comparison() && !verdict.is_open() && !verdict.is_redefined();
        let answers: Vec<bool> = if let Metric::Reported(unit) = &waiver.metric {
            let meant = reported.iter().filter(|one| one.unit == *unit && fits[..] == [&one.id]);
            meant.map(|one| is_answer(&one.verdict) && !found.is_redefined(&one.id)).collect()
        } else if waiver.metric == Metric::Instructions {
            let meant = instructions.iter().filter(|one| fits[..] == [&one.id]);
            meant.map(|one| one.counts().is_some()).collect()
        } else {
            let meant = benchmarks.iter().filter(|one| fits[..] == [&one.id]);
            meant.map(|one| one.was_compared() && is_answer(&one.verdict)).collect()
        };
        let answered = !answers.is_empty() && answers.into_iter().all(|answer| answer);
        if !used && answered { stale(Stale::Unused, Vec::new()) } else { None }
    }
}
