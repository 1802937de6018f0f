//! Whether the two cores of a duet were alike.

use super::Clock;
use super::aggregate::arranged;
use crate::pair::pair;
use crate::plan::Mode;
use crate::sample::Sample;
use crate::stats;

/// Fork pairs of a duet after which its cores are judged.
const FORKS_MIN: usize = 4;

/// The cores of one benchmark's duets, as its fork pairs show them one after the other.
#[derive(Debug, Clone, Default)]
pub struct Cores {
    imbalances: Vec<f64>,
}

impl Cores {
    /// Takes the fork pair that comes next; whether the benchmark falls back to turns on one core by it: what its duets gave until then is
    /// not judged.
    pub fn make_fall_back(&mut self, samples: &[Sample], threshold: f64) -> bool {
        self.imbalances.extend(core_imbalance(samples));
        let falls_back = too_unlike(&self.imbalances, threshold);
        if falls_back {
            self.imbalances.clear();
        }
        falls_back
    }
}

/// Half the difference that exchanging the cores makes to the log ratio of one fork pair; 0 where both cores are alike.
///
/// Sides exchange cores at every block. Whatever slows one core only, such as a neighbour there, favours one side in every second
/// block and the other in the rest. It cancels in their sum, but it widens the interval and shows that the two sides did not
/// see the same interference. Absent where only one arrangement was measured, or each by a few blocks of one slice, whole programs,
/// of which chance would make unlike cores.
pub fn core_imbalance(samples: &[Sample]) -> Option<f64> {
    let pairs = pair(samples, Mode::Duet).pairs;
    if pairs.windows(2).all(|two| two[0].baseline.block != two[1].baseline.block) {
        return None;
    }
    let (baseline, candidate): (Vec<Sample>, Vec<Sample>) = pairs.iter().map(|p| (p.baseline, p.candidate)).unzip();
    let [even, odd] = arranged(&baseline, &candidate, Clock::Wall)?;
    Some((even - odd).abs() / 2.0)
}

/// Whether cores with these imbalances are too unlike for a duet: typically by more than half the threshold.
pub fn too_unlike(imbalances: &[f64], threshold: f64) -> bool {
    imbalances.len() >= FORKS_MIN && stats::median(imbalances).is_ok_and(|m| m > threshold.ln_1p() / 2.0)
}
