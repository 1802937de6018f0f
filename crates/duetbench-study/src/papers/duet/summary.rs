//! Sums up the widths of a run's benchmarks.

use duetbench_core::stats::{Interval, StatsError, mean, quantile_of_sorted};
use serde::Serialize;

use super::{PairedBenchmark, Widths};
use crate::papers::no_answer;

/// The interval that a width is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The paper's procedure, on ratios of pairs.
    Paired,
    /// The same on ratios of what was not measured together.
    Shuffled,
    /// The difference of means, each side for itself.
    Standard,
    /// The interval of duet itself.
    Own,
}

duetbench_core::words!(Kind, ALL: Paired "paired", Shuffled "shuffled", Standard "standard", Own "own");

/// A benchmark of which nothing is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The benchmark.
    pub benchmark: String,
    /// Why.
    pub reason: String,
}

impl LeftOut {
    /// A benchmark for which the procedure has no answer, with what is known of its missing fork pairs.
    pub(super) fn of(benchmark: &PairedBenchmark, error: StatsError) -> LeftOut {
        let reason = no_answer(error, "fork pairs", benchmark.forks.len(), benchmark.missing.as_ref());
        LeftOut { benchmark: benchmark.benchmark.clone(), reason }
    }
}

/// The widths of a run's benchmarks.
#[derive(Debug, Clone, PartialEq)]
pub struct RunWidths {
    /// The run's name.
    pub run: String,
    /// Benchmarks with enough fork pairs, in the run's order.
    pub measured: Vec<Widths>,
    /// The others, likewise.
    pub left_out: Vec<LeftOut>,
}

/// Factor by which intervals are wider than paired ones, over the benchmarks of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Improvement {
    /// Benchmarks of which both intervals have a width.
    pub benchmarks: usize,
    /// Geometric mean of their quotients (Table 1).
    pub factor: f64,
}

/// Distribution of widths over benchmarks (figures 2, 4 and 5).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantiles {
    /// Benchmarks.
    pub count: usize,
    /// The widths that a tenth, a quarter, a half, three quarters and nine tenths of the benchmarks do not exceed.
    pub at: [f64; 5],
}

impl Quantiles {
    /// Shares of the benchmarks that [`at`](Quantiles::at) is about.
    pub const SHARES: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.9];
}

impl RunWidths {
    /// Adds the intervals that duet itself gives, as `own` has them by benchmark.
    #[must_use]
    pub fn with_own(mut self, own: impl Fn(&str) -> Option<Interval>) -> RunWidths {
        self.measured.iter_mut().for_each(|widths| widths.own = own(&widths.benchmark));
        self
    }

    /// Factor by which these intervals are wider than the paired ones; absent without benchmarks of which both have a width.
    pub fn improvement(&self, kind: Kind) -> Option<Improvement> {
        let logs: Vec<f64> = self.measured.iter().filter_map(|w| Some(w.times_wider(kind)?.ln())).collect();
        Some(Improvement { benchmarks: logs.len(), factor: mean(&logs).ok()?.exp() })
    }

    /// The distribution of the widths of this kind; absent without any.
    pub fn quantiles(&self, kind: Kind) -> Option<Quantiles> {
        let mut widths: Vec<f64> = self.measured.iter().filter_map(|w| w.width(kind)).collect();
        widths.sort_by(f64::total_cmp);
        let at = Quantiles::SHARES.map(|share| quantile_of_sorted(&widths, share));
        (!widths.is_empty()).then_some(Quantiles { count: widths.len(), at })
    }

    /// Mean over benchmarks of the share of paired intervals that miss the truth, by theory; absent without benchmarks.
    pub fn level(&self) -> Option<f64> {
        mean(&self.measured.iter().map(|w| w.level).collect::<Vec<_>>()).ok()
    }

    /// Benchmarks whose paired interval does not hold 1: what the paper's procedure calls changed.
    pub fn called_changed(&self) -> usize {
        self.measured.iter().filter(|w| misses_one(&w.paired.interval)).count()
    }

    /// The same of the intervals that duet itself gives, and how many of these there are.
    pub fn own_called_changed(&self) -> (usize, usize) {
        let own = || self.measured.iter().filter_map(|w| w.own);
        (own().filter(misses_one).count(), own().count())
    }
}

fn misses_one(interval: &Interval) -> bool {
    interval.low > 1.0 || interval.high < 1.0
}

#[cfg(test)]
mod tests {
    use super::super::tests::{benchmark, noisy, times};
    use super::super::{PairedRun, Procedure};
    use super::*;

    /// A run of which nobody knows more than these benchmarks.
    fn study(benchmarks: Vec<PairedBenchmark>) -> RunWidths {
        let procedure = Procedure { forks: None, ..Procedure::PAPER };
        procedure.study(&PairedRun { name: "r1".into(), benchmarks })
    }

    #[test]
    fn improvements_are_geometric_means_over_what_varies() {
        let mut run = study(vec![
            benchmark("A", noisy(1, 12, 2, 0.0, 0.01)),
            benchmark("B", noisy(2, 12, 2, 0.0, 0.01)),
            benchmark("C", vec![times(&[[1.0, 1.0]]); 5]),
        ]);
        let paired: Vec<f64> = run.measured.iter().map(|w| w.paired.interval.width()).collect();
        (run.measured[0].standard, run.measured[1].standard) = (8.0 * paired[0], 2.0 * paired[1]);
        let improvement = run.improvement(Kind::Standard).unwrap();
        assert_eq!(improvement.benchmarks, 2);
        assert!((improvement.factor - 4.0).abs() < 1e-12, "{improvement:?}");
        assert_eq!(run.improvement(Kind::Own), None);
        assert_eq!(run.quantiles(Kind::Paired).map(|q| q.count), Some(3));
        assert_eq!(run.quantiles(Kind::Own), None);
    }

    #[test]
    fn common_noise_shows_in_shuffled_widths_as_theory_says() {
        // Both sides have noise of standard deviation 0.06 in common and 0.02 of their own. Log ratios of pairs have the variance
        // 2 own², those of strangers 2 own² + 2 common²: a factor of sqrt(10).
        let (common, own) = (0.06_f64, 0.02_f64);
        let run = study((0..60).map(|i| benchmark(&format!("B{i}"), noisy(i, 20, 2, common, own))).collect());
        let want = ((2.0 * own * own + 2.0 * common * common) / (2.0 * own * own)).sqrt();
        // A standard deviation of 20 values is off by a share of sqrt(1 / 38), a quotient of two by sqrt(2 / 38); four errors of 60.
        let tolerance = 4.0 * (2.0_f64 / 38.0 / 60.0).sqrt();
        for kind in [Kind::Shuffled, Kind::Standard] {
            let got = run.improvement(kind).unwrap().factor;
            assert!((got / want).ln().abs() < tolerance, "{kind:?}: {got}, expected {want}");
        }
        // Without common noise a shuffle changes nothing.
        let alone = study((0..60).map(|i| benchmark(&format!("B{i}"), noisy(i, 20, 2, 0.0, own))).collect());
        let factor = alone.improvement(Kind::Shuffled).unwrap().factor;
        assert!(factor.ln().abs() < tolerance, "{factor}");
    }

    #[test]
    fn changes_are_called_where_intervals_do_not_hold_1() {
        let slower = noisy(3, 12, 2, 0.1, 0.001).into_iter().map(|mut fork| {
            fork.times.iter_mut().for_each(|both| both[1] *= 1.1);
            fork
        });
        let run = study(vec![benchmark("A", slower.collect()), benchmark("B", vec![times(&[[2.0, 2.0]]); 4])]);
        assert_eq!((run.called_changed(), run.own_called_changed()), (1, (0, 0)));
        let run = run.with_own(|name| (name == "A").then_some(Interval { low: 0.9, high: 1.2 }));
        assert_eq!(run.own_called_changed(), (0, 1));
        assert!((run.measured[0].width(Kind::Own).unwrap() - 0.3).abs() < 1e-12);
        // Twelve fork pairs and four: the mean of both levels.
        let level = [12, 4].map(|forks| super::super::percentile_level(forks, 0.99).unwrap());
        assert_eq!(run.level(), Some(level[0].midpoint(level[1])));
    }
}
