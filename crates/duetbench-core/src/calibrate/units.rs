//! The fork pairs of a benchmark by unit, and what they vary within units.

use super::Observed;
use crate::analysis::{Basis, ForkPair, by_unit, mean, means_of};
use crate::stats;

/// The fork pairs of a benchmark's first round, by unit, in the order of measuring.
#[derive(Debug, Clone)]
pub(super) struct Units {
    pub(super) forks: Vec<Vec<ForkPair>>,
    pub(super) basis: Basis,
    /// Whether fork pairs of one unit have something in common that those of others have not.
    pub(super) nested: bool,
    /// Successive fork pairs over which two programs run in the same places of memory.
    pub(super) places: u32,
}

/// Variance of fork pairs within one unit, with its degrees of freedom.
#[derive(Debug, Clone, Copy)]
pub(super) struct Within {
    pub(super) variance: f64,
    pub(super) degrees_of_freedom: f64,
}

impl Units {
    pub(super) fn of(observed: &Observed<'_>) -> Units {
        let first_round: Vec<ForkPair> = observed.forks.iter().filter(|fork| fork.round == 0).copied().collect();
        let forks = by_unit(&first_round, &observed.design);
        let basis = observed.basis;
        if forks.len() == 1 {
            // A single build pair, whatever was planned: its fork pairs are all there is to compare.
            return Units {
                forks: first_round.iter().map(|fork| vec![*fork]).collect(),
                basis,
                nested: false,
                places: 1,
            };
        }
        let nested = observed.design.by_build || forks.iter().any(|unit| unit.len() > 1);
        Units { forks, basis, nested, places: observed.design.places }
    }

    /// These of the units alone.
    pub(super) fn only(&self, keeps: impl Fn(usize) -> bool) -> Units {
        let kept = self.forks.iter().enumerate().filter(|(i, _)| keeps(*i));
        Units { forks: kept.map(|(_, unit)| unit.clone()).collect(), ..*self }
    }

    /// The number of every unit.
    pub(super) fn means(&self) -> Vec<f64> {
        self.numbers().iter().map(|unit| mean(unit)).collect()
    }

    /// Fork pairs of a unit, harmonic mean.
    pub(super) fn forks_per_unit(&self) -> f64 {
        let per_fork: f64 = self.forks.iter().map(|unit| (unit.len() as f64).recip()).sum();
        self.forks.len() as f64 / per_fork
    }

    /// The median of something over all fork pairs.
    pub(super) fn median_over_forks(&self, number: impl Fn(&ForkPair) -> f64) -> Option<f64> {
        stats::median(&self.forks.iter().flatten().map(number).collect::<Vec<_>>()).ok()
    }

    /// Variance between fork pairs of one unit, a tenth at each end of their deviations winsorised as the trimmed t does with
    /// units. Where programs exchange their places it is that of means in which these cancel, times the fork pairs of each. Absent
    /// where no unit has two.
    ///
    /// A deviation from the mean of `n` is `sqrt(n / (n - 1))` times too small; so enlarged, all vary alike and can be
    /// winsorised together. With none winsorised it is the mean square within units.
    pub(super) fn within(&self) -> Option<Within> {
        let numbers: Vec<Vec<f64>> = self.numbers().iter().map(|unit| means_of(unit, self.places)).collect();
        let deviations = numbers.iter().filter(|unit| unit.len() > 1).flat_map(|unit| {
            let (n, mean) = (unit.len() as f64, mean(unit));
            unit.iter().map(move |d| ((d - mean) * (n / (n - 1.0)).sqrt(), (n - 1.0) / n))
        });
        let mut ascending: Vec<(f64, f64)> = deviations.collect();
        ascending.sort_by(|a, b| a.0.total_cmp(&b.0));
        let left_out = ascending.len() / 10;
        let (lowest, highest) = (ascending.get(left_out)?.0, ascending[ascending.len() - 1 - left_out].0);
        let degrees_of_freedom: f64 = ascending.iter().map(|(_, weight)| weight).sum();
        let squares: f64 = ascending.iter().map(|(d, weight)| weight * d.clamp(lowest, highest).powi(2)).sum();
        let kept = 1.0 - 2.0 * left_out as f64 / ascending.len() as f64;
        Some(Within {
            variance: f64::from(self.places) * squares / degrees_of_freedom / kept.powi(2),
            degrees_of_freedom: kept * degrees_of_freedom,
        })
    }

    fn numbers(&self) -> Vec<Vec<f64>> {
        self.forks.iter().map(|unit| unit.iter().map(|fork| self.basis.of(fork)).collect()).collect()
    }
}
