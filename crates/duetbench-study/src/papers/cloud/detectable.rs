//! The smallest regression that can be found (section 4.2.2): Algorithm 1 as it is printed, as it must have been meant, and what it
//! comes to.

use duetbench_core::recording::Level;
use duetbench_core::stats::{self, detectable_factor};
use serde::Serialize;

use super::draws::{Draws, Groups};
use super::values::present;
use super::{Settings, Spread, Values};

/// The regressions that are tried, fractions, ascending.
pub const REGRESSIONS: [f64; 12] = [0.01, 0.02, 0.03, 0.04, 0.05, 0.1, 0.15, 0.2, 0.25, 0.5, 0.75, 1.0];
/// The highest rate of false positives, and the lowest of true ones, with which a regression counts as found.
const FALSE_MAX: f64 = 0.05;
const TRUE_MIN: f64 = 0.95;
/// Standard errors that a regression must measure for Algorithm 1 to find it: half of it is the limit, so that twice the larger one of
/// 1.96 (5 % false positives on two sides) and 1.64 (5 % missed on one).
const STANDARD_ERRORS: f64 = 3.919_927_969_080_108;

/// Choice of test and control group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// One trial each of some instances, and of as many other ones (Table 6).
    Instances,
    /// Some trials each of the same instances (Table 7).
    Trials,
}

duetbench_core::words!(Sampling, ALL: Instances "instances", Trials "trials");

impl Sampling {
    /// The numbers of instances in each group, as the paper has them.
    pub fn instances(self) -> &'static [usize] {
        match self {
            Sampling::Instances => &[1, 5, 20],
            Sampling::Trials => &[1, 20],
        }
    }
}

/// Rates at which a test finds a regression that is there, and one that is not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rates {
    /// Its size, a fraction.
    pub regression: f64,
    /// Share of draws in which the medians of equal code differ by more than half of it.
    pub false_positives: f64,
    /// Share of draws in which they do when the regression was added.
    pub true_positives: f64,
}

impl Rates {
    /// Whether the regression counts as found.
    pub fn passes(&self) -> bool {
        self.false_positives <= FALSE_MAX && self.true_positives >= TRUE_MIN
    }
}

/// Regressions of a benchmark that are found by one sampling with some instances.
#[derive(Debug, Clone, PartialEq)]
pub struct Detectable {
    /// The choice of groups.
    pub sampling: Sampling,
    /// Instances in each group.
    pub instances: usize,
    /// The rates for each of [`REGRESSIONS`].
    pub rates: Vec<Rates>,
    /// Standard error of the relative difference of the medians of equal code, over the draws for all regressions.
    pub standard_error: f64,
    /// The regression that a t test of both groups' means at 5 % finds in 95 of 100 cases, by the variances of the sources; absent where
    /// these are not known or a group has nothing to estimate them from.
    pub by_sources: Option<f64>,
}

impl Detectable {
    /// The result of Algorithm 1 as it is printed: the loop goes over the regressions in *descending* order and ends with the first that
    /// passes, which is the largest. Absent where none passes.
    pub fn printed(&self) -> Option<f64> {
        self.rates.iter().rev().find(|rates| rates.passes()).map(|rates| rates.regression)
    }

    /// The result with the loop in ascending order: the smallest regression that passes. Absent where none does.
    pub fn corrected(&self) -> Option<f64> {
        self.rates.iter().find(|rates| rates.passes()).map(|rates| rates.regression)
    }

    /// The regression that the corrected algorithm looks for, without its grid: 3.92 standard errors. Holds for nearly normal differences.
    pub fn closed_form(&self) -> f64 {
        STANDARD_ERRORS * self.standard_error
    }
}

/// Algorithm 1 by both samplings with all numbers of instances that there are.
pub(super) fn detectable(values: &Values, spread: &Spread, settings: &Settings) -> Vec<Detectable> {
    let mut found = Vec::new();
    for (purpose, sampling) in (1_u64..).zip(Sampling::ALL) {
        for &instances in sampling.instances() {
            // A stream for each experiment; those of the A/A experiment are below the first.
            let stream = purpose << 32 | instances as u64;
            let (trials, needed) = match sampling {
                Sampling::Instances => (1, 2 * instances),
                Sampling::Trials => (2 * settings.trials, instances),
            };
            let mut draws = Draws::of(values, settings.seed, stream).with_trials(trials);
            if !draws.has(needed) {
                continue;
            }
            let mut draw = || match sampling {
                Sampling::Instances => draws.other_instances(instances),
                Sampling::Trials => draws.same_instances(instances, settings.trials),
            };
            let mut difference = || difference(values, &draw());
            let differences: Vec<Vec<f64>> =
                REGRESSIONS.iter().map(|_| (0..settings.draws).map(|_| difference()).collect()).collect();
            let by_sources = by_sources(values, spread, sampling, instances, settings);
            found.push(Detectable { by_sources, ..judged(sampling, instances, &differences) });
        }
    }
    found
}

/// The rates of all regressions, each by the differences that were drawn for it.
fn judged(sampling: Sampling, instances: usize, differences: &[Vec<f64>]) -> Detectable {
    let rates = |(regression, differences): (f64, &Vec<f64>)| {
        let share = |found: &dyn Fn(f64) -> bool| {
            differences.iter().filter(|difference| found(**difference)).count() as f64 / differences.len().max(1) as f64
        };
        Rates {
            regression,
            false_positives: share(&|difference| difference.abs() > regression / 2.0),
            // Adding the regression to every value of the test group adds it to its median.
            true_positives: share(&|difference| {
                ((1.0 + difference) * (1.0 + regression) - 1.0).abs() > regression / 2.0
            }),
        }
    };
    let all = || differences.iter().flatten();
    let squares: f64 = all().map(|difference| difference * difference).sum();
    Detectable {
        sampling,
        instances,
        rates: REGRESSIONS.into_iter().zip(differences).map(rates).collect(),
        standard_error: (squares / all().count().max(1) as f64).sqrt(),
        by_sources: None,
    }
}

/// Relative difference of the medians of all values of both groups; 0 where they are equal.
fn difference(values: &Values, groups: &Groups) -> f64 {
    let [test, control] = [&groups.test, &groups.control]
        .map(|group| median(group.iter().flat_map(|trial| present(values.trial(*trial))).collect()));
    if test == control { 0.0 } else { test / control - 1.0 }
}

/// The median in the time of selecting, which sorting would take most of a study for.
fn median(mut values: Vec<f64>) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let (middle, even) = (values.len() / 2, values.len().is_multiple_of(2));
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    let lower = below.iter().copied().reduce(f64::max).filter(|_| even);
    lower.map_or(upper, |lower| lower.midpoint(upper))
}

/// `exp(k SE) - 1` with the `k` of a t test that is right and powerful as Algorithm 1 wants to be, and the standard error of the
/// difference of both groups' mean logarithms: with `i` instances, `t` trials, `f` forks and `v` values in each group,
/// `SE² = 2 (s_instance²/i + s_trial²/t + s_fork²/f + s_value²/v)`, without the first where both groups have the same instances.
fn by_sources(
    values: &Values,
    spread: &Spread,
    sampling: Sampling,
    instances: usize,
    settings: &Settings,
) -> Option<f64> {
    spread.sources.as_ref()?;
    let per_instance = match sampling {
        Sampling::Instances => 1,
        Sampling::Trials => settings.trials,
    };
    // With the same instances their differences are paired, and one alone has its trials for them.
    let df = match (sampling, instances) {
        (Sampling::Instances, n) => 2 * (n - 1),
        (Sampling::Trials, 1) => 2 * (per_instance - 1),
        (Sampling::Trials, n) => n - 1,
    };
    let trials = (instances * per_instance) as f64;
    let all_trials: usize = (0..values.instances()).map(|instance| values.trials_of(instance).count()).sum();
    // Cleaning leaves trials of different sizes: their mean size serves for all.
    let of_each = values.present().count() as f64 / all_trials.max(1) as f64;
    let forks = trials * values.shape()[2] as f64;
    let between = match sampling {
        Sampling::Instances => spread.variance(Level::Instance) / instances as f64,
        Sampling::Trials => 0.0,
    };
    let inside = spread.variance(Level::SuiteRun) / trials
        + spread.variance(Level::Fork) / forks
        + spread.variance(Level::Iteration) / (trials * of_each);
    let level = stats::Level { alpha: FALSE_MAX, power: TRUE_MIN };
    let factor = detectable_factor(df as f64, level).ok()?;
    Some((factor * (2.0 * (between + inside)).sqrt()).exp_m1())
}

#[cfg(test)]
mod tests {
    use super::super::environment::tests::values;
    use super::*;

    /// The regressions found where the differences of 100 draws for every regression are these.
    fn found(differences: impl Fn(usize) -> f64) -> Detectable {
        let drawn: Vec<Vec<f64>> = REGRESSIONS.iter().map(|_| (0..100).map(&differences).collect()).collect();
        judged(Sampling::Instances, 1, &drawn)
    }

    #[test]
    fn the_printed_loop_ends_with_the_largest_regression_and_the_corrected_one_with_the_smallest() {
        // Medians that differ by up to 2.4 % to either side: with half of 5 % nothing is called changed that is not.
        let detectable = found(|i| 0.024 * (i as f64 / 99.0 * 2.0 - 1.0));
        assert_eq!((detectable.printed(), detectable.corrected()), (Some(1.0), Some(0.05)));
        let passing: Vec<f64> = detectable.rates.iter().filter(|r| r.passes()).map(|r| r.regression).collect();
        assert_eq!(passing, REGRESSIONS[4..]);
        // The standard deviation of uniform differences is 2.4 % / √3.
        assert!((detectable.closed_form() / (STANDARD_ERRORS * 0.024 / 3.0_f64.sqrt()) - 1.0).abs() < 0.02);
    }

    #[test]
    fn no_regression_is_found_where_medians_differ_by_more_than_all_of_them() {
        let detectable = found(|i| if i % 2 == 0 { 0.8 } else { -0.8 });
        assert_eq!((detectable.printed(), detectable.corrected()), (None, None));
        assert_eq!(found(|_| 0.0).corrected(), Some(0.01));
    }

    #[test]
    fn five_of_a_hundred_may_be_false_or_missed_and_not_six() {
        let with = |far: usize, by: f64| found(|i| if i < far { by } else { 0.0 }).rates[5];
        assert!(with(5, 0.06).passes() && !with(6, 0.06).passes());
        // Faster by 10 %, so that the regression of 10 % disappears, and nothing but that is wrong.
        let missed = with(6, -0.049);
        assert_eq!((missed.false_positives, missed.passes()), (0.0, false));
        assert!((missed.true_positives - 0.94).abs() < 1e-12 && with(5, -0.049).passes());
    }

    #[test]
    fn medians_are_selected_as_sorting_would() {
        for n in 1..40_i32 {
            let cells: Vec<f64> = (0..n).map(|i| f64::from((i * 7) % 11)).collect();
            assert_eq!(Ok(median(cells.clone())), stats::median(&cells), "{n}");
        }
        assert!(median(Vec::new()).is_nan());
    }

    #[test]
    fn what_does_not_vary_shows_every_regression() {
        let constant = values(&[40, 10, 2], vec![0.7; 800]);
        let spread = Spread::of(&constant);
        let all = detectable(&constant, &spread, &Settings::PAPER);
        assert_eq!(all.len(), 5);
        assert!(all.iter().all(|d| d.corrected() == Some(0.01) && d.closed_form() == 0.0), "{all:?}");
        // One trial against one has no degree of freedom.
        assert_eq!(all[0].by_sources, None);
        assert!(all[1..].iter().all(|d| d.by_sources == Some(0.0)), "{all:?}");
        let few = values(&[39, 9, 2], vec![0.7; 702]);
        let numbers: Vec<_> = detectable(&few, &Spread::of(&few), &Settings::PAPER);
        assert_eq!(numbers.iter().map(|d| d.instances).collect::<Vec<_>>(), [1, 5]);
    }
}
