//! Time that a reduction saves, and its cost in accuracy (µOpTime, RQ1).

use super::Choice;

/// Largest changes of the result by a reduction for which accuracies are counted, fractions.
pub const MARGINS: [f64; 4] = [0.01, 0.03, 0.05, 0.10];

/// Time saved and results kept, over the choices for one project.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// Number of choices.
    pub benchmarks: usize,
    /// Wall time of all full configurations, seconds.
    pub full_s: f64,
    /// Wall time of all chosen ones, seconds.
    pub chosen_s: f64,
    /// Benchmarks that have a reduced result within each of [`MARGINS`] of the full one.
    pub within: [usize; MARGINS.len()],
    /// Benchmarks that keep their full configuration.
    pub unreduced: usize,
}

impl Accuracy {
    /// Over these choices.
    pub fn of(choices: &[Choice]) -> Accuracy {
        let within = |margin: f64| choices.iter().filter(|choice| kept_within(choice, margin)).count();
        Accuracy {
            benchmarks: choices.len(),
            full_s: choices.iter().map(|choice| choice.full_s).sum(),
            chosen_s: choices.iter().map(|choice| choice.chosen_s).sum(),
            within: MARGINS.map(within),
            unreduced: choices.iter().filter(|choice| choice.chosen == choice.full).count(),
        }
    }

    /// Share of the time that is saved; absent where there was none.
    pub fn saving(&self) -> Option<f64> {
        (self.full_s > 0.0).then(|| 1.0 - self.chosen_s / self.full_s)
    }

    /// Shares of benchmarks within each of [`MARGINS`]; absent without benchmarks.
    pub fn shares(&self) -> Option<[f64; MARGINS.len()]> {
        (self.benchmarks > 0).then(|| self.within.map(|count| count as f64 / self.benchmarks as f64))
    }
}

/// Whether the result changes by no more than this share. One that stays the same is kept, also where it is 0.
fn kept_within(choice: &Choice, margin: f64) -> bool {
    choice.result_chosen == choice.result_full || choice.change().abs() <= margin
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(chosen: usize, result_chosen: f64) -> Choice {
        Choice {
            benchmark: "A".into(),
            full: vec![10],
            chosen: vec![chosen],
            full_s: 10.0,
            chosen_s: chosen as f64,
            stability: 0.0,
            stable: true,
            result_full: 100.0,
            result_chosen,
            enough_times: None,
        }
    }

    #[test]
    fn time_and_results_are_counted() {
        let choices = [choice(10, 100.0), choice(3, 103.0), choice(4, 95.5), choice(3, 130.0)];
        let accuracy = Accuracy::of(&choices);
        assert_eq!((accuracy.benchmarks, accuracy.full_s, accuracy.chosen_s), (4, 40.0, 20.0));
        assert_eq!((accuracy.within, accuracy.unreduced), ([1, 2, 3, 3], 1));
        assert_eq!(accuracy.saving(), Some(0.5));
        assert_eq!(accuracy.shares(), Some([0.25, 0.5, 0.75, 0.75]));
    }

    #[test]
    fn nothing_saves_nothing() {
        let accuracy = Accuracy::of(&[]);
        assert_eq!((accuracy.saving(), accuracy.shares()), (None, None));
    }

    #[test]
    fn a_result_of_zero_can_be_kept() {
        let mut zero = choice(3, 0.0);
        zero.result_full = 0.0;
        assert_eq!(Accuracy::of(&[zero]).within, [1; 4]);
    }
}
