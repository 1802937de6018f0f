//! Error of the paper's interval, whatever it says.

use duetbench_core::stats::{StatsError, mean_interval, trimmed_t, two_sided_p};
use rand::Rng;
use rand::seq::SliceRandom;
use statrs::distribution::{ContinuousCDF, Normal};

use super::{Procedure, RunWidths, Widths};

/// Resamples over all benchmarks of a run.
const RESAMPLES: usize = 2_000;

/// Share of percentile-bootstrap intervals of the mean of so many normal values that miss the true mean, a fraction.
///
/// Resamples of `n` values spread by `s sqrt((n - 1) / n) / sqrt(n)`, so an interval reaches `z sqrt((n - 1) / n)` standard errors to
/// either side, with the normal quantile `z`, where Student's t would reach farther: the level is
/// `P(|T_(n-1)| > z sqrt((n - 1) / n))`. (Hesterberg, The American Statistician 69, 2015, of narrowness; Student,
/// Biometrika 6, 1908, of the distribution.) With four values that is too low by a third, from ten on by a tenth: they have few
/// different resamples (docs/statistics/13-bootstrap.md has simulated shares). Where the least of the values makes up a whole resample
/// more often than the tail is, the interval goes from the least to the greatest, which miss the median of any distribution with
/// probability `2^(1 - n)`.
///
/// # Errors
/// With fewer than two values, or with a confidence that is not strictly between 0 and 1.
///
/// ```
/// # use duetbench_study::papers::duet::percentile_level;
/// assert!((percentile_level(10, 0.99).unwrap() - 0.037).abs() < 5e-4);
/// assert_eq!(percentile_level(3, 0.99), Ok(0.25));
/// ```
pub fn percentile_level(values: usize, confidence: f64) -> Result<f64, StatsError> {
    if values < 2 {
        return Err(StatsError::TooFew { have: values, needed: 2 });
    }
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(StatsError::OutOfRange { name: "confidence", value: confidence });
    }
    let (n, tail) = (values as f64, (1.0 - confidence) / 2.0);
    if n.powf(-n) >= tail {
        return Ok((1.0 - n).exp2());
    }
    let z = -Normal::standard().inverse_cdf(tail);
    two_sided_p(z * ((n - 1.0) / n).sqrt(), n - 1.0)
}

/// Error of intervals: the share that misses a ratio of 1, on resamples of an A/A run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resampled {
    /// Resamples, of all benchmarks together.
    pub resamples: usize,
    /// Share of the paper's intervals that miss it.
    pub paired: f64,
    /// The same of intervals by duet's method, the trimmed t, of the same fork pairs.
    pub own: f64,
}

impl Procedure {
    /// Resamples an A/A run, of which the true ratio is known: as many fork pairs as the intervals rest on are drawn from each
    /// benchmark's, and the roles exchanged in each by the toss of a coin, as equal versions can be (Fisher, The design of experiments,
    /// 1935, section 21). Absent without benchmarks that vary.
    ///
    /// On a run of two versions that differ the answer means nothing.
    pub fn resampled(&self, run: &RunWidths) -> Option<Resampled> {
        let varying: Vec<&Widths> =
            run.measured.iter().filter(|widths| widths.log_ratios.iter().any(|d| *d != 0.0)).collect();
        let each = RESAMPLES.div_ceil(varying.len().max(1));
        let (mut paired, mut own, mut resamples) = (0, 0, 0);
        for widths in varying {
            let mut random = self.random("resamples", &widths.benchmark);
            let mut log_ratios = widths.log_ratios.clone();
            for _ in 0..each {
                let (drawn, _) = log_ratios.partial_shuffle(&mut random, widths.forks);
                let values: Vec<f64> = drawn.iter().map(|d| if random.random() { *d } else { -d }).collect();
                let Some((by_paper, by_duet)) = self.misses_zero(&values) else { continue };
                resamples += 1;
                paired += usize::from(by_paper);
                own += usize::from(by_duet);
            }
        }
        let share = |count: usize| count as f64 / resamples as f64;
        (resamples > 0).then(|| Resampled { resamples, paired: share(paired), own: share(own) })
    }

    /// Whether the paper's interval and duet's miss 0; absent where one of them is none.
    fn misses_zero(&self, log_ratios: &[f64]) -> Option<(bool, bool)> {
        let paper = mean_interval(log_ratios, self.confidence).ok()?;
        let (low, high) = trimmed_t(log_ratios).ok()?.interval(1.0 - self.confidence).ok()?;
        Some((paper.low > 0.0 || paper.high < 0.0, low > 0.0 || high < 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::PairedRun;
    use super::super::tests::{benchmark, noisy, times};
    use super::*;

    #[test]
    fn levels_are_those_of_normal_theory() {
        // Levels by Student's t at a nominal 1 %, in percent to a tenth.
        let check = |values: usize, want: f64| {
            let level = 100.0 * percentile_level(values, 0.99).unwrap();
            assert!((level - want).abs() < 0.05, "{values}: {level}");
        };
        for (values, want) in
            [(5, 8.3), (8, 4.7), (10, 3.7), (15, 2.6), (20, 2.1), (30, 1.7), (50, 1.4), (100, 1.2), (1_000_000, 1.0)]
        {
            check(values, want);
        }
        // All three on one side of the median: 2 / 2^3.
        check(3, 25.0);
        check(2, 50.0);
        assert!(percentile_level(1, 0.99).is_err() && percentile_level(9, 1.0).is_err());
        // At 90 % three values are drawn alike less often than the tail is, so that theory has the word.
        assert!((percentile_level(3, 0.9).unwrap() - 0.311_38).abs() < 1e-5);
    }

    #[test]
    fn resamples_of_equal_versions_miss_as_often_as_theory_says() {
        let benchmarks = (0..20).map(|i| benchmark(&format!("B{i}"), noisy(i, 40, 1, 0.0, 0.01))).collect();
        let run = Procedure::PAPER.study(&PairedRun { name: "r1".into(), benchmarks });
        let resampled = Procedure::PAPER.resampled(&run).unwrap();
        assert_eq!(resampled.resamples, 2_000);
        // Four binomial errors of 2,000 draws, for ours too.
        let error = |level: f64| 4.0 * (level * (1.0 - level) / 2_000.0).sqrt();
        let theory = percentile_level(10, 0.99).unwrap();
        assert!((resampled.paired - theory).abs() < error(theory), "{resampled:?}");
        assert!((resampled.own - 0.012).abs() < error(0.012), "{resampled:?}");
    }

    #[test]
    fn roles_are_exchanged_by_the_toss_of_a_coin() {
        // With three fork pairs that all say the same an interval misses 1 when all three coins agree.
        let run = PairedRun { name: "r1".into(), benchmarks: vec![benchmark("A", vec![times(&[[100.0, 110.0]]); 3])] };
        let resampled = Procedure::PAPER.resampled(&Procedure::PAPER.study(&run)).unwrap();
        let want = 0.25_f64;
        let four_errors = 4.0 * (want * (1.0 - want) / 2_000.0).sqrt();
        assert!((resampled.paired - want).abs() < four_errors, "{resampled:?}");
    }

    #[test]
    fn nothing_that_varies_is_no_level() {
        let run = PairedRun { name: "r1".into(), benchmarks: vec![benchmark("A", noisy(1, 12, 2, 0.1, 0.0))] };
        assert_eq!(Procedure::PAPER.resampled(&Procedure::PAPER.study(&run)), None);
    }
}
