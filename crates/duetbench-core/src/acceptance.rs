//! Slowdowns that somebody may want to accept, and the waivers that would.

use super::{Breach, Day, Found, Gate, Waiver};
use crate::analysis::BenchmarkReport;
use crate::report::Report;
use crate::reported::ReportedMetric;
use crate::spec::Metric;

impl Gate {
    /// Everything that stops the change of this report: as its gate says, or by the thresholds of its run where the repository has
    /// neither rules nor waivers.
    #[must_use]
    pub fn stopping(report: &Report) -> Vec<Breach> {
        let by_thresholds = || Gate::decide(Found::of(report), report.spec.thresholds(), &[], Day::FIRST);
        report.gate.clone().unwrap_or_else(by_thresholds).failing().cloned().collect()
    }
}

impl Waiver {
    /// The most by which a breach may really be worse, rounded up to a whole percent: the end of the interval of a time or unit, a
    /// count as it is.
    #[must_use]
    pub fn ceiling_of(breach: &Breach, report: &Report) -> f64 {
        let judged = || report.benchmarks.iter().find(|one| one.id == breach.id).and_then(BenchmarkReport::judged);
        let reported = |unit: &String| report.reported.iter().find(|one| one.id == breach.id && one.unit == *unit);
        let end: Option<f64> = match &breach.metric {
            Metric::Time => judged().map(|judged| judged.interval.high - 1.0),
            Metric::Reported(unit) => reported(unit).and_then(ReportedMetric::worse_by_at_most),
            Metric::Allocs | Metric::Bytes | Metric::Instructions => None,
        };
        // Fresh trials may show more than the first ones did.
        let most = end.unwrap_or(breach.change).max(breach.change);
        // A hair less, so that 8 % computed as 8.000000001 % stays 8 %.
        (100.0 * most - 1e-9).ceil() / 100.0
    }

    /// The waivers that would let the change of this report pass, with this last day and reason. A count that grew from nothing has
    /// no ceiling, and so none of them.
    #[must_use]
    pub fn proposed(report: &Report, expires: Day, reason: &str) -> Vec<Waiver> {
        let waiver = |breach: Breach| Waiver {
            benchmark: breach.id.to_string(),
            ceiling: Waiver::ceiling_of(&breach, report),
            metric: breach.metric,
            expires,
            reason: reason.to_owned(),
            link: None,
        };
        Gate::stopping(report).into_iter().map(waiver).filter(|waiver| waiver.ceiling.is_finite()).collect()
    }
}
