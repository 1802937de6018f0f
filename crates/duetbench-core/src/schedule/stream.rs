//! Every random choice of a run by name: the same seed gives the same run, and no choice disturbs another.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// A choice that draws from a stream of its own. The numbers are for good: with others a stored run could not be resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    /// The order of one pass over the suite.
    Order {
        /// Number of the pass in its round, from 0.
        pass: u32,
    },
    /// The layouts of the two halves of a build pair.
    Layouts {
        /// Number of the build pair, from 0.
        build: u32,
    },
    /// The first turns of benchmarks that do not take part in every pass.
    Mixture,
    /// Side and core of a benchmark in two successive suite runs.
    Place {
        /// Index of the benchmark.
        benchmark: usize,
        /// Number of the two suite runs, from 0.
        block: u32,
    },
}

impl Stream {
    /// Places count down from the top, the others up: they never meet.
    fn number(self) -> u64 {
        match self {
            Stream::Order { pass } => u64::from(pass) + 1,
            Stream::Layouts { build } => (1 << 48) + u64::from(build),
            Stream::Mixture => 1 << 49,
            Stream::Place { benchmark, block } => {
                u64::MAX - (benchmark as u64) * u64::from(u32::MAX) - u64::from(block)
            }
        }
    }

    /// The stream in one round of a run with this seed.
    pub(super) fn of(self, seed: u64, round: u32) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(seed.wrapping_add(u64::from(round) << 32));
        rng.set_stream(self.number());
        rng
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_for_good() {
        let place = Stream::Place { benchmark: 1, block: 2 };
        let numbers = [Stream::Order { pass: 0 }, Stream::Layouts { build: 3 }, Stream::Mixture, place];
        let sealed = [1, (1 << 48) + 3, 1 << 49, u64::MAX - u64::from(u32::MAX) - 2];
        assert_eq!(numbers.map(Stream::number), sealed);
    }
}
