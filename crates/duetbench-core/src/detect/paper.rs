//! The rule of the papers on µOpTime and its forerunners: intervals that do not overlap, and a change that is large enough.

use super::Change;
use crate::recording::{Better, Recorded};
use crate::stats::{StatsError, mean, mean_interval, median, median_interval};
use crate::tune::Compat;

/// Statistic that sums up all values of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// Their mean.
    Mean,
    /// Their median.
    Median,
}

impl Statistic {
    /// The word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Statistic::Mean => "mean",
            Statistic::Median => "median",
        }
    }

    /// Its value.
    ///
    /// # Errors
    /// Without values, or with one that is not finite.
    pub fn of(self, values: &[f64]) -> Result<f64, StatsError> {
        match self {
            Statistic::Mean => mean(values),
            Statistic::Median => median(values),
        }
    }
}

/// The rule. Source: µOpTime, section 4.5, after Grambow, Laaber, Leitner and Bermbach, PeerJ Computer Science 7 (2021).
#[derive(Debug, Clone, PartialEq)]
pub struct PaperRule {
    /// The statistic of all values.
    pub statistic: Statistic,
    /// Confidence of its bootstrap percentile interval, a fraction.
    pub confidence: f64,
    /// Smallest relative change that is relevant.
    pub threshold: f64,
    /// Whose rule: the published code counts larger values only, and only above the threshold.
    pub compat: Compat,
}

/// The statistic of one side, with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// The statistic.
    pub result: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
}

/// Result of the rule for a benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperFinding {
    /// The baseline.
    pub base: Summary,
    /// The candidate.
    pub head: Summary,
    /// A relevant change, if there is one.
    pub change: Option<Change>,
}

impl PaperFinding {
    /// Relative change of the result.
    #[must_use]
    pub fn rate(&self) -> f64 {
        rate(&self.base, &self.head)
    }
}

fn rate(base: &Summary, head: &Summary) -> f64 {
    (head.result - base.result) / base.result
}

impl PaperRule {
    /// Applies the rule to all values of both sides.
    ///
    /// # Errors
    /// When a side has no values, or too large ones.
    pub fn finding(&self, (base, head): (&Recorded, &Recorded)) -> Result<PaperFinding, StatsError> {
        let (a, b) = (self.summary(&base.grid.values())?, self.summary(&head.grid.values())?);
        Ok(PaperFinding { base: a, head: b, change: self.change((&a, &b), base.better) })
    }

    /// The statistic of some values with its interval.
    ///
    /// # Errors
    /// Without values, with one that is not finite, or at a confidence that is none.
    pub fn summary(&self, values: &[f64]) -> Result<Summary, StatsError> {
        let interval = match self.statistic {
            Statistic::Mean => mean_interval(values, self.confidence)?,
            Statistic::Median => median_interval(values, self.confidence)?,
        };
        Ok(Summary { result: self.statistic.of(values)?, low: interval.low, high: interval.high })
    }

    /// The relevant change between two summaries: their intervals do not overlap (touching, they do not), and the results differ by
    /// the threshold.
    #[must_use]
    pub fn change(&self, (base, head): (&Summary, &Summary), better: Better) -> Option<Change> {
        if base.high > head.low && head.high > base.low {
            return None;
        }
        let rate = rate(base, head);
        match self.compat {
            // The code knows times only.
            Compat::PaperCode => (rate > self.threshold).then_some(Change::Regression),
            Compat::Paper => (rate.abs() >= self.threshold).then(|| Change::of(head.result > base.result, better)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(compat: Compat) -> PaperRule {
        PaperRule { statistic: Statistic::Median, confidence: 0.99, threshold: 0.03, compat }
    }

    #[test]
    fn intervals_must_not_overlap_and_the_change_must_be_relevant() {
        let of = |low, result, high| Summary { result, low, high };
        let check = |compat, (base, head): (Summary, Summary), want| {
            assert_eq!(rule(compat).change((&base, &head), Better::Lower), want, "{base:?} {head:?}");
        };
        let base = of(99.0, 100.0, 101.0);
        for compat in [Compat::Paper, Compat::PaperCode] {
            check(compat, (base, of(101.0, 110.0, 120.0)), Some(Change::Regression));
            check(compat, (base, of(100.9, 110.0, 120.0)), None);
            check(compat, (base, of(101.5, 102.0, 102.5)), None);
            check(compat, (base, of(99.0, 104.0, 105.0)), None);
        }
        check(Compat::Paper, (base, of(80.0, 90.0, 99.0)), Some(Change::Improvement));
        check(Compat::PaperCode, (base, of(80.0, 90.0, 99.0)), None);
        // Exactly the threshold: 1.25 of 100 would not be exact, 103.125 of 100 is at 3.125 %.
        let exact = |compat| PaperRule { threshold: 0.031_25, ..rule(compat) };
        let head = of(102.0, 103.125, 104.0);
        assert_eq!(exact(Compat::Paper).change((&base, &head), Better::Lower), Some(Change::Regression));
        assert_eq!(exact(Compat::PaperCode).change((&base, &head), Better::Lower), None);
    }
}
