//! The house's own rule for recordings that were not made side by side.

use super::{Detected, Units};
use crate::recording::{Better, Level};
use crate::spec::Decision;
use crate::stats::{Level as TestLevel, StatsError, adjusted_p_values, cautious_t, detectable_factor};
use crate::verdict::Verdict;
use crate::verdict::rule::{PValues, RatioInterval, decided};

/// Fewest units of a side with which anything is judged.
pub const UNITS_MIN: usize = 3;
/// Power with which the minimal detectable change would have been found.
const POWER: f64 = 0.8;

/// The rule: Welch's t (trimmed from ten units on, with the pooled error where that is larger) on the logarithms of the units' means,
/// Benjamini and Hochberg's adjustment over the suite, and the rule of all verdicts.
#[derive(Debug, Clone, PartialEq)]
pub struct HouseRule {
    /// Smallest change worth a verdict.
    pub threshold: f64,
    /// Error of calling a benchmark changed that is not.
    pub alpha: f64,
    /// Accepted share of false alarms among all changes.
    pub fdr: f64,
}

/// Result of the rule.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The verdict of the rule that all of duet has (`verdict::rule`); *slower* means worse.
    Judged(Verdict),
    /// A side has too few units to be judged.
    TooFew {
        /// The level whose repetitions are the units.
        level: Level,
        /// Units of the side with fewer.
        have: usize,
    },
}

impl Answer {
    /// The word used in machine formats.
    pub fn word(&self) -> &'static str {
        match self {
            Answer::Judged(verdict) => verdict.word(),
            Answer::TooFew { .. } => "too_few_units",
        }
    }

    /// Whether more data would tell more.
    pub fn is_open(&self) -> bool {
        match self {
            Answer::Judged(verdict) => verdict.is_open(),
            Answer::TooFew { .. } => true,
        }
    }
}

/// Result of the rule for a benchmark, with the evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct HouseFinding {
    /// The result.
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
    /// Smallest true change that would have been called a regression with power 0.8, as `Evidence::estimate` has it.
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
        let open = Answer::Judged(Verdict::Inconclusive { forks_sufficient: None });
        Ok(HouseFinding { answer: open, units, test: Some(test) })
    }

    fn test(&self, base: &Units, head: &Units) -> Result<Tested, StatsError> {
        let t = cautious_t(&base.logs, &head.logs)?;
        let (low, high) = t.interval(self.decision().interval_alpha())?;
        let p_value = if t.standard_error == 0.0 && base.may_be_rounded(head) { 1.0 } else { t.p_value()? };
        let in_errors = |alpha| detectable_factor(t.degrees_of_freedom, TestLevel { alpha, power: POWER });
        let standard_error = t.cautious_standard_error()?;
        let beyond_threshold = self.threshold.ln_1p() + in_errors(self.decision().interval_alpha())? * standard_error;
        let detectable = beyond_threshold.max(in_errors(self.alpha)? * standard_error).exp_m1();
        let ratio = t.difference.exp();
        Ok(Tested { ratio, low: low.exp(), high: high.exp(), p_value, p_adjusted: p_value, detectable })
    }

    /// Adjusts the p-values of all that were tested, and gives the answers.
    pub(super) fn adjust(&self, suite: &mut [Detected]) {
        let tests = || suite.iter().filter_map(|d| d.house.as_ref()?.test.as_ref());
        let raw: Vec<f64> = tests().map(|t| t.p_value).collect();
        // A test gives probabilities, so this cannot fail; unadjusted p-values would be the wrong way out.
        let mut adjusted = adjusted_p_values(&raw).unwrap_or_else(|_| vec![1.0; raw.len()]).into_iter();
        for detected in suite {
            let Some(house) = &mut detected.house else { continue };
            let Some(test) = &mut house.test else { continue };
            test.p_adjusted = adjusted.next().unwrap_or(1.0);
            house.answer = self.answer(test, detected.better);
        }
    }

    /// The numbers of the decision that all of duet makes.
    pub fn decision(&self) -> Decision {
        let HouseRule { threshold, alpha, fdr } = *self;
        Decision { threshold, alpha, false_discovery_rate: fdr, power: POWER, typed: false }
    }

    fn answer(&self, test: &Tested, better: Better) -> Answer {
        let worsening = match better {
            Better::Lower => RatioInterval { low: test.low, high: test.high },
            Better::Higher => RatioInterval { low: test.high.recip(), high: test.low.recip() },
        };
        let p_values = PValues { own: test.p_value, adjusted: test.p_adjusted };
        Answer::Judged(decided(worsening, None, p_values, &self.decision()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_follow_interval_and_both_p_values() {
        let rule = HouseRule { threshold: 0.03, alpha: 0.01, fdr: 0.05 };
        let check = |(low, high): (f64, f64), (p_value, p_adjusted): (f64, f64), words: [&str; 2]| {
            let test = Tested { ratio: (low + high) / 2.0, low, high, p_value, p_adjusted, detectable: 0.1 };
            for (better, word) in [Better::Lower, Better::Higher].into_iter().zip(words) {
                let Answer::Judged(verdict) = rule.answer(&test, better) else { panic!("{better:?}") };
                assert_eq!(verdict.word(), word);
            }
        };
        check((0.99, 1.02), (0.5, 0.6), ["no_change"; 2]);
        check((1.005, 1.02), (0.001, 0.002), ["slower_within_tolerance", "faster_within_tolerance"]);
        check((1.01, 1.09), (0.001, 0.002), ["slower_size_open", "faster_size_open"]);
        check((1.04, 1.09), (0.001, 0.002), ["regression", "improvement"]);
        check((0.91, 0.96), (0.001, 0.002), ["improvement", "regression"]);
        check((1.04, 1.09), (0.009, 0.06), ["inconclusive"; 2]);
        check((0.95, 1.09), (0.3, 0.4), ["inconclusive"; 2]);
    }
}
