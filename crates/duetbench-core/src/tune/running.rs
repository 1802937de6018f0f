//! The moments of any configuration at no cost.

use crate::recording::Grid;
use crate::stats::Moments;

/// Variances that are a smaller share of what was summed up than this are too much rounding to be used.
const PRECISION: f64 = 1e-8;

/// Number, and sums of the first four powers.
type Sums = [f64; 5];

/// Running sums along all levels of a grid: the cell at the far corner of a configuration holds the sums over the configuration. Values
/// are centred and scaled by all of them, so that few digits are lost.
pub(super) struct Running {
    strides: Vec<usize>,
    sums: Vec<Sums>,
    centre: f64,
    scale: f64,
    values: f64,
}

impl Running {
    /// Sums up a grid.
    pub(super) fn of(grid: &Grid) -> Running {
        let values = grid.values();
        let n = values.len() as f64;
        let centre = values.iter().sum::<f64>() / n;
        let scale = (values.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / n).sqrt();
        let powers = |value: &f64| {
            let z = (value - centre) / scale;
            if value.is_finite() { [1.0, z, z * z, z * z * z, z * z * z * z] } else { [0.0; 5] }
        };
        let mut sums: Vec<Sums> = grid.cells().iter().map(powers).collect();
        let strides: Vec<usize> = (0..grid.shape().len()).map(|l| grid.shape()[l + 1..].iter().product()).collect();
        for (level, &stride) in strides.iter().enumerate() {
            for cell in stride..sums.len() {
                if cell / stride % grid.shape()[level] > 0 {
                    let before = sums[cell - stride];
                    sums[cell].iter_mut().zip(before).for_each(|(sum, before)| *sum += before);
                }
            }
        }
        Running { strides, sums, centre, scale, values: n }
    }

    /// The moments of a configuration, which the grid contains; absent where rounding would show in them.
    pub(super) fn moments(&self, configuration: &[usize]) -> Option<Moments> {
        let corner: usize = configuration.iter().zip(&self.strides).map(|(n, stride)| (n - 1) * stride).sum();
        let [n, sums @ ..] = self.sums[corner];
        let [m1, m2, m3, m4] = sums.map(|sum| sum / n);
        let variance = m2 - m1 * m1;
        if variance.is_nan() || variance <= PRECISION * self.values / n {
            return None;
        }
        let third = m3 - 3.0 * m1 * m2 + 2.0 * m1.powi(3);
        let fourth = m4 - 4.0 * m1 * m3 + 6.0 * m1 * m1 * m2 - 3.0 * m1.powi(4);
        Some(Moments {
            n: n as usize,
            mean: self.centre + self.scale * m1,
            sd: self.scale * variance.sqrt(),
            skew: third / variance.powf(1.5),
            excess: fourth / (variance * variance) - 3.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_has_the_moments_of_its_prefix() {
        let shape = [2, 3, 5];
        let mut grid = Grid::of(&shape, (0..30_u32).map(|i| 1000.0 + f64::from(i * 7919 % 101)).collect()).unwrap();
        grid.set(&[0, 1, 2], f64::NAN);
        let running = Running::of(&grid);
        for configuration in [[1, 1, 2], [2, 2, 2], [1, 3, 5], [2, 3, 5], [2, 1, 1]] {
            let (is, want) =
                (running.moments(&configuration).unwrap(), Moments::of(&grid.prefix(&configuration)).unwrap());
            assert_eq!(is.n, want.n, "{configuration:?}");
            for (is, want) in [(is.mean, want.mean), (is.sd, want.sd), (is.skew, want.skew), (is.excess, want.excess)] {
                assert!((is - want).abs() < 1e-9 * want.abs().max(1.0), "{configuration:?} {is} {want}");
            }
        }
    }

    #[test]
    fn a_spread_that_is_lost_in_rounding_is_not_told() {
        let grid = Grid::of(&[5], vec![1.0, 1.0 + 1e-9, 1.0, 1.0, 1e9]).unwrap();
        assert_eq!(Running::of(&grid).moments(&[3]), None);
        assert!(Running::of(&grid).moments(&[5]).is_some());
        let equal = Grid::of(&[3], vec![2.0; 3]).unwrap();
        assert_eq!(Running::of(&equal).moments(&[3]), None);
        let gap = Grid::of(&[3], vec![f64::NAN, 2.0, 3.0]).unwrap();
        assert_eq!(Running::of(&gap).moments(&[1]), None);
    }
}
