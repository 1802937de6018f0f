//! Rules by which a configuration is enough, of the paper or of its published code.

use super::Metric;
use crate::recording::{Level, Recorded};

/// Whose rules hold where the paper and its published code differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compat {
    /// The paper's.
    #[default]
    Paper,
    /// Those of the published code.
    PaperCode,
}

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
    /// Whose rules.
    pub compat: Compat,
}

/// Fewest repetitions of a benchmark, of which a spread can be computed (µOpTime, Algorithm 1, line 8).
pub(super) const REPETITIONS_MIN: usize = 3;

impl Rules {
    /// The paper's: at most 1 %, intervals of 99 %, all instances.
    #[must_use]
    pub fn of(metric: Metric) -> Rules {
        Rules { metric, threshold: 0.01, confidence: 0.99, keep: vec![Level::Instance], compat: Compat::Paper }
    }

    /// Why these rules cannot be followed, if so.
    pub(super) fn fault(&self) -> Option<String> {
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            return Some(format!("a confidence of {} is not between 0 and 1", self.confidence));
        }
        (!self.threshold.is_finite() || self.threshold < 0.0)
            .then(|| format!("a threshold of {} is not a share", self.threshold))
    }

    /// Whether a value of the metric is stable: within the threshold; for the published code below it.
    pub(super) fn is_stable(&self, value: f64) -> bool {
        match self.compat {
            Compat::Paper => value <= self.threshold,
            Compat::PaperCode => value < self.threshold,
        }
    }

    /// Whether repetitions of a level may be left out.
    pub(super) fn reduces(&self, level: Level) -> bool {
        let has_one = self.compat == Compat::PaperCode && level == Level::Instance;
        !has_one && !self.keep.contains(&level)
    }

    /// The full configuration of a benchmark; the published code sees the first instance only.
    pub(super) fn full(&self, levels: &[Level], recorded: &Recorded) -> Vec<usize> {
        let of = |(level, &n): (&Level, &usize)| match (self.compat, level) {
            (Compat::PaperCode, Level::Instance) => n.min(1),
            _ => n,
        };
        levels.iter().zip(recorded.grid.shape()).map(of).collect()
    }

    /// Whether a configuration has at least three repetitions, counted over all levels that are reduced. The published code counts no
    /// instances and no seconds, but levels that are kept.
    pub(super) fn has_enough_repetitions(&self, levels: &[Level], configuration: &[usize]) -> bool {
        let counts = |level: Level| match self.compat {
            Compat::Paper => self.reduces(level),
            Compat::PaperCode => !matches!(level, Level::Instance | Level::Second),
        };
        let counted = levels.iter().zip(configuration).filter(|(level, _)| counts(**level));
        counted.map(|(_, n)| n).product::<usize>() >= REPETITIONS_MIN
    }

    /// Wall time of a configuration, seconds; the published code does not know of anything that repetitions cost beside themselves.
    pub(super) fn time_s(&self, levels: &[Level], recorded: &Recorded, configuration: &[usize]) -> f64 {
        match self.compat {
            Compat::Paper => recorded.time_s(levels, configuration),
            Compat::PaperCode => {
                let of = levels.iter().zip(configuration).filter(|(level, _)| **level != Level::Instance);
                of.map(|(_, n)| *n as f64).product::<f64>() * recorded.cost.innermost_s
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Better, Cost, Grid};

    fn code() -> Rules {
        Rules { compat: Compat::PaperCode, ..Rules::of(Metric::Cv) }
    }

    #[test]
    fn the_threshold_itself_is_stable_by_the_paper_only() {
        assert!(Rules::of(Metric::Cv).is_stable(0.01) && !code().is_stable(0.01));
        assert!(code().is_stable(0.009) && !Rules::of(Metric::Cv).is_stable(0.011));
        assert!(!Rules::of(Metric::Cv).is_stable(f64::NAN));
    }

    #[test]
    fn three_repetitions_are_counted_over_all_levels_that_are_reduced() {
        let levels = [Level::Instance, Level::SuiteRun, Level::Iteration, Level::Second];
        let rules = Rules::of(Metric::Cv);
        assert!(rules.has_enough_repetitions(&levels, &[1, 1, 1, 3]));
        assert!(!rules.has_enough_repetitions(&levels, &[3, 1, 1, 2]));
        assert!(!code().has_enough_repetitions(&levels, &[1, 1, 2, 5]));
        assert!(code().has_enough_repetitions(&levels, &[1, 1, 3, 1]));
        let rules = Rules { keep: vec![Level::SuiteRun], ..rules };
        assert!(!rules.has_enough_repetitions(&levels, &[1, 3, 1, 1]));
    }

    #[test]
    fn the_published_code_knows_no_start_of_a_fork() {
        let cost = Cost { innermost_s: 0.5, overhead_s: vec![0.0, 4.0, 0.0] };
        let grid = Grid::empty(&[3, 5, 10]);
        let recorded = Recorded {
            benchmark: "A".into(),
            unit: "ns".into(),
            better: Better::Lower,
            cost,
            harness_warm_up: None,
            grid,
        };
        let levels = [Level::Instance, Level::Fork, Level::Iteration];
        assert_eq!(Rules::of(Metric::Cv).time_s(&levels, &recorded, &[3, 2, 3]), 8.0 + 3.0);
        assert_eq!(code().time_s(&levels, &recorded, &[1, 2, 3]), 3.0);
        assert_eq!(code().full(&levels, &recorded), [1, 5, 10]);
    }

    #[test]
    fn rules_that_cannot_be_followed_are_told() {
        assert_eq!(Rules::of(Metric::Cv).fault(), None);
        let check = |rules: Rules, word: &str| assert!(rules.fault().unwrap().contains(word));
        check(Rules { confidence: 1.0, ..Rules::of(Metric::Cv) }, "confidence");
        check(Rules { threshold: f64::NAN, ..Rules::of(Metric::Cv) }, "threshold");
    }
}
