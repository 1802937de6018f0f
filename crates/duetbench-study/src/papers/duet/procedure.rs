//! The paper's interval, and what takes its place without pairs.

use duetbench_core::plan::Mode;
use duetbench_core::stats::{Interval, Nested, StatsError, mean, mean_difference_interval, median};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::level::percentile_level;
use super::summary::Kind;
use super::{LeftOut, PairedBenchmark, PairedFork, PairedRun, RunWidths};
use crate::papers::fnv1a;
use crate::statistics::{GrandRatio, grand_ratio, winsorise};

/// Fork pairs that a benchmark must have: with two the interval goes from the one to the other and is wrong every second time.
const FORKS_MIN: usize = 3;
/// Shuffles whose widths are averaged. The paper shuffles once; how wide that comes out is luck.
const SHUFFLES: usize = 25;

/// Settings for computing widths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Procedure {
    /// Confidence of the intervals, a fraction.
    pub confidence: f64,
    /// Fork pairs that are drawn of each benchmark's; absent, all are taken.
    pub forks: Option<usize>,
    /// Distance outside the others' range from which on an iteration is replaced, as a fraction of that range's length; absent, none is.
    pub winsorise: Option<f64>,
    /// Source of draws and shuffles, together with the benchmark's name.
    pub seed: u64,
}

/// Widths of the intervals of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Widths {
    /// The benchmark.
    pub benchmark: String,
    /// The mode in which it was measured.
    pub mode: Mode,
    /// Fork pairs that could be drawn.
    pub forks_measured: usize,
    /// Fork pairs that were left out because they have less than half as many iterations as the others.
    pub forks_short: usize,
    /// Fork pairs that were drawn.
    pub forks: usize,
    /// Iterations of each that count, the least number that any has.
    pub iterations: usize,
    /// The paper's estimate: the grand geometric mean of the paired ratios, with its interval.
    pub paired: GrandRatio,
    /// The width of that interval when each candidate meets the baseline of any fork pair; the mean over 25 shuffles.
    pub shuffled: f64,
    /// The standard method's width: that of the interval of the difference of means, by the mean of all times.
    pub standard: f64,
    /// Share of such paired intervals that miss the true ratio ([`percentile_level`]), a fraction.
    pub level: f64,
    /// The interval that duet itself gives, where it gives one; of all fork pairs.
    pub own: Option<Interval>,
    /// Mean log ratio of every fork pair that could be drawn.
    pub log_ratios: Vec<f64>,
}

/// The times of fork pairs with one number of iterations, row-major.
struct Balanced {
    forks: usize,
    iterations: usize,
    baseline: Vec<f64>,
    candidate: Vec<f64>,
}

impl Procedure {
    /// As the paper has it: 99 %, samples of ten runs, at most one outlier a run that is farther than 20 % away. The seed is ours.
    pub const PAPER: Procedure = Procedure { confidence: 0.99, forks: Some(10), winsorise: Some(0.2), seed: 42 };

    /// Applies the procedure to every benchmark.
    pub fn study(&self, run: &PairedRun) -> RunWidths {
        let (mut measured, mut left_out) = (Vec::new(), Vec::new());
        for benchmark in &run.benchmarks {
            match self.widths(benchmark) {
                Ok(widths) => measured.push(widths),
                Err(error) => left_out.push(LeftOut::of(benchmark, error)),
            }
        }
        RunWidths { run: run.name.clone(), measured, left_out }
    }

    /// Applies the procedure to one benchmark.
    ///
    /// # Errors
    /// With fewer than three fork pairs, with times that are not positive, or at a confidence that is none.
    pub fn widths(&self, benchmark: &PairedBenchmark) -> Result<Widths, StatsError> {
        let long_enough = long_enough(&benchmark.forks)?;
        let mode = benchmark.mode.ok_or(StatsError::TooFew { have: 0, needed: FORKS_MIN })?;
        let all = self.balanced(&long_enough)?;
        let drawn = self.drawn(all.forks, &benchmark.benchmark);
        let chosen = all.only(&drawn);
        let shape = [chosen.forks, chosen.iterations];
        let (baseline, candidate) = (Nested::of(&shape, &chosen.baseline)?, Nested::of(&shape, &chosen.candidate)?);
        let everything = [&chosen.baseline[..], &chosen.candidate[..]].concat();
        let difference = mean_difference_interval(baseline, candidate, self.confidence)?;
        Ok(Widths {
            benchmark: benchmark.benchmark.clone(),
            mode,
            forks_measured: all.forks,
            forks_short: benchmark.forks.len() - all.forks,
            forks: chosen.forks,
            iterations: chosen.iterations,
            paired: grand_ratio(&chosen.baseline, &chosen.candidate, chosen.forks, self.confidence)?,
            shuffled: self.shuffled(&chosen, &benchmark.benchmark)?,
            standard: difference.width() / mean(&everything)?,
            level: percentile_level(chosen.forks, self.confidence)?,
            own: None,
            log_ratios: all.log_ratios()?,
        })
    }

    /// The same number of iterations of every fork pair, outliers replaced.
    fn balanced(&self, forks: &[&PairedFork]) -> Result<Balanced, StatsError> {
        let iterations = forks.iter().map(|fork| fork.times.len()).min().unwrap_or(0);
        let side = |side: usize| {
            let mut values = Vec::with_capacity(forks.len() * iterations);
            for fork in forks {
                let times: Vec<f64> = fork.times[..iterations].iter().map(|both| both[side]).collect();
                values.extend(match self.winsorise {
                    Some(share) => winsorise(&times, share)?,
                    None => times,
                });
            }
            Ok(values)
        };
        Ok(Balanced { forks: forks.len(), iterations, baseline: side(0)?, candidate: side(1)? })
    }

    /// Indices of the fork pairs that are taken, in the order of measuring.
    fn drawn(&self, forks: usize, benchmark: &str) -> Vec<usize> {
        let mut all: Vec<usize> = (0..forks).collect();
        let wanted = self.forks.map_or(forks, |wanted| wanted.min(forks));
        let (drawn, _) = all.partial_shuffle(&mut self.random("fork pairs", benchmark), wanted);
        drawn.sort_unstable();
        drawn.to_vec()
    }

    /// The paired interval's width without pairs.
    ///
    /// Forks are shuffled as wholes: within a fork pair no shuffle changes anything, since the geometric mean of ratios is the ratio of
    /// geometric means, and iterations from all over would also average out what a fork does to all of its own.
    fn shuffled(&self, chosen: &Balanced, benchmark: &str) -> Result<f64, StatsError> {
        let (baseline, mut candidate) = chosen.geometric_means()?;
        let mut random = self.random("shuffles", benchmark);
        let mut widths = Vec::with_capacity(SHUFFLES);
        for _ in 0..SHUFFLES {
            candidate.shuffle(&mut random);
            widths.push(grand_ratio(&baseline, &candidate, chosen.forks, self.confidence)?.interval.width());
        }
        mean(&widths)
    }

    /// Random numbers of its own for everything that is drawn for a benchmark.
    pub(super) fn random(&self, what: &str, benchmark: &str) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(fnv1a(what.bytes().chain([0]).chain(benchmark.bytes())));
        random
    }
}

/// Fork pairs with at least half as many iterations as is usual, if they are enough: all are cut to the shortest.
fn long_enough(forks: &[PairedFork]) -> Result<Vec<&PairedFork>, StatsError> {
    let lengths: Vec<f64> = forks.iter().map(|fork| fork.times.len() as f64).collect();
    let usual = median(&lengths).unwrap_or(0.0);
    let kept: Vec<&PairedFork> =
        forks.iter().filter(|fork| !fork.times.is_empty() && 2.0 * fork.times.len() as f64 >= usual).collect();
    if kept.len() < FORKS_MIN {
        return Err(StatsError::TooFew { have: kept.len(), needed: FORKS_MIN });
    }
    Ok(kept)
}

impl Balanced {
    /// Some of the fork pairs.
    fn only(&self, drawn: &[usize]) -> Balanced {
        let of = |values: &[f64]| {
            let fork = |i: &usize| &values[i * self.iterations..(i + 1) * self.iterations];
            drawn.iter().flat_map(fork).copied().collect()
        };
        Balanced {
            forks: drawn.len(),
            iterations: self.iterations,
            baseline: of(&self.baseline),
            candidate: of(&self.candidate),
        }
    }

    /// Geometric means of the baselines and of the candidates, one for every fork pair.
    fn geometric_means(&self) -> Result<(Vec<f64>, Vec<f64>), StatsError> {
        let of = |values: &[f64]| {
            let logs = |fork: &[f64]| mean(&fork.iter().map(|value| value.ln()).collect::<Vec<_>>()).map(f64::exp);
            values.chunks(self.iterations).map(logs).collect::<Result<Vec<f64>, StatsError>>()
        };
        Ok((of(&self.baseline)?, of(&self.candidate)?))
    }

    /// Mean log ratio of every fork pair.
    fn log_ratios(&self) -> Result<Vec<f64>, StatsError> {
        let (baseline, candidate) = self.geometric_means()?;
        Ok(baseline.iter().zip(&candidate).map(|(b, c)| (c / b).ln()).collect())
    }
}

impl Widths {
    /// The width of the interval of this kind; absent where there is none.
    pub fn width(&self, kind: Kind) -> Option<f64> {
        match kind {
            Kind::Paired => Some(self.paired.interval.width()),
            Kind::Shuffled => Some(self.shuffled),
            Kind::Standard => Some(self.standard),
            Kind::Own => self.own.map(|own| own.width()),
        }
    }

    /// Factor by which the interval of this kind is wider than the paired one; absent where one of the two has no width.
    pub fn times_wider(&self, kind: Kind) -> Option<f64> {
        let (wider, paired) = (self.width(kind)?, self.paired.interval.width());
        (wider > 0.0 && paired > 0.0).then(|| wider / paired)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{aa, benchmark, noisy, times};
    use super::*;

    /// As in the paper, but of all fork pairs.
    const ALL: Procedure = Procedure { forks: None, ..Procedure::PAPER };

    #[test]
    fn known_intervals_come_out() {
        // Log ratios of the fork pairs are 0, 1 and 2 times ln 2: the interval goes from 1 to 4, with 3 of them nothing is left out.
        let forks = [[1.0, 1.0], [1.0, 2.0], [1.0, 4.0]].map(|both| times(&[both; 4]));
        let widths = ALL.widths(&benchmark("A", forks.to_vec())).unwrap();
        assert!((widths.paired.ratio - 2.0).abs() < 1e-12, "{widths:?}");
        assert!((widths.width(Kind::Paired).unwrap() - 3.0).abs() < 1e-12);
        // Baselines are all the same, so that a shuffle changes nothing.
        assert!((widths.shuffled - 3.0).abs() < 1e-12);
        // The mean of three candidates is from 1 to 4 as well; that of all times is (3 + 7) / 6.
        assert!((widths.standard - 3.0 / (10.0 / 6.0)).abs() < 1e-9, "{}", widths.standard);
        assert_eq!((widths.forks, widths.iterations, widths.own), (3, 4, None));
    }

    #[test]
    fn what_does_not_vary_has_no_width_shuffled_or_not() {
        let widths = ALL.widths(&benchmark("A", vec![times(&[[3.0, 5.0]; 6]); 12])).unwrap();
        assert_eq!([Kind::Paired, Kind::Shuffled, Kind::Standard].map(|kind| widths.width(kind)), [Some(0.0); 3]);
        assert_eq!(widths.times_wider(Kind::Standard), None);
    }

    #[test]
    fn what_hits_both_alike_is_in_all_widths_but_the_paired() {
        let of = |level: f64| times(&[[level, level], [1.1 * level, 1.1 * level]]);
        let widths = ALL.widths(&benchmark("A", [1.0, 1.3, 0.8, 1.1, 2.0].map(of).to_vec())).unwrap();
        assert!(widths.width(Kind::Paired).unwrap() < 1e-9, "{widths:?}");
        assert!(widths.shuffled > 0.3 && widths.standard > 0.3, "{widths:?}");
    }

    #[test]
    fn one_outlier_a_fork_and_side_is_replaced_if_asked() {
        let mut spoilt: Vec<[f64; 2]> = (0..8).map(|i| [100.0 + f64::from(i), 100.0 + f64::from(i)]).collect();
        let clean = times(&spoilt);
        spoilt[7][1] = 1e6;
        let with = |procedure: Procedure, fork: &PairedFork| {
            let forks = vec![clean.clone(), fork.clone(), clean.clone()];
            procedure.widths(&benchmark("A", forks)).unwrap().paired.interval.width()
        };
        // The outlier becomes 106, its nearest neighbour, where 107 was: by an eighth of ln(106 / 107) in that fork pair.
        let replaced = with(ALL, &times(&spoilt));
        assert!((replaced - (1.0 - (106.0_f64 / 107.0).powf(1.0 / 8.0))).abs() < 1e-9, "{replaced}");
        let kept = with(Procedure { winsorise: None, ..ALL }, &times(&spoilt));
        assert!((kept - ((1e6_f64 / 107.0).powf(1.0 / 8.0) - 1.0)).abs() < 1e-9, "{kept}");
    }

    #[test]
    fn so_many_fork_pairs_are_drawn_by_seed_and_name() {
        let forks = noisy(7, 24, 3, 0.1, 0.05);
        let of = |name: &str, seed: u64| {
            let procedure = Procedure { seed, ..Procedure::PAPER };
            procedure.widths(&benchmark(name, forks.clone())).unwrap()
        };
        let one = of("A", 42);
        assert_eq!((one.forks, one.forks_measured, one.log_ratios.len()), (10, 24, 24));
        assert_eq!(one, of("A", 42));
        assert_ne!(one.paired, of("A", 43).paired);
        assert_ne!(one.paired, of("B", 42).paired);
        let few = Procedure::PAPER.widths(&benchmark("A", forks[..4].to_vec())).unwrap();
        assert_eq!((few.forks, few.forks_measured), (4, 4));
    }

    #[test]
    fn short_fork_pairs_are_left_out_and_long_ones_cut() {
        let of = |pairs: usize| times(&vec![[1.0, 1.0]; pairs]);
        let widths = ALL.widths(&benchmark("A", [8, 9, 3, 10, 8].map(of).to_vec())).unwrap();
        assert_eq!((widths.forks, widths.forks_short, widths.iterations), (4, 1, 8));
        let too_few = ALL.widths(&benchmark("A", [8, 9, 3].map(of).to_vec()));
        assert_eq!(too_few, Err(StatsError::TooFew { have: 2, needed: 3 }));
    }

    #[test]
    fn what_cannot_be_studied_is_left_out_with_its_reason() {
        let mut none = benchmark("B", Vec::new());
        none.missing = Some("only in base".into());
        let mut few = benchmark("C", vec![times(&[[1.0, 1.0]]); 2]);
        few.missing = Some("trials failed, the first with: no luck".into());
        let run = PairedRun { name: "r1".into(), benchmarks: vec![aa("A"), none, few] };
        let studied = Procedure::PAPER.study(&run);
        let reasons: Vec<&str> = studied.left_out.iter().map(|out| out.reason.as_str()).collect();
        let few = "2 fork pairs, at least 3 are needed; trials failed, the first with: no luck";
        assert_eq!((studied.measured.len(), reasons), (1, vec!["only in base", few]));
    }
}
