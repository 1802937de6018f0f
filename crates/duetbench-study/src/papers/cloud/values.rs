//! The values of a benchmark in an environment, by instance and trial, without those that are far off.

use duetbench_core::recording::{Better, Grid, Level, Recorded};
use duetbench_core::stats;

/// Values that are so many times the median are far off: the paper removes what is one order of magnitude higher, or more.
pub const FAR_OFF: f64 = 10.0;

/// Part of the shape that is kept: instances, trials in each, forks in each of these, values in each fork.
const LEVELS: usize = 4;

/// A benchmark in one recording, with the recording's levels.
pub(super) type Part<'a> = (&'a [Level], &'a Recorded);

/// The times of a benchmark in an environment.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    /// The benchmark.
    pub benchmark: String,
    /// Values before cleaning.
    pub collected: usize,
    /// Values that were removed, being far off.
    pub removed: usize,
    shape: [usize; LEVELS],
    /// Row-major; NaN where nothing was measured, or what was measured is far off.
    cells: Vec<f64>,
}

impl Values {
    /// The values of a benchmark that was recorded once or several times with these levels; each recording brings instances of its own.
    /// Throughputs become times. Without several trials in any instance, forks take their place: they are fresh processes too.
    pub(super) fn of(benchmark: &str, parts: &[Part<'_>]) -> Values {
        let shapes: Vec<[usize; LEVELS]> = parts.iter().map(|(levels, part)| shape(levels, &part.grid)).collect();
        let most = |level: usize| shapes.iter().map(|shape| shape[level]).max().unwrap_or(0);
        let mut joined = [shapes.iter().map(|shape| shape[0]).sum(), most(1), most(2), most(3)];
        let mut cells = Vec::with_capacity(joined.iter().product());
        for ((_, part), own) in parts.iter().zip(&shapes) {
            widen(part, *own, joined, &mut cells);
        }
        if joined[1] == 1 {
            joined.swap(1, 2);
        }
        let mut values = Values { benchmark: benchmark.to_owned(), collected: 0, removed: 0, shape: joined, cells };
        values.clean();
        values
    }

    /// Removes what is far above the median.
    fn clean(&mut self) {
        let there: Vec<f64> = self.present().collect();
        self.collected = there.len();
        let Ok(median) = stats::median(&there) else { return };
        // With a median of 0 nothing could be told from it.
        for cell in self.cells.iter_mut().filter(|cell| median > 0.0 && **cell >= FAR_OFF * median) {
            *cell = f64::NAN;
            self.removed += 1;
        }
    }

    /// All values.
    pub(super) fn present(&self) -> impl Iterator<Item = f64> + Clone + '_ {
        present(&self.cells)
    }

    /// All cells, row-major, NaN where there is no value.
    pub(super) fn cells(&self) -> &[f64] {
        &self.cells
    }

    /// Repetitions of instance, trial, fork and value.
    pub(super) fn shape(&self) -> &[usize; LEVELS] {
        &self.shape
    }

    /// Places for instances, those without values among them.
    pub(super) fn instances(&self) -> usize {
        self.shape[0]
    }

    /// The numbers of the trials of an instance that have values, counted through over all instances.
    pub(super) fn trials_of(&self, instance: usize) -> impl Iterator<Item = usize> + Clone + '_ {
        let trials = instance * self.shape[1]..(instance + 1) * self.shape[1];
        trials.filter(|trial| present(self.trial(*trial)).next().is_some())
    }

    /// Where the cells of a trial are.
    pub(super) fn places(&self, trial: usize) -> std::ops::Range<usize> {
        let of_each = self.shape[2] * self.shape[3];
        trial * of_each..(trial + 1) * of_each
    }

    /// The cells of a trial, NaN where there is no value.
    pub(super) fn trial(&self, trial: usize) -> &[f64] {
        &self.cells[self.places(trial)]
    }

    /// The cells of an instance, NaN where there is no value.
    pub(super) fn instance(&self, instance: usize) -> &[f64] {
        let of_each = self.cells.len() / self.shape[0].max(1);
        &self.cells[instance * of_each..(instance + 1) * of_each]
    }
}

/// The cells that have a value.
pub(super) fn present(cells: &[f64]) -> impl Iterator<Item = f64> + Clone + '_ {
    cells.iter().copied().filter(|value| value.is_finite())
}

/// A grid's repetitions by the levels that are kept; iterations and their seconds are values.
fn shape(levels: &[Level], grid: &Grid) -> [usize; LEVELS] {
    let mut shape = [1; LEVELS];
    for (level, repetitions) in levels.iter().zip(grid.shape()) {
        let at = match level {
            Level::Instance => 0,
            Level::SuiteRun => 1,
            Level::Fork => 2,
            Level::Iteration | Level::Second => 3,
        };
        shape[at] *= repetitions;
    }
    shape
}

/// Adds times to cells of a shape that is as wide at every level inside instances, or wider.
fn widen(part: &Recorded, own: [usize; LEVELS], joined: [usize; LEVELS], cells: &mut Vec<f64>) {
    let time = |value: f64| match part.better {
        Better::Lower => Some(value),
        Better::Higher => Some(1.0 / value),
    };
    let at = |instance: usize, trial: usize, fork: usize, value: usize| {
        let inside = trial < own[1] && fork < own[2] && value < own[3];
        let index = ((instance * own[1] + trial) * own[2] + fork) * own[3] + value;
        inside.then(|| part.grid.cells()[index]).and_then(time).filter(|time| time.is_finite()).unwrap_or(f64::NAN)
    };
    for instance in 0..own[0] {
        for trial in 0..joined[1] {
            for fork in 0..joined[2] {
                cells.extend((0..joined[3]).map(|value| at(instance, trial, fork, value)));
            }
        }
    }
}
