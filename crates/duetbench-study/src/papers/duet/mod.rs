//! The duet paper's widths (Bulej et al., ICPE 2020, sections 3, 4.1 to 4.3 and 7.2), on anybody's paired comparisons.
//!
//! 1. How wide is the interval of the paper's procedure, and how wide would it be without pairs ([`Procedure`], [`Widths`])?
//! 2. How much narrower is it over all benchmarks of a run ([`RunWidths`])?
//! 3. How often does it miss the truth, whatever it says ([`percentile_level`], [`Resampled`])?
//!
//! A run, as the paper calls it, is one process of each version, here a fork pair. Widths say how much of the gain comes from
//! interference that hits both at once, on the machine that was measured on.

mod level;
mod procedure;
mod summary;

use duetbench_core::pair::Pair;
use duetbench_core::plan::Mode;

pub use level::{Resampled, percentile_level};
pub use procedure::{Procedure, Widths};
pub use summary::{Improvement, Kind, LeftOut, Quantiles, RunWidths};

/// One comparison of two versions, as the paper sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct PairedRun {
    /// Its name.
    pub name: String,
    /// Data of each benchmark.
    pub benchmarks: Vec<PairedBenchmark>,
}

/// Data of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct PairedBenchmark {
    /// The benchmark.
    pub benchmark: String,
    /// The mode in which it was measured; absent where it was not.
    pub mode: Option<Mode>,
    /// Its fork pairs, in the order of measuring.
    pub forks: Vec<PairedFork>,
    /// Why there are none, or not all that were wanted, where that is known.
    pub missing: Option<String>,
}

/// Data of one fork pair.
#[derive(Debug, Clone, PartialEq)]
pub struct PairedFork {
    /// Times of the iterations that were measured together, baseline and candidate, in the order of measuring; nanoseconds per
    /// invocation.
    pub times: Vec<[f64; 2]>,
}

impl PairedFork {
    /// The times of these pairs; absent where there are none, or one of them took no time or has no invocations.
    pub fn of(pairs: &[Pair]) -> Option<PairedFork> {
        let time = |pair: &Pair| {
            let both = [pair.baseline, pair.candidate];
            let is_valid = both.iter().all(|sample| sample.wall_ns > 0 && sample.invocations > 0);
            is_valid.then(|| both.map(|sample| sample.wall_ns as f64 / sample.invocations as f64))
        };
        let times: Vec<[f64; 2]> = pairs.iter().map(time).collect::<Option<_>>()?;
        (!times.is_empty()).then_some(PairedFork { times })
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// A benchmark with these fork pairs.
    pub(super) fn benchmark(name: &str, forks: Vec<PairedFork>) -> PairedBenchmark {
        PairedBenchmark { benchmark: name.to_owned(), mode: Some(Mode::Duet), forks, missing: None }
    }

    pub(super) fn times(times: &[[f64; 2]]) -> PairedFork {
        PairedFork { times: times.to_vec() }
    }

    /// Fork pairs of equal versions with so many iterations each, whose forks have log-normal noise of these standard deviations: in
    /// common and of their own.
    pub(super) fn noisy(seed: u64, forks: usize, iterations: usize, common: f64, own: f64) -> Vec<PairedFork> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut fork = || {
            let shared = common * normal(&mut random);
            let both = [0, 1].map(|_| (100.0_f64.ln() + shared + own * normal(&mut random)).exp());
            times(&vec![both; iterations])
        };
        (0..forks).map(|_| fork()).collect()
    }

    /// A benchmark of equal versions as any other.
    pub(super) fn aa(name: &str) -> PairedBenchmark {
        benchmark(name, noisy(5, 12, 3, 0.1, 0.01))
    }

    /// Standard normal, by the method of Box and Muller (Annals of Mathematical Statistics 29, 1958).
    fn normal(random: &mut ChaCha8Rng) -> f64 {
        let (radius, angle): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }
}
