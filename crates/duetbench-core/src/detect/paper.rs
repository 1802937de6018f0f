//! The rule of the papers on µOpTime and its forerunners: intervals that do not overlap, and a change that is large enough.

use super::Change;
use crate::recording::{Better, Recorded};
use crate::stats::{StatsError, mean, mean_interval, median, median_interval};

/// Statistic that sums up all values of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// Their mean.
    Mean,
    /// Their median.
    Median,
}

words!(Statistic: Mean "mean", Median "median");

impl Statistic {
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

impl Summary {
    /// Relative change of the result to that of a candidate.
    pub fn rate_to(&self, head: &Summary) -> f64 {
        (head.result - self.result) / self.result
    }
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
    pub fn rate(&self) -> f64 {
        self.base.rate_to(&self.head)
    }
}

impl PaperRule {
    /// Applies the rule to all values of both sides.
    ///
    /// # Errors
    /// When a side has no values, or too large ones.
    pub fn finding(&self, base: &Recorded, head: &Recorded) -> Result<PaperFinding, StatsError> {
        let (a, b) = (self.summary(&base.grid.values())?, self.summary(&head.grid.values())?);
        Ok(PaperFinding { base: a, head: b, change: self.change(&a, &b, base.better) })
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
    pub fn change(&self, base: &Summary, head: &Summary, better: Better) -> Option<Change> {
        if base.high > head.low && head.high > base.low {
            return None;
        }
        (base.rate_to(head).abs() >= self.threshold).then(|| Change::of(head.result > base.result, better))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_must_not_overlap_and_the_change_must_be_relevant() {
        let rule = PaperRule { statistic: Statistic::Median, confidence: 0.99, threshold: 0.03 };
        let of = |low, result, high| Summary { result, low, high };
        let base = of(99.0, 100.0, 101.0);
        let check = |head: Summary, want| {
            assert_eq!(rule.change(&base, &head, Better::Lower), want, "{head:?}");
        };
        check(of(101.0, 110.0, 120.0), Some(Change::Regression));
        check(of(100.9, 110.0, 120.0), None);
        check(of(101.5, 102.0, 102.5), None);
        check(of(99.0, 104.0, 105.0), None);
        check(of(80.0, 90.0, 99.0), Some(Change::Improvement));
        // Exactly the threshold: 1.25 of 100 would not be exact, 103.125 of 100 is at 3.125 %.
        let exact = PaperRule { threshold: 0.031_25, ..rule };
        assert_eq!(exact.change(&base, &of(102.0, 103.125, 104.0), Better::Lower), Some(Change::Regression));
    }
}
