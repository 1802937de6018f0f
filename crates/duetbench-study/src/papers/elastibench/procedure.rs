//! The paper's procedure: what an experiment says of each benchmark.

use duetbench_core::detect::Change;
use duetbench_core::recording::Better;
use duetbench_core::stats::{Interval, StatsError, median, median_interval};

use super::{Experiment, Results, Spread};
use crate::papers::no_answer;

/// The procedure of section 6.1: with enough results, the bootstrap percentile interval of their median; a change where it does not
/// hold 0.
///
/// All results are pooled, those of one machine or function instance too. Where results of an instance resemble each other the
/// interval is too narrow, and equal versions are called changed more often than it says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Procedure {
    /// Confidence of the interval, a fraction.
    pub confidence: f64,
    /// Results that a benchmark must have.
    pub results_min: usize,
}

/// Result of the procedure for one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The benchmark.
    pub benchmark: String,
    /// Results that it rests on.
    pub results: usize,
    /// Their median, a relative difference.
    pub median: f64,
    /// The median's interval.
    pub interval: Interval,
}

/// A benchmark of which nothing is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The benchmark.
    pub benchmark: String,
    /// Results that it has.
    pub results: usize,
    /// Why.
    pub reason: String,
}

/// Results of the procedure for one experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    /// The experiment's name.
    pub experiment: String,
    /// Benchmarks with enough results, in the experiment's order.
    pub found: Vec<Finding>,
    /// The others, likewise.
    pub left_out: Vec<LeftOut>,
}

impl Procedure {
    /// As the paper has it: 99 %, ten results.
    pub const PAPER: Procedure = Procedure { confidence: 0.99, results_min: 10 };

    /// Applies the procedure to every benchmark.
    pub fn findings(&self, experiment: &Experiment) -> Findings {
        let (mut found, mut left_out) = (Vec::new(), Vec::new());
        for results in &experiment.benchmarks {
            match self.finding(results) {
                Ok(finding) => found.push(finding),
                Err(error) => left_out.push(LeftOut::of(results, error)),
            }
        }
        Findings { experiment: experiment.name.clone(), found, left_out }
    }

    /// Applies the procedure to one benchmark.
    ///
    /// # Errors
    /// With too few results, with one that is not finite, or at a confidence that is none.
    pub fn finding(&self, results: &Results) -> Result<Finding, StatsError> {
        let differences = &results.differences;
        if differences.len() < self.results_min {
            return Err(StatsError::TooFew { have: differences.len(), needed: self.results_min });
        }
        Ok(Finding {
            benchmark: results.benchmark.clone(),
            results: differences.len(),
            median: median(differences)?,
            interval: median_interval(differences, self.confidence)?,
        })
    }
}

impl LeftOut {
    /// A benchmark for which the procedure has no answer, with what is known of its missing results.
    pub(super) fn of(results: &Results, error: StatsError) -> LeftOut {
        let there = results.differences.len();
        let reason = no_answer(error, "results", there, results.missing.as_ref());
        LeftOut { benchmark: results.benchmark.clone(), results: there, reason }
    }
}

impl Finding {
    /// The change, if there is one: the interval does not hold 0, touching included (figure 3).
    pub fn change(&self) -> Option<Change> {
        let changed = self.interval.low > 0.0 || self.interval.high < 0.0;
        changed.then(|| Change::of(self.interval.low > 0.0, Better::Lower))
    }

    /// Whether the median of another experiment lies in this one's interval, its ends included.
    pub fn covers(&self, other: &Finding) -> bool {
        (self.interval.low..=self.interval.high).contains(&other.median)
    }

    /// Whether the two intervals have a value in common.
    pub fn overlaps(&self, other: &Finding) -> bool {
        self.interval.low <= other.interval.high && other.interval.low <= self.interval.high
    }
}

impl Findings {
    /// The finding for a benchmark.
    pub fn of(&self, benchmark: &str) -> Option<&Finding> {
        self.found.iter().find(|finding| finding.benchmark == benchmark)
    }

    /// Benchmarks with a change.
    pub fn changed(&self) -> usize {
        self.found.iter().filter(|finding| finding.change().is_some()).count()
    }

    /// Share of benchmarks with a change; in an A/A run (section 6.2.1) all of them are false. Absent without benchmarks.
    pub fn changed_share(&self) -> Option<f64> {
        (!self.found.is_empty()).then(|| self.changed() as f64 / self.found.len() as f64)
    }

    /// Sizes of the medians of all benchmarks (figure 4), whatever their sign; absent without any.
    pub fn sizes(&self) -> Option<Spread> {
        Spread::of(self.found.iter().map(|finding| finding.median))
    }

    /// The same of benchmarks with a change, or of those without (figure 5).
    pub fn sizes_where(&self, changed: bool) -> Option<Spread> {
        let wanted = self.found.iter().filter(|finding| finding.change().is_some() == changed);
        Spread::of(wanted.map(|finding| finding.median))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{around, experiment};
    use super::*;

    #[test]
    fn a_change_needs_ten_results_and_an_interval_without_0() {
        let check = |differences: &[f64], want: Result<Option<Change>, usize>| {
            let findings = Procedure::PAPER.findings(&experiment("r1", &[("A", differences)]));
            let got = findings.of("A").map(Finding::change).ok_or_else(|| findings.left_out[0].results);
            assert_eq!(got, want, "{differences:?}");
        };
        check(&[0.01; 10], Ok(Some(Change::Regression)));
        check(&[-0.01; 10], Ok(Some(Change::Improvement)));
        check(&[0.01; 9], Err(9));
        check(&[], Err(0));
        // The ends of eleven are the second and the tenth value, four steps from the middle; the steps are exact, so that 0 is met.
        let step = 1.0 / 1024.0;
        check(&around(5.0 * step, step, 11), Ok(Some(Change::Regression)));
        check(&around(4.0 * step, step, 11), Ok(None));
        check(&around(-4.0 * step, step, 11), Ok(None));
        check(&around(-5.0 * step, step, 11), Ok(Some(Change::Improvement)));
        check(&[f64::NAN; 12], Err(12));
    }

    #[test]
    fn known_numbers_come_out() {
        let finding = Procedure::PAPER.finding(&experiment("r1", &[("A", &around(0.005, 0.001, 11))]).benchmarks[0]);
        let Finding { results, median, interval, .. } = finding.unwrap();
        assert_eq!(results, 11);
        for (got, want) in [(median, 0.005), (interval.low, 0.001), (interval.high, 0.009)] {
            assert!((got - want).abs() < 1e-12, "{got} {want}");
        }
    }

    #[test]
    fn reasons_name_the_number_and_what_is_known() {
        let mut few = experiment("r1", &[("A", &[0.0; 4]), ("B", &[])]);
        few.benchmarks[0].missing = Some("a trial failed".into());
        few.benchmarks[1].missing = Some("only in base".into());
        let findings = Procedure::PAPER.findings(&few);
        let reasons: Vec<&str> = findings.left_out.iter().map(|out| out.reason.as_str()).collect();
        assert_eq!(reasons, ["4 results, at least 10 are needed; a trial failed", "only in base"]);
        assert_eq!((findings.changed_share(), findings.sizes()), (None, None));
    }

    #[test]
    fn sizes_have_no_sign_and_are_told_apart_by_change() {
        let benchmarks: [(&str, &[f64]); 4] =
            [("A", &[0.02; 10]), ("B", &[-0.04; 10]), ("C", &[0.0; 10]), ("D", &around(0.3, 0.5, 11))];
        let findings = Procedure::PAPER.findings(&experiment("r1", &benchmarks));
        assert_eq!((findings.changed(), findings.changed_share()), (2, Some(0.5)));
        let largest = |spread: Option<Spread>| spread.map(|s| s.largest);
        assert!(largest(findings.sizes()).is_some_and(|size| (size - 0.3).abs() < 1e-12));
        assert_eq!(
            (largest(findings.sizes_where(true)), findings.sizes_where(true).map(|s| s.median)),
            (Some(0.04), Some(0.03))
        );
        assert_eq!(findings.sizes_where(false).map(|s| s.count), Some(2));
    }
}
