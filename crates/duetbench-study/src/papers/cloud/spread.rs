//! Measures the spread of a benchmark, and splits it by source.

use duetbench_core::recording::Level;
use serde::Serialize;

use super::Values;
use super::values::present;
use crate::statistics::unbalanced_nested_components;

/// Spread of the values of a benchmark in an environment.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// Relative standard deviation of all values, a fraction of their mean (Table 4; the paper's *total*); absent with fewer than two
    /// values or a mean of 0.
    pub rsd: Option<f64>,
    /// The same of each instance's values (Fig. 5).
    pub per_instance: Option<Typical>,
    /// The same of each trial's values (Fig. 5).
    pub per_trial: Option<Typical>,
    /// Standard error of the logarithm of `rsd`, by leaving out one instance after the other; absent with fewer than three instances,
    /// or where what is left does not vary.
    pub log_rsd_error: Option<f64>,
    /// Sources of the variance of the values' logarithms, outermost first. Levels without repetitions are no source. Absent where a
    /// value is 0 or nothing is repeated.
    pub sources: Option<Vec<Source>>,
}

/// Mean and spread of some numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Typical {
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation; absent where there is only one.
    pub standard_deviation: Option<f64>,
    /// Number of them.
    pub count: usize,
}

/// A source of variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Source {
    /// The level that differs: instances; their trials, as [`Level::SuiteRun`]; forks; single values, as [`Level::Iteration`].
    pub level: Level,
    /// Variance of the logarithms by this source alone.
    pub variance: f64,
    /// Repetitions of the level inside the one around it, at most.
    pub repetitions: usize,
}

impl Source {
    /// Standard deviation by this source alone, as a fraction of the time: small ones are relative standard deviations.
    pub fn standard_deviation(&self) -> f64 {
        self.variance.sqrt()
    }
}

impl Spread {
    pub(super) fn of(values: &Values) -> Spread {
        let instances = (0..values.instances()).map(|instance| values.instance(instance));
        let trials = (0..values.instances()).flat_map(|instance| values.trials_of(instance));
        Spread {
            rsd: rsd(values.cells()),
            per_instance: Typical::of(instances.filter_map(rsd)),
            per_trial: Typical::of(trials.filter_map(|trial| rsd(values.trial(trial)))),
            log_rsd_error: log_rsd_error(values),
            sources: sources(values),
        }
    }

    /// The share of the variance of a single value that comes from this source; absent where sources are not known or nothing varies.
    pub fn share(&self, source: &Source) -> Option<f64> {
        let total: f64 = self.sources.as_ref()?.iter().map(|source| source.variance).sum();
        (total > 0.0).then(|| source.variance / total)
    }

    /// Variance by one source; 0 where nothing of that level is repeated.
    pub(super) fn variance(&self, level: Level) -> f64 {
        let sources = self.sources.iter().flatten();
        sources.filter(|source| source.level == level).map(|source| source.variance).sum()
    }
}

impl Typical {
    fn of(numbers: impl Iterator<Item = f64>) -> Option<Typical> {
        let numbers: Vec<f64> = numbers.collect();
        let count = numbers.len();
        let (mean, squares) = moments(numbers.iter().copied())?;
        let standard_deviation = (count > 1).then(|| (squares / (count - 1) as f64).sqrt());
        Some(Typical { mean, standard_deviation, count })
    }
}

/// Mean and sum of squared deviations from it; absent without values.
fn moments(values: impl Iterator<Item = f64> + Clone) -> Option<(f64, f64)> {
    let (count, sum) = values.clone().fold((0_usize, 0.0), |(count, sum), value| (count + 1, sum + value));
    let mean = sum / count as f64;
    (count > 0).then(|| (mean, values.map(|value| (value - mean).powi(2)).sum()))
}

/// Relative standard deviation of the cells with values.
fn rsd(cells: &[f64]) -> Option<f64> {
    let count = present(cells).count();
    let (mean, squares) = moments(present(cells)).filter(|(mean, _)| count > 1 && *mean > 0.0)?;
    // Rounding in the mean would turn "no spread" into a tiny one.
    let first = present(cells).next()?;
    let constant = present(cells).all(|value| value == first);
    Some(if constant { 0.0 } else { (squares / (count - 1) as f64).sqrt() / mean })
}

/// The jackknife over instances (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 11): what values of one instance
/// have in common enters the error, however many there are of them.
fn log_rsd_error(values: &Values) -> Option<f64> {
    let (centre, _) = moments(values.present())?;
    let parts: Vec<[f64; 3]> = (0..values.instances())
        .map(|instance| {
            present(values.instance(instance))
                .map(|value| value - centre)
                .fold([0.0; 3], |[n, sum, squares], d| [n + 1.0, sum + d, squares + d * d])
        })
        .filter(|[n, ..]| *n > 0.0)
        .collect();
    let all = parts.iter().fold([0.0; 3], |all, part| std::array::from_fn(|i| all[i] + part[i]));
    let without = |part: &[f64; 3]| {
        let [n, sum, squares]: [f64; 3] = std::array::from_fn(|i| all[i] - part[i]);
        let mean = sum / n;
        let variance = (squares - n * mean * mean) / (n - 1.0);
        (variance.sqrt() / (centre + mean)).ln()
    };
    let logs: Vec<f64> = parts.iter().map(without).collect();
    let (_, squares) = moments(logs.iter().copied()).filter(|(_, squares)| parts.len() > 2 && squares.is_finite())?;
    let n = parts.len() as f64;
    Some(((n - 1.0) / n * squares).sqrt())
}

/// The variance of the values' logarithms, split by the levels that are repeated.
fn sources(values: &Values) -> Option<Vec<Source>> {
    if values.present().any(|value| value <= 0.0) {
        return None;
    }
    const LEVELS: [Level; 4] = [Level::Instance, Level::SuiteRun, Level::Fork, Level::Iteration];
    let repeated: Vec<(Level, usize)> =
        LEVELS.into_iter().zip(*values.shape()).filter(|(_, repetitions)| *repetitions > 1).collect();
    let shape: Vec<usize> = repeated.iter().map(|(_, repetitions)| *repetitions).collect();
    let logs: Vec<f64> = values.cells().iter().map(|value| value.ln()).collect();
    let variances = unbalanced_nested_components(&shape, &logs).ok()?;
    let source = |((level, repetitions), variance)| Source { level, variance, repetitions };
    Some(repeated.into_iter().zip(variances).map(source).collect())
}

#[cfg(test)]
mod tests {
    use super::super::environment::tests::values;
    use super::*;

    fn near(a: Option<f64>, want: f64) {
        assert!(a.is_some_and(|a| (a - want).abs() < 1e-12), "{a:?} is not {want}");
    }

    #[test]
    fn relative_standard_deviations_of_all_of_instances_and_of_trials() {
        // Trials (1, 3), (2, 2) | (10, 14), (12, 12): RSD of trials √2/2, 0, √8/12, 0; of instances √(2/3)/2 and √(8/3)/12.
        let spread = Spread::of(&values(&[2, 2, 2], vec![1.0, 3.0, 2.0, 2.0, 10.0, 14.0, 12.0, 12.0]));
        // The mean is 7, squares 2 + 8 + 8 · 25.
        near(spread.rsd, (210.0_f64 / 7.0).sqrt() / 7.0);
        let instances = spread.per_instance.unwrap();
        let [a, b] = [(2.0_f64 / 3.0).sqrt() / 2.0, (8.0_f64 / 3.0).sqrt() / 12.0];
        near(Some(instances.mean), (a + b) / 2.0);
        near(instances.standard_deviation, (a - b).abs() / 2.0_f64.sqrt());
        let trials = spread.per_trial.unwrap();
        assert_eq!((instances.count, trials.count), (2, 4));
        near(Some(trials.mean), (0.5_f64.sqrt() + 8.0_f64.sqrt() / 12.0) / 4.0);
        let levels: Vec<Level> = spread.sources.as_ref().unwrap().iter().map(|source| source.level).collect();
        assert_eq!(levels, [Level::Instance, Level::SuiteRun, Level::Iteration]);
        let shares = spread.sources.iter().flatten().filter_map(|source| spread.share(source));
        near(Some(shares.sum()), 1.0);
    }

    #[test]
    fn leaving_out_instances_tells_how_sure_a_spread_is() {
        // Written out: RSDs of three instances, of which one is left out each time.
        let cells = [1.0, 2.0, 4.0, 5.0, 3.0, 7.0];
        let spread = Spread::of(&values(&[3, 1, 2], cells.to_vec()));
        let logs: Vec<f64> = (0..3)
            .map(|out| {
                let left: Vec<f64> = cells.iter().enumerate().filter(|(i, _)| i / 2 != out).map(|(_, v)| *v).collect();
                rsd(&left).unwrap().ln()
            })
            .collect();
        let (_, squares) = moments(logs.into_iter()).unwrap();
        near(spread.log_rsd_error, (2.0 / 3.0 * squares).sqrt());
        assert_eq!(Spread::of(&values(&[2, 1, 2], cells[..4].to_vec())).log_rsd_error, None);
    }

    #[test]
    fn what_does_not_vary_or_cannot_be_said() {
        let constant = Spread::of(&values(&[3, 2, 2], vec![0.1; 12]));
        assert_eq!((constant.rsd, constant.log_rsd_error), (Some(0.0), None));
        assert_eq!(constant.per_trial.map(|typical| typical.mean), Some(0.0));
        assert!(constant.sources.as_ref().unwrap().iter().all(|source| source.variance == 0.0));
        assert_eq!(constant.share(&constant.sources.as_ref().unwrap()[0]), None);
        let zero = Spread::of(&values(&[1, 2, 2], vec![0.0; 4]));
        assert_eq!((zero.rsd, zero.per_trial, zero.sources), (None, None, None));
        let single = Spread::of(&values(&[1, 1, 1], vec![5.0]));
        assert_eq!((single.rsd, single.per_instance, single.sources), (None, None, None));
        // One instance: what instances differ by is not known, and is no source.
        let one = Spread::of(&values(&[1, 2, 2], vec![1.0, 2.0, 3.0, 4.0]));
        assert_eq!(one.sources.unwrap().len(), 2);
    }
}
