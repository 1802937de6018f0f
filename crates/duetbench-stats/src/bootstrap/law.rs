//! The distribution that a statistic has over resamples.

use super::interval::{Interval, reaches};

/// Masses below this one are rounding of the convolution.
const NEGLIGIBLE: f64 = 1e-15;

/// A bootstrap distribution: points in ascending order, and the share of resamples at or below each.
#[derive(Debug, Clone)]
pub(super) struct Law {
    points: Vec<f64>,
    reached: Vec<f64>,
    /// Whether the mass between two points is spread evenly between them, rather than all on the upper one.
    spread: bool,
}

impl Law {
    /// A statistic that is the same in all resamples.
    pub(super) fn of_one(value: f64) -> Law {
        Law { points: vec![value], reached: vec![1.0], spread: false }
    }

    /// From values and their masses, in any order; values may repeat.
    pub(super) fn of_atoms(mut atoms: Vec<(f64, f64)>) -> Law {
        atoms.retain(|(_, mass)| *mass > NEGLIGIBLE);
        atoms.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut law = Law { points: Vec::new(), reached: Vec::new(), spread: false };
        let mut sum = 0.0;
        for (value, mass) in atoms {
            sum += mass;
            if law.points.last() == Some(&value) {
                law.reached.pop();
                law.points.pop();
            }
            law.points.push(value);
            law.reached.push(sum);
        }
        law
    }

    /// From the masses of neighbouring cells of one width, of which `edge(i)` and `edge(i + 1)` are the edges of cell `i`.
    pub(super) fn of_cells(masses: &[f64], edge: impl Fn(usize) -> f64) -> Law {
        let mut law = Law { points: Vec::new(), reached: Vec::new(), spread: true };
        let mut sum = 0.0;
        for (cell, mass) in masses.iter().enumerate().filter(|(_, mass)| **mass > NEGLIGIBLE) {
            if law.points.last() != Some(&edge(cell)) {
                law.points.push(edge(cell));
                law.reached.push(sum);
            }
            sum += mass;
            law.points.push(edge(cell + 1));
            law.reached.push(sum);
        }
        law
    }

    /// The percentile interval that leaves out `tail` at each end: where the distribution reaches it from below, and from above.
    pub(super) fn interval(&self, tail: f64) -> Interval {
        Interval { low: self.lower_end(tail), high: self.upper_end(tail) }
    }

    fn lower_end(&self, tail: f64) -> f64 {
        let at = self.reached.partition_point(|share| !reaches(*share, tail)).min(self.points.len() - 1);
        self.between(at, tail)
    }

    fn upper_end(&self, tail: f64) -> f64 {
        let all = self.all();
        // Cells: the same point of the distribution seen from above. Atoms: the last with enough mass at or above it.
        if self.spread {
            let at = self.reached.partition_point(|share| *share < all - tail).min(self.points.len() - 1);
            return self.between(at, all - tail);
        }
        let above = self.reached.partition_point(|share| reaches(all - share, tail));
        self.points[above.min(self.points.len() - 1)]
    }

    /// Where between the point before and this one the distribution has the value `share`.
    fn between(&self, at: usize, share: f64) -> f64 {
        if !self.spread || at == 0 {
            return self.points[at];
        }
        let (from, to) = (self.reached[at - 1], self.reached[at]);
        let part = if to > from { ((share - from) / (to - from)).clamp(0.0, 1.0) } else { 1.0 };
        self.points[at - 1] + part * (self.points[at] - self.points[at - 1])
    }

    /// All mass; 1 but for rounding.
    fn all(&self) -> f64 {
        self.reached.last().copied().unwrap_or(1.0)
    }

    /// The least value that the statistic takes.
    pub(super) fn least(&self) -> f64 {
        self.points.first().copied().unwrap_or(f64::NAN)
    }

    /// The greatest one.
    pub(super) fn greatest(&self) -> f64 {
        self.points.last().copied().unwrap_or(f64::NAN)
    }

    /// The share of resamples at or below each of the ascending values, each weighted and summed up.
    ///
    /// For every `(value, weight)` of `at` this adds `weight * F(value)`; one pass over both.
    pub(super) fn weighted_share(&self, at: impl Iterator<Item = (f64, f64)>) -> f64 {
        let (mut next, mut sum) = (0, 0.0);
        for (value, weight) in at {
            while next < self.points.len() && self.points[next] <= value {
                next += 1;
            }
            sum += weight * self.share_before(next, value);
        }
        sum
    }

    /// The share at or below a value that lies before the point `next` and not before the one ahead of it.
    fn share_before(&self, next: usize, value: f64) -> f64 {
        if next == 0 {
            return 0.0;
        }
        let from = self.reached[next - 1];
        if !self.spread || next == self.points.len() {
            return from;
        }
        let (low, high) = (self.points[next - 1], self.points[next]);
        from + (self.reached[next] - from) * (value - low) / (high - low)
    }

    /// Values and their masses, ascending; a cell counts as its middle.
    pub(super) fn atoms(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        (0..self.points.len()).map(|i| match i.checked_sub(1) {
            None => (self.points[0], self.reached[0]),
            Some(before) if self.spread => {
                (self.points[before].midpoint(self.points[i]), self.reached[i] - self.reached[before])
            }
            Some(before) => (self.points[i], self.reached[i] - self.reached[before]),
        })
    }
}
