//! Rules by which a configuration is enough.

use super::{Metric, Stability};
use crate::recording::{Level, Recorded};

/// Rules by which a configuration is enough.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// The metric.
    pub metric: Metric,
    /// Largest value of it that is stable, a fraction.
    pub threshold: f64,
    /// Confidence of the intervals behind it, a fraction.
    pub confidence: f64,
    /// Levels that are not reduced.
    pub keep: Vec<Level>,
}

/// Fewest repetitions of a benchmark, of which a spread can be computed (µOpTime, Algorithm 1, line 8).
pub const REPETITIONS_MIN: usize = 3;

impl Rules {
    /// The paper's: at most 1 %, intervals of 99 %, all instances.
    pub fn of(metric: Metric) -> Rules {
        Rules { metric, threshold: 0.01, confidence: 0.99, keep: vec![Level::Instance] }
    }

    /// Why these rules cannot be followed, if so.
    pub(super) fn fault(&self) -> Option<String> {
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            return Some(format!("a confidence of {} is not between 0 and 1", self.confidence));
        }
        (!self.threshold.is_finite() || self.threshold < 0.0)
            .then(|| format!("a threshold of {} is not a share", self.threshold))
    }
}

/// Whatever decides that a configuration is enough. What an implementation does not say otherwise is as the paper has it, by its
/// [`Rules`].
pub trait Criteria: Sync {
    /// The rules.
    fn rules(&self) -> &Rules;

    /// The measure of how unstable values are.
    fn stability(&self) -> &dyn Stability {
        self.rules().metric.stability()
    }

    /// Whether a value of that measure is stable.
    fn is_stable(&self, value: f64) -> bool {
        value <= self.rules().threshold
    }

    /// Whether repetitions of a level may be left out.
    fn reduces(&self, level: Level) -> bool {
        !self.rules().keep.contains(&level)
    }

    /// The full configuration of a benchmark.
    fn full(&self, _levels: &[Level], recorded: &Recorded) -> Vec<usize> {
        recorded.grid.shape().to_vec()
    }

    /// Whether a configuration has at least three repetitions, counted over all levels that are reduced.
    fn has_enough_repetitions(&self, levels: &[Level], configuration: &[usize]) -> bool {
        let counted = levels.iter().zip(configuration).filter(|(level, _)| self.reduces(**level));
        counted.map(|(_, n)| n).product::<usize>() >= REPETITIONS_MIN
    }

    /// Wall time of a configuration, seconds.
    fn time_s(&self, levels: &[Level], recorded: &Recorded, configuration: &[usize]) -> f64 {
        recorded.time_s(levels, configuration)
    }
}

impl Criteria for Rules {
    fn rules(&self) -> &Rules {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_itself_is_stable() {
        assert!(Rules::of(Metric::Cv).is_stable(0.01) && !Rules::of(Metric::Cv).is_stable(0.011));
        assert!(!Rules::of(Metric::Cv).is_stable(f64::NAN));
    }

    #[test]
    fn three_repetitions_are_counted_over_all_levels_that_are_reduced() {
        let levels = [Level::Instance, Level::SuiteRun, Level::Iteration, Level::Second];
        let rules = Rules::of(Metric::Cv);
        assert!(rules.has_enough_repetitions(&levels, &[1, 1, 1, 3]));
        assert!(!rules.has_enough_repetitions(&levels, &[3, 1, 1, 2]));
        let rules = Rules { keep: vec![Level::SuiteRun], ..rules };
        assert!(!rules.has_enough_repetitions(&levels, &[1, 3, 1, 1]));
    }

    #[test]
    fn rules_that_cannot_be_followed_are_told() {
        assert_eq!(Rules::of(Metric::Cv).fault(), None);
        let check = |rules: Rules, word: &str| assert!(rules.fault().unwrap().contains(word));
        check(Rules { confidence: 1.0, ..Rules::of(Metric::Cv) }, "confidence");
        check(Rules { threshold: f64::NAN, ..Rules::of(Metric::Cv) }, "threshold");
    }
}
