//! Tuning by the paper or as its published code has it.

use duetbench_core::recording::{Level, Recorded};
use duetbench_core::stats::{Moments, mean_interval, median, studentised_interval_with};
use duetbench_core::tune::{Criteria, Location, Metric, REPETITIONS_MIN, Rules, Stability, Terms};

/// Author of the rules that hold where the paper and its published code differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compat {
    /// The paper's.
    #[default]
    Paper,
    /// Those of the published code.
    PaperCode,
}

/// Rules, and whose.
#[derive(Debug, Clone, PartialEq)]
pub struct Practice {
    /// The rules.
    pub rules: Rules,
    /// Whose.
    pub compat: Compat,
}

impl Criteria for Practice {
    fn rules(&self) -> &Rules {
        &self.rules
    }

    fn stability(&self) -> &dyn Stability {
        match (self.compat, self.rules.metric) {
            (Compat::PaperCode, Metric::Rciw2) => &Rciw2,
            (Compat::PaperCode, Metric::Rciw3) => &Rciw3,
            (_, metric) => metric.stability(),
        }
    }

    /// Within the threshold; for the published code below it.
    fn is_stable(&self, value: f64) -> bool {
        match self.compat {
            Compat::Paper => self.rules.is_stable(value),
            Compat::PaperCode => value < self.rules.threshold,
        }
    }

    fn reduces(&self, level: Level) -> bool {
        let has_one = self.compat == Compat::PaperCode && level == Level::Instance;
        !has_one && self.rules.reduces(level)
    }

    /// The published code sees the first instance only.
    fn full(&self, levels: &[Level], recorded: &Recorded) -> Vec<usize> {
        let of = |(level, &n): (&Level, &usize)| match (self.compat, level) {
            (Compat::PaperCode, Level::Instance) => n.min(1),
            _ => n,
        };
        levels.iter().zip(recorded.grid.shape()).map(of).collect()
    }

    /// The published code counts no instances and no seconds, but levels that are kept.
    fn has_enough_repetitions(&self, levels: &[Level], configuration: &[usize]) -> bool {
        let counts = |level: &Level| !matches!(level, Level::Instance | Level::Second);
        match self.compat {
            Compat::Paper => self.rules.has_enough_repetitions(levels, configuration),
            Compat::PaperCode => {
                let counted = levels.iter().zip(configuration).filter(|(level, _)| counts(level));
                counted.map(|(_, n)| n).product::<usize>() >= REPETITIONS_MIN
            }
        }
    }

    /// The published code does not know of anything that repetitions cost beside themselves.
    fn time_s(&self, levels: &[Level], recorded: &Recorded, configuration: &[usize]) -> f64 {
        match self.compat {
            Compat::Paper => self.rules.time_s(levels, recorded, configuration),
            Compat::PaperCode => {
                let of = levels.iter().zip(configuration).filter(|(level, _)| **level != Level::Instance);
                of.map(|(_, n)| *n as f64).product::<f64>() * recorded.cost.innermost_s
            }
        }
    }
}

/// Standard deviation that the published code gives resamples without any, whatever the unit of the data.
const NO_SPREAD: f64 = 1e-6;

/// Relative width of the t-interval of the mean, as the published code has it: resamples without any spread have one of their own.
struct Rciw2;

impl Stability for Rciw2 {
    fn value(&self, ascending: &[f64], terms: &Terms) -> Option<f64> {
        let interval = studentised_interval_with(ascending, terms.confidence, NO_SPREAD).ok()?;
        relative(interval.width(), Location::Mean.of(ascending)?)
    }

    fn at_least(&self, moments: &Moments, terms: &Terms) -> f64 {
        Metric::Rciw2.stability().at_least(moments, terms)
    }
}

/// Relative width that the published code takes for that of the median's interval: that of the mean's, over the median.
struct Rciw3;

impl Stability for Rciw3 {
    fn value(&self, ascending: &[f64], terms: &Terms) -> Option<f64> {
        relative(mean_interval(ascending, terms.confidence).ok()?.width(), median(ascending).ok()?)
    }

    fn at_least(&self, moments: &Moments, terms: &Terms) -> f64 {
        let of_mean = Metric::Rciw1.stability().at_least(moments, terms);
        // Mean and median are never farther from each other than the standard deviation.
        let bound = of_mean * (moments.mean.abs() / (moments.mean.abs() + moments.sd));
        if bound.is_nan() { 0.0 } else { bound }
    }
}

/// A width in relation to a location. No width is none in whatever relation.
fn relative(width: f64, location: f64) -> Option<f64> {
    Some(if width == 0.0 { 0.0 } else { width / location.abs() })
}

#[cfg(test)]
mod tests {
    use duetbench_core::recording::{Better, Cost, Grid};

    use super::*;

    fn code(metric: Metric) -> Practice {
        Practice { rules: Rules::of(metric), compat: Compat::PaperCode }
    }

    fn recorded(shape: &[usize], cost: Cost) -> Recorded {
        Recorded {
            benchmark: "A".into(),
            unit: "ns".into(),
            better: Better::Lower,
            cost,
            harness_warm_up: None,
            terms: Vec::new(),
            grid: Grid::empty(shape),
        }
    }

    #[test]
    fn the_threshold_itself_is_stable_by_the_paper_only() {
        let paper = Practice { compat: Compat::Paper, ..code(Metric::Cv) };
        assert!(paper.is_stable(0.01) && !code(Metric::Cv).is_stable(0.01) && code(Metric::Cv).is_stable(0.009));
    }

    #[test]
    fn the_published_code_counts_no_seconds() {
        let levels = [Level::Instance, Level::SuiteRun, Level::Iteration, Level::Second];
        assert!(!code(Metric::Cv).has_enough_repetitions(&levels, &[1, 1, 2, 5]));
        assert!(code(Metric::Cv).has_enough_repetitions(&levels, &[1, 1, 3, 1]));
    }

    #[test]
    fn the_published_code_knows_no_start_of_a_fork() {
        let recorded = recorded(&[3, 5, 10], Cost { innermost_s: 0.5, overhead_s: vec![0.0, 4.0, 0.0] });
        let levels = [Level::Instance, Level::Fork, Level::Iteration];
        assert_eq!(Rules::of(Metric::Cv).time_s(&levels, &recorded, &[3, 2, 3]), 8.0 + 3.0);
        assert_eq!(code(Metric::Cv).time_s(&levels, &recorded, &[1, 2, 3]), 3.0);
        assert_eq!(code(Metric::Cv).full(&levels, &recorded), [1, 5, 10]);
    }

    #[test]
    fn the_published_code_takes_the_interval_of_the_mean_for_that_of_the_median() {
        let practice = code(Metric::Rciw3);
        let terms = Terms::of(&practice.rules, 4);
        let is = practice.stability().value(&[1.0, 2.0, 4.0, 9.0], &terms).unwrap();
        assert!((is - 6.5 / 3.0).abs() < 1e-9, "{is}");
    }

    #[test]
    fn equal_values_are_perfectly_stable_even_if_they_are_zero() {
        for metric in [Metric::Rciw2, Metric::Rciw3] {
            for value in [0.1, 0.0] {
                let practice = code(metric);
                let is = practice.stability().value(&[value; 7], &Terms::of(&practice.rules, 7)).unwrap();
                assert!(is < 1e-15, "{} {is}", metric.word());
            }
        }
    }

    #[test]
    fn bounds_are_below_what_they_bound() {
        for values in
            [&[1.0, 2.0, 4.0, 9.0, 9.5, 30.0][..], &[-2.0, -1.0, 1.0, 2.0], &[99.0, 100.0, 100.0, 103.0, 104.0]]
        {
            for metric in [Metric::Rciw2, Metric::Rciw3] {
                let practice = code(metric);
                let (terms, moments) = (Terms::of(&practice.rules, values.len()), Moments::of(values).unwrap());
                let exact = practice.stability().value(values, &terms).unwrap();
                assert!(practice.stability().at_least(&moments, &terms) <= exact, "{} {values:?}", metric.word());
            }
        }
    }
}
