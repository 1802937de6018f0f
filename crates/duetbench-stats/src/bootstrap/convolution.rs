//! The bootstrap distribution of a mean, by convolution.

use std::sync::{Arc, OnceLock};

use realfft::num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};

use super::lattice::common_step;
use super::law::Law;
use super::nested::Nested;
use crate::StatsError;

/// Cells of the grid on which sums are laid out, unless a few values lie far out.
const CELLS: usize = 4096;
/// Doublings of their number that are allowed.
const DOUBLINGS: usize = 5;
/// Standard deviations of the sum that the grid spans; what lies farther out is counted at the other end.
const SPAN: f64 = 16.0;
/// A spectrum below this one is no longer seen beside rounding.
const NEGLIGIBLE: f64 = 1e-20;

struct Plans {
    forward: Arc<dyn RealToComplex<f64>>,
    inverse: Arc<dyn ComplexToReal<f64>>,
}

impl Plans {
    /// For a grid of so many cells, which is [`CELLS`] doubled up to [`DOUBLINGS`] times.
    fn of(cells: usize) -> &'static Plans {
        static OF: [OnceLock<Plans>; DOUBLINGS + 1] = [const { OnceLock::new() }; DOUBLINGS + 1];
        OF[(cells / CELLS).ilog2() as usize].get_or_init(|| {
            let mut planner = RealFftPlanner::new();
            Plans { forward: planner.plan_fft_forward(cells), inverse: planner.plan_fft_inverse(cells) }
        })
    }
}

/// Where values lie on the grid.
struct Grid {
    origin: f64,
    step: f64,
    cells: usize,
    /// Whether values lie on the cells rather than between them.
    exact: bool,
}

impl Grid {
    /// Values on a lattice that is coarse enough keep their own; sums of them are then exact.
    fn of(sample: Nested<'_>, deviation: f64) -> Grid {
        let values = sample.values();
        let origin = values.iter().copied().fold(f64::INFINITY, f64::min);
        let cells = cells(values, deviation);
        let step = SPAN * deviation / cells as f64;
        match common_step(values, step) {
            Some(common) => Grid { origin, step: common, cells, exact: true },
            None => Grid { origin, step, cells, exact: false },
        }
    }

    fn position(&self, value: f64) -> f64 {
        let position = (value - self.origin) / self.step;
        if self.exact { position.round() } else { position }
    }
}

/// Cells enough for the sums of what is not far out. Where a few values are, these sums lie in narrow lumps, one for each
/// number of far ones that are drawn, and a grid that spans all must be finer.
fn cells(values: &[f64], deviation: f64) -> usize {
    let mut ascending = values.to_vec();
    ascending.sort_by(f64::total_cmp);
    let quarter = |k: usize| ascending[k * (ascending.len() - 1) / 4];
    // The distance of the quartiles of normal values is 1.35 standard deviations.
    let typical = (quarter(3) - quarter(1)) / 1.35 * (values.len() as f64).sqrt();
    let finer = (deviation / (4.0 * typical)).clamp(1.0, (1 << DOUBLINGS) as f64);
    CELLS * (finer as usize).next_power_of_two()
}

/// The bootstrap distribution of the mean of a nested sample.
///
/// The sum over a resample is a sum of independent draws, at each level drawn from the repetitions inside, so its
/// characteristic function nests, `phi = (mean of the phi of the repetitions)^n`; it is evaluated by fast Fourier transform
/// on a grid. A value between two cells is shared out between them so that its mean stays; the variance that this adds is
/// known and divided out again. Values on a lattice are laid out on it and nothing is approximated.
pub(super) fn mean_law(sample: Nested<'_>) -> Result<Law, StatsError> {
    let (_, variance) = sample.sum_of_resample();
    if sample.is_constant() {
        return Ok(Law::of_one(sample.values()[0]));
    }
    if !variance.is_finite() {
        return Err(StatsError::NotFinite);
    }
    let grid = Grid::of(sample, variance.sqrt());
    if grid.step <= 0.0 || !grid.step.is_finite() {
        return Err(StatsError::NotFinite);
    }
    let positions: Vec<f64> = sample.values().iter().map(|v| grid.position(*v)).collect();
    let n = positions.len() as f64;
    let centre = positions.iter().sum::<f64>();
    let start = (centre - grid.cells as f64 / 2.0).floor();
    let masses = masses(sample.with(&positions), start, grid.cells)?;
    let added: f64 = positions.iter().map(|p| p.fract() * (1.0 - p.fract())).sum();
    let shrink = (1.0 + added * grid.step.powi(2) / variance).sqrt().recip();
    let value = |cell: f64| grid.origin + grid.step * (centre + (start + cell - centre) * shrink) / n;
    if grid.exact {
        return Ok(Law::of_atoms((0..grid.cells).map(|cell| (value(cell as f64), masses[cell])).collect()));
    }
    Ok(Law::of_cells(&masses, |cell| value(cell as f64 - 0.5)))
}

/// The masses of the sum over a resample, by cell, from the cell `start` on.
fn masses(positions: Nested<'_>, start: f64, cells: usize) -> Result<Vec<f64>, StatsError> {
    let mut spectrum = spectrum(positions, cells)?;
    // The sum is real; rounding may say otherwise, and the inverse transform would refuse it.
    for end in [0, cells / 2] {
        spectrum[end].im = 0.0;
    }
    let mut wrapped = vec![0.0; cells];
    Plans::of(cells).inverse.process(&mut spectrum, &mut wrapped).map_err(|_| StatsError::NotFinite)?;
    let offset = start.rem_euclid(cells as f64) as usize;
    Ok((0..cells).map(|cell| (wrapped[(cell + offset) % cells] / cells as f64).max(0.0)).collect())
}

/// The characteristic function of the sum over a resample, at the frequencies of the grid.
fn spectrum(positions: Nested<'_>, cells: usize) -> Result<Vec<Complex<f64>>, StatsError> {
    let n = positions.outermost();
    let mut of_draw = vec![Complex::new(0.0, 0.0); cells / 2 + 1];
    if positions.shape().len() <= 1 {
        let mut draw = vec![0.0; cells];
        for position in positions.values() {
            let cell = position.floor().rem_euclid(cells as f64) as usize;
            draw[cell] += (1.0 - position.fract()) / n as f64;
            draw[(cell + 1) % cells] += position.fract() / n as f64;
        }
        Plans::of(cells).forward.process(&mut draw, &mut of_draw).map_err(|_| StatsError::NotFinite)?;
    } else {
        for part in positions.repetitions() {
            of_draw.iter_mut().zip(spectrum(part, cells)?).for_each(|(sum, part)| *sum += part / n as f64);
        }
    }
    let exponent = u32::try_from(n).map_err(|_| StatsError::NotFinite)?;
    let least = NEGLIGIBLE.powf(2.0 / n as f64);
    let power = |of_draw: Complex<f64>| match of_draw.norm_sqr() < least {
        true => Complex::new(0.0, 0.0),
        false => of_draw.powu(exponent),
    };
    Ok(of_draw.into_iter().map(power).collect())
}
