//! From verdicts to a decision: does this change pass?
//!
//! A verdict says what is so. Whether that stops anybody is for the repository to say: its [`Policy`] tells which benchmarks and
//! metrics gate and which only inform, its [`Waiver`]s which slowdowns were accepted, up to which size and until when.
//! [`Gate::decide`] holds both against a report.

mod breach;
mod day;
mod waiver;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use breach::{Breach, Standing};
pub use day::Day;
use waiver::Held;
pub use waiver::{Stale, StaleWaiver, Waiver, WaiverError};

use crate::analysis::BenchmarkReport;
use crate::instructions::BenchmarkInstructions;
use crate::reported::ReportedMetric;
use crate::sample::BenchmarkId;
use crate::spec::{Action, Metric, Policy, Thresholds};
use crate::verdict::{Extent, Verdict};

/// Policy and waivers applied to a report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// Metrics that got worse by more than is tolerated, in the report's order.
    pub breaches: Vec<Breach>,
    /// Waivers that have to go.
    pub stale: Vec<StaleWaiver>,
    /// Open questions about which a rule says something, in the report's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<OpenQuestion>,
    /// Slowdowns that waivers accept whatever their open size is, in the report's order.
    #[serde(skip)]
    pub accepted: Vec<Accepted>,
    /// Open questions that stop nothing, since rules only want to be informed about the metric and say nothing else of open questions.
    #[serde(skip)]
    pub informing: BTreeSet<(BenchmarkId, Metric)>,
}

/// A slowdown of open size that a waiver accepts, since it is at most as large as that says.
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    /// The benchmark.
    pub id: BenchmarkId,
    /// The metric that got worse.
    pub metric: Metric,
    /// Change for the worse that it is at most, a fraction.
    pub at_most: f64,
    /// Change for the worse that is accepted, a fraction.
    pub ceiling: f64,
    /// The last day on which that is accepted.
    pub expires: Day,
}

/// Answers that a decision is about.
#[derive(Debug, Clone, Copy, Default)]
pub struct Found<'a> {
    /// Times and counts.
    pub benchmarks: &'a [BenchmarkReport],
    /// Metrics that benchmarks report themselves.
    pub reported: &'a [ReportedMetric],
    /// Instructions of benchmarks.
    pub instructions: &'a [BenchmarkInstructions],
}

impl<'a> Found<'a> {
    /// The benchmarks that waivers may name. In one version alone there is nothing to accept.
    fn in_both(self) -> Vec<&'a BenchmarkId> {
        let is_in_both =
            |one: &&BenchmarkReport| !matches!(one.verdict, Verdict::BaselineOnly | Verdict::CandidateOnly);
        let all: BTreeSet<&BenchmarkId> = (self.benchmarks.iter().filter(is_in_both).map(|one| &one.id))
            .chain(self.reported.iter().map(|one| &one.id))
            .chain(self.instructions.iter().map(|one| &one.id))
            .collect();
        all.into_iter().collect()
    }

    /// Metrics that benchmarks report themselves and that are an open question.
    fn open_units(self) -> impl Iterator<Item = &'a ReportedMetric> {
        self.reported.iter().filter(move |one| one.verdict.is_open() && !self.is_redefined(&one.id))
    }

    /// Slowdowns of open size, each with the change for the worse that it is at most, a fraction.
    pub fn of_open_size(self) -> impl Iterator<Item = (BenchmarkId, Metric, f64)> {
        let is_slower = |verdict: &Verdict| matches!(verdict, Verdict::Slower(Extent::Open { .. }));
        let times = self.benchmarks.iter().filter(move |one| is_slower(&one.verdict)).filter_map(|one| {
            let at_most = one.open_range()?.high - 1.0;
            Some((one.id.clone(), Metric::Time, at_most))
        });
        let compared = self.reported.iter().filter(move |one| is_slower(&one.verdict) && !self.is_redefined(&one.id));
        times.chain(compared.filter_map(|one| {
            let metric = Metric::Reported(one.unit.clone());
            Some((one.id.clone(), metric, one.worse_by_at_most()?))
        }))
    }

    /// Whether a benchmark is another one in both versions, so that what it reports is not compared.
    pub(crate) fn is_redefined(&self, id: &BenchmarkId) -> bool {
        self.benchmarks.iter().any(|one| one.id == *id && one.verdict.is_redefined())
    }
}

/// A benchmark without an answer, with the consequence that a rule gives it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenQuestion {
    /// The benchmark.
    pub id: BenchmarkId,
    /// Whether it is about what the benchmark reports itself, and not about its time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_units: bool,
    /// Whether that stops the change.
    pub action: Action,
}

impl Gate {
    /// Holds policy and waivers against what was found. `today` is the day on which waivers must still hold.
    ///
    /// A waiver is unused when its benchmark was compared and did not get worse. Where that is an open question, or the
    /// benchmark did not take part, nothing is said of it.
    pub fn decide(found: Found<'_>, thresholds: Thresholds<'_>, waivers: &[Waiver], today: Day) -> Gate {
        let (Found { benchmarks, .. }, policy) = (found, thresholds.policy());
        let of_benchmark = |one| {
            breach::breaches_of(one, thresholds).into_iter().chain(breach::growth_of_work(one, found, thresholds))
        };
        let of_benchmarks = benchmarks.iter().flat_map(of_benchmark);
        let mut breaches: Vec<Breach> = of_benchmarks.chain(breach::breaches_of_reported(found, policy)).collect();
        let held = Held::all(waivers, &found.in_both());
        for breach in breaches.iter_mut().filter(|b| b.standing == Standing::Fails) {
            let about = held.iter().filter(|held| held.is_about(&breach.id, &breach.metric));
            let standings: Vec<Standing> = about.map(|held| held.waiver.standing(breach.change, today)).collect();
            // One may be by the short name, and one by the full.
            let accepting = standings.iter().find(|standing| !standing.fails());
            breach.standing = accepting.or(standings.first()).copied().unwrap_or(Standing::Fails);
        }
        let stale = held.iter().filter_map(|held| held.staleness(found, &breaches, today)).collect();
        let accepted = accepted(found, &held, today);
        let informing = informing(found, policy);
        let mut gate = Gate { breaches, stale, open: Vec::new(), accepted, informing };
        let ruled = |id: &BenchmarkId| {
            let action = policy.inconclusive(id)?;
            Some(OpenQuestion { id: id.clone(), of_units: false, action })
        };
        gate.open = gate.open_times(benchmarks).filter_map(ruled).collect();
        gate
    }

    /// Benchmarks whose time is an open question that no waiver accepts, and about which a rule does not only want to be informed.
    fn open_times<'a>(&'a self, benchmarks: &'a [BenchmarkReport]) -> impl Iterator<Item = &'a BenchmarkId> {
        let is_open = |one: &&BenchmarkReport| one.verdict.is_open() && !self.passes(&one.id, &Metric::Time);
        benchmarks.iter().filter(is_open).map(|one| &one.id)
    }

    /// The same for something that they report themselves.
    fn open_units<'a>(&'a self, found: Found<'a>) -> impl Iterator<Item = &'a BenchmarkId> {
        let passes = |one: &&ReportedMetric| self.passes(&one.id, &Metric::Reported(one.unit.clone()));
        found.open_units().filter(move |one| !passes(one)).map(|one| &one.id)
    }

    /// Has every open question stop the change about which no rule says something else (`strict`).
    pub fn demand_answers(&mut self, found: Found<'_>) {
        let times = self.open_times(found.benchmarks).map(|id| (id.clone(), false));
        let units = self.open_units(found).map(|id| (id.clone(), true));
        for (id, of_units) in times.chain(units).collect::<BTreeSet<_>>() {
            // Whoever stops the change for one question need not do so for another.
            let is_told = |q: &OpenQuestion| q.id == id && (q.of_units == of_units || q.action == Action::Gate);
            if !self.open.iter().any(is_told) {
                self.open.push(OpenQuestion { id, of_units, action: Action::Gate });
            }
        }
    }

    /// Whether an open question stops the change: as a rule says, or else where answers are demanded (`strict`).
    pub fn lacks_answers(&self, found: Found<'_>, strict: bool) -> bool {
        self.open_times(found.benchmarks).any(|id| self.wants_answer(id, strict))
            || (strict && self.open_units(found).next().is_some())
    }

    /// Whether the open time of this benchmark stops the change: as a rule says, or else as it is `usually`.
    pub fn wants_answer(&self, id: &BenchmarkId, usually: bool) -> bool {
        let ruled = self.open.iter().find(|question| question.id == *id && !question.of_units);
        let usually = usually && !self.passes(id, &Metric::Time);
        ruled.map_or(usually, |question| question.action == Action::Gate)
    }

    /// Whether a slowdown of this benchmark is accepted whatever it is exactly: then its size is no open question.
    pub fn accepts(&self, benchmark: &BenchmarkReport) -> bool {
        self.has_accepted(&benchmark.id, &Metric::Time)
    }

    fn passes(&self, id: &BenchmarkId, metric: &Metric) -> bool {
        self.has_accepted(id, metric) || self.informing.contains(&(id.clone(), metric.clone()))
    }

    fn has_accepted(&self, id: &BenchmarkId, metric: &Metric) -> bool {
        self.accepted.iter().any(|one| (&one.id, &one.metric) == (id, metric))
    }

    /// Open questions that stop the change, whatever else is strict.
    pub fn unanswered(&self) -> impl Iterator<Item = &OpenQuestion> {
        self.open.iter().filter(|question| question.action == Action::Gate)
    }

    /// Breaches that stop the change.
    pub fn failing(&self) -> impl Iterator<Item = &Breach> {
        self.breaches.iter().filter(|breach| breach.standing.fails())
    }

    /// Breaches that were accepted.
    pub fn waived(&self) -> impl Iterator<Item = &Breach> {
        self.breaches.iter().filter(|breach| matches!(breach.standing, Standing::Waived { .. }))
    }
}

/// Open questions about metrics of which rules only want to be informed.
fn informing(found: Found<'_>, policy: &Policy) -> BTreeSet<(BenchmarkId, Metric)> {
    let informs = |(id, metric): &(BenchmarkId, Metric)| policy.action(id, metric) == Action::Inform;
    let times = found.benchmarks.iter().filter(|one| policy.inconclusive(&one.id).is_none());
    let times = times.map(|one| (one.id.clone(), Metric::Time));
    let units = found.open_units().map(|one| (one.id.clone(), Metric::Reported(one.unit.clone())));
    times.chain(units).filter(informs).collect()
}

/// Slowdowns of open size that are at most as large as waivers accept.
fn accepted(found: Found<'_>, held: &[Held<'_>], today: Day) -> Vec<Accepted> {
    let accepted = |(id, metric, at_most): (BenchmarkId, Metric, f64)| {
        let mut about = held.iter().filter(|held| held.is_about(&id, &metric)).map(|held| held.waiver);
        let waiver = about.find(|waiver| !waiver.standing(at_most, today).fails())?;
        let Waiver { ceiling, expires, .. } = *waiver;
        Some(Accepted { id, metric, at_most, ceiling, expires })
    };
    found.of_open_size().filter_map(accepted).collect()
}
