//! Slowdowns that somebody may want to accept, and the waivers that would.

use crate::gate::{Breach, Day, Gate, Standing, Waiver};
use crate::report::Report;
use crate::reported::ReportedMetric;
use crate::spec::Metric;

impl Report {
    /// Everything that stops the change of this report: as its gate says, or by the thresholds of its run where the repository has
    /// neither rules nor waivers.
    pub fn stopping(&self) -> Vec<Breach> {
        let by_thresholds = || Gate::decide(self.found(), self.spec.thresholds(), &[], Day::FIRST);
        self.gate.clone().unwrap_or_else(by_thresholds).failing().cloned().collect()
    }

    /// The most by which a breach may really be worse, rounded up to a whole percent: the end of the interval of a time or unit, a
    /// count as it is.
    pub fn ceiling_of(&self, breach: &Breach) -> f64 {
        let range = || {
            let one = self.benchmark(&breach.id)?;
            // A waiver for less than an open question leaves open would leave it one.
            if one.verdict.is_open() { one.open_range() } else { one.judged().map(|judged| judged.interval) }
        };
        let reported = |unit: &String| self.reported.iter().find(|one| one.id == breach.id && one.unit == *unit);
        let end: Option<f64> = match &breach.metric {
            Metric::Time => range().map(|range| range.high - 1.0),
            Metric::Reported(unit) => reported(unit).and_then(ReportedMetric::worse_by_at_most),
            Metric::Allocs | Metric::Bytes | Metric::Instructions => None,
        };
        // Fresh trials may show more than the first ones did.
        let most = end.unwrap_or(breach.change).max(breach.change);
        // A hair less, so that 8 % computed as 8.000000001 % stays 8 %.
        (100.0 * most - 1e-9).ceil() / 100.0
    }

    /// Everything that stops the change and that a new waiver would accept: not a count that grew from nothing, which no ceiling holds, nor
    /// a slowdown of which a waiver says something already.
    pub fn acceptable(&self) -> Vec<Breach> {
        let is_new = |breach: &Breach| breach.standing == Standing::Fails && self.ceiling_of(breach).is_finite();
        self.stopping().into_iter().filter(is_new).collect()
    }

    /// The waivers that would let the change of this report pass, as far as new ones can, with this last day and reason.
    pub fn waivers_to_pass(&self, expires: Day, reason: &str) -> Vec<Waiver> {
        let waiver = |breach: Breach| Waiver {
            benchmark: breach.id.to_string(),
            ceiling: self.ceiling_of(&breach),
            metric: breach.metric,
            expires,
            reason: reason.to_owned(),
            link: None,
        };
        self.acceptable().into_iter().map(waiver).collect()
    }
}
