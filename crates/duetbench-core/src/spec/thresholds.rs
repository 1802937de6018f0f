//! The smallest change worth a verdict: of every metric of every benchmark.

use super::{Decision, Metric, Policy};
use crate::recording::Better;
use crate::sample::BenchmarkId;

/// Thresholds of everything that is judged: the one place that decides which of several holds.
#[derive(Debug, Clone, Copy)]
pub struct Thresholds<'a> {
    decision: &'a Decision,
    policy: &'a Policy,
}

/// A rule's demands on one unit of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// The unit.
    pub unit: String,
    /// The better direction of its values.
    pub better: Better,
    /// Smallest change worth a verdict, a fraction.
    pub threshold: f64,
}

static NO_RULES: Policy = Policy::none();

impl<'a> From<&'a Decision> for Thresholds<'a> {
    /// Those of a suite without rules.
    fn from(decision: &'a Decision) -> Thresholds<'a> {
        Thresholds { decision, policy: &NO_RULES }
    }
}

impl<'a> Thresholds<'a> {
    /// The thresholds by what was asked for the whole suite, and by rules for some of it.
    pub fn new(decision: &'a Decision, policy: &'a Policy) -> Thresholds<'a> {
        Thresholds { decision, policy }
    }

    /// Growth of a metric that is tolerated, a fraction. A threshold that was typed or set as a variable holds for all times; else the last
    /// rule's holds, and where no rule has one the suite's. Counts are exact, so that without a rule nothing is tolerated.
    pub fn of(&self, id: &BenchmarkId, metric: &Metric) -> f64 {
        let usual = if metric.is_count() { 0.0 } else { self.decision.threshold };
        self.ruled(id, metric).unwrap_or(usual)
    }

    /// The threshold of a rule, where it is a rule's that holds.
    pub fn ruled(&self, id: &BenchmarkId, metric: &Metric) -> Option<f64> {
        let typed = self.decision.typed && *metric == Metric::Time;
        if typed { None } else { self.policy.threshold(id, metric) }
    }

    /// The rule by which times of this benchmark are judged.
    pub fn decision(&self, id: &BenchmarkId) -> Decision {
        Decision { threshold: self.of(id, &Metric::Time), ..*self.decision }
    }

    /// The rule for the suite as a whole.
    pub fn suite(&self) -> &'a Decision {
        self.decision
    }

    /// The rules for some of the suite.
    pub fn policy(&self) -> &'a Policy {
        self.policy
    }

    /// The units that rules name for this benchmark, with what is wanted of them.
    pub fn wanted(&self, id: &BenchmarkId) -> Vec<Wanted> {
        let wanted = |unit: &str| {
            let metric = Metric::Reported(unit.to_owned());
            let better = self.policy.better(id, &metric).unwrap_or_else(|| Better::of_unit(unit));
            Wanted { unit: unit.to_owned(), better, threshold: self.of(id, &metric) }
        };
        self.policy.units_of(id).into_iter().map(wanted).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Rule;

    #[test]
    fn what_was_typed_beats_rules_and_rules_beat_the_suite() {
        let rule = |benchmarks: &str, metric: Option<Metric>, threshold| Rule {
            benchmarks: Some(benchmarks.into()),
            metric,
            threshold: Some(threshold),
            ..Rule::default()
        };
        let rows = Metric::Reported("rows/s".into());
        let policy = Policy::new(&[rule("Codec", None, 0.1), rule("Slow", Some(Metric::Time), 0.2)]).unwrap();
        let check = |typed, name: &str, [time, allocs, reported]: [f64; 3]| {
            let decision = Decision { threshold: 0.05, typed, ..Decision::default() };
            let id = BenchmarkId { package: "p".into(), name: name.into() };
            let of = |metric| Thresholds::new(&decision, &policy).of(&id, metric);
            assert_eq!([of(&Metric::Time), of(&Metric::Allocs), of(&rows)], [time, allocs, reported], "{name} {typed}");
        };
        check(false, "Other", [0.05, 0.0, 0.05]);
        check(false, "Codec", [0.1, 0.1, 0.1]);
        check(false, "CodecSlow", [0.2, 0.1, 0.1]);
        check(true, "Other", [0.05, 0.0, 0.05]);
        // All times, and nothing but times.
        check(true, "CodecSlow", [0.05, 0.1, 0.1]);
    }
}
