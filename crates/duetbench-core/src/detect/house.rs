//! The house's own rule for recordings that were not made side by side.

use super::{Change, Detected, Units};
use crate::recording::{Better, Level};
use crate::stats::{Level as TestLevel, StatsError, adjusted_p_values, detectable_factor, yuen_welch_t};

/// Fewest units of a side with which anything is judged.
pub const UNITS_MIN: usize = 3;
/// Power with which the minimal detectable change would have been found.
const POWER: f64 = 0.8;

/// The rule: Welch's t (trimmed from ten units on) on the logarithms of the units' means, Benjamini and Hochberg's adjustment over the
/// suite, and a threshold below which a change is none.
#[derive(Debug, Clone, PartialEq)]
pub struct HouseRule {
    /// Smallest change worth a verdict.
    pub threshold: f64,
    /// Error of each benchmark's interval.
    pub alpha: f64,
    /// Accepted share of false alarms among all changes.
    pub fdr: f64,
}

/// What the rule says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Answer {
    /// It changed.
    Changed(Change),
    /// Whatever changed is smaller than the threshold.
    NoChange,
    /// The data decide nothing.
    Inconclusive,
    /// A side has too few units to be judged.
    TooFew {
        /// Of what.
        level: Level,
        /// How many the side with fewer has.
        have: usize,
    },
}

/// What the rule says about a benchmark, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct HouseFinding {
    /// What.
    pub answer: Answer,
    /// Units of base and of head.
    pub units: [usize; 2],
    /// The test behind it; absent with too few units.
    pub test: Option<Tested>,
}

/// The test of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tested {
    /// Candidate divided by baseline, of the geometric means of the units.
    pub ratio: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Two-sided p-value of the ratio being 1.
    pub p_value: f64,
    /// The same, adjusted over the suite.
    pub p_adjusted: f64,
    /// Smallest true change that would have been found with power 0.8.
    pub detectable: f64,
}

impl HouseRule {
    /// Tests one benchmark. The p-value is adjusted, and the answer given, when all of the suite are there.
    pub(super) fn finding(&self, base: &Units, head: &Units) -> Result<HouseFinding, String> {
        let units = [base.logs.len(), head.logs.len()];
        let have = units[0].min(units[1]);
        if have < UNITS_MIN {
            let level = if units[0] <= units[1] { base.level } else { head.level };
            return Ok(HouseFinding { answer: Answer::TooFew { level, have }, units, test: None });
        }
        let test = self.test(base, head).map_err(|e| e.to_string())?;
        Ok(HouseFinding { answer: Answer::Inconclusive, units, test: Some(test) })
    }

    fn test(&self, base: &Units, head: &Units) -> Result<Tested, StatsError> {
        let t = yuen_welch_t(&base.logs, &head.logs)?;
        let ((low, high), p_value) = (t.interval(self.alpha)?, t.p_value()?);
        let level = TestLevel { alpha: self.alpha, power: POWER };
        let detectable = (detectable_factor(t.degrees_of_freedom, level)? * t.standard_error).exp_m1();
        let ratio = t.difference.exp();
        Ok(Tested { ratio, low: low.exp(), high: high.exp(), p_value, p_adjusted: p_value, detectable })
    }

    /// Adjusts the p-values of all that were tested, and gives the answers.
    pub(super) fn adjust(&self, suite: &mut [Detected]) {
        let tests = || suite.iter().filter_map(|d| d.house.as_ref()?.test.as_ref());
        let raw: Vec<f64> = tests().map(|t| t.p_value).collect();
        // What a test made is a probability, so this cannot fail; unadjusted p-values would be the wrong way out.
        let mut adjusted = adjusted_p_values(&raw).unwrap_or_else(|_| vec![1.0; raw.len()]).into_iter();
        for detected in suite {
            let Some(house) = &mut detected.house else { continue };
            let Some(test) = &mut house.test else { continue };
            test.p_adjusted = adjusted.next().unwrap_or(1.0);
            house.answer = self.answer(test, detected.better);
        }
    }

    fn answer(&self, test: &Tested, better: Better) -> Answer {
        let band = 1.0 + self.threshold;
        if test.low * band > 1.0 && test.high < band {
            Answer::NoChange
        } else if test.p_value <= self.alpha && test.p_adjusted <= self.fdr {
            Answer::Changed(Change::of(test.ratio > 1.0, better))
        } else {
            Answer::Inconclusive
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_follow_interval_and_both_p_values() {
        let rule = HouseRule { threshold: 0.03, alpha: 0.01, fdr: 0.05 };
        let check = |(low, high): (f64, f64), (p_value, p_adjusted): (f64, f64), want| {
            let test = Tested { ratio: (low + high) / 2.0, low, high, p_value, p_adjusted, detectable: 0.1 };
            assert_eq!(rule.answer(&test, Better::Lower), want);
        };
        check((0.99, 1.02), (0.5, 0.6), Answer::NoChange);
        check((1.005, 1.02), (0.001, 0.002), Answer::NoChange);
        check((1.01, 1.09), (0.001, 0.002), Answer::Changed(Change::Regression));
        check((0.91, 0.99), (0.001, 0.002), Answer::Changed(Change::Improvement));
        check((1.01, 1.09), (0.009, 0.06), Answer::Inconclusive);
        check((0.95, 1.09), (0.3, 0.4), Answer::Inconclusive);
    }
}
