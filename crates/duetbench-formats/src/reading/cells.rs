//! From values with their places to grids, within bounds.

use duetbench_core::recording::{Cost, Grid, HarnessWarmUp, Level, Recorded, Recording};

use super::unit::Unit;
use crate::error::Wrong;
use crate::words::listed;

/// A grid may have this many cells for every value in the file: enough for gaps, too little to exhaust memory by a number.
const CELLS_PER_VALUE_MAX: usize = 16;
/// However few values there are, so many cells are no burden.
const CELLS_FREE: usize = 1_000_000;

/// One benchmark, before its values are put in their places.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outline {
    pub(crate) benchmark: String,
    pub(crate) unit: Unit,
    pub(crate) cost: Cost,
    pub(crate) harness_warm_up: Option<HarnessWarmUp>,
    pub(crate) terms: Vec<(&'static str, String)>,
    /// Repetitions of each level, outermost first.
    pub(crate) shape: Vec<usize>,
}

/// One value: the number of its benchmark, the number of its cell in row-major order, and itself.
pub(crate) type Cell = (u32, u32, f64);

/// Number of the cells of a shape, where that can be counted.
pub(crate) fn cells_of(shape: &[usize]) -> Option<u32> {
    let cells = shape.iter().try_fold(1_usize, |cells, repetitions| cells.checked_mul(*repetitions))?;
    u32::try_from(cells).ok()
}

/// The recording of benchmarks of these outlines with these cells; of two values in one place the first is kept.
pub(crate) fn recording(levels: &[Level], outlines: Vec<Outline>, cells: &[Cell]) -> Result<Recording, Wrong> {
    check_size(&outlines, cells.len())?;
    let mut grids: Vec<Vec<f64>> =
        outlines.iter().map(|outline| vec![f64::NAN; outline.shape.iter().product()]).collect();
    let mut repeated = vec![0_usize; outlines.len()];
    for (benchmark, at, value) in cells {
        let Some(cell) = grids.get_mut(*benchmark as usize).and_then(|grid| grid.get_mut(*at as usize)) else {
            continue;
        };
        if cell.is_nan() {
            *cell = *value;
        } else {
            repeated[*benchmark as usize] += 1;
        }
    }
    let mut warnings: Vec<String> = Vec::new();
    let again = outlines.iter().zip(&repeated).filter(|(_, n)| **n > 0).map(|(outline, n)| {
        (outline.benchmark.clone(), format!(" ({n} {})", if *n == 1 { "value" } else { "values" }))
    });
    warnings.extend(listed(again, "a second value for the same place was left out"));
    warnings.extend(gaps(&outlines, &grids));
    let benchmarks = outlines.into_iter().zip(grids).filter_map(|(outline, values)| {
        let Outline { benchmark, unit, cost, harness_warm_up, terms, shape } = outline;
        let grid = Grid::of(&shape, values)?;
        Some(Recorded { benchmark, unit: unit.word, better: unit.better, cost, harness_warm_up, terms, grid })
    });
    Ok(Recording { name: String::new(), levels: levels.to_vec(), benchmarks: benchmarks.collect(), warnings })
}

/// Warning about benchmarks that lack values.
fn gaps(outlines: &[Outline], grids: &[Vec<f64>]) -> Option<String> {
    let lacking = outlines.iter().zip(grids).filter_map(|(outline, grid)| {
        let there = grid.iter().filter(|v| !v.is_nan()).count();
        let some = 0 < there && there < grid.len();
        some.then(|| (outline.benchmark.clone(), format!(" ({there} of {} values)", grid.len())))
    });
    listed(lacking, "not complete")
}

/// Refuses shapes that say far more than the file holds.
fn check_size(outlines: &[Outline], values: usize) -> Result<(), Wrong> {
    let allowed = CELLS_FREE + CELLS_PER_VALUE_MAX * values;
    let size = |outline: &Outline| cells_of(&outline.shape).map_or(usize::MAX, |cells| cells as usize);
    let total = outlines.iter().fold(0_usize, |total, outline| total.saturating_add(size(outline)));
    match outlines.iter().max_by_key(|outline| size(outline)) {
        Some(largest) if total > allowed => Err(Wrong::in_file(format!(
            "holds {values} values, which is too few for {} repetitions of `{}`",
            largest.shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" × "),
            largest.benchmark
        ))),
        _ => Ok(()),
    }
}
