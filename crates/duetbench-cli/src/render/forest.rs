//! Intervals drawn against one axis, a column of the text's table.
//!
//! Shapes say what colour repeats. The axis is one of logarithms, so that half as fast and twice as fast lie equally far from
//! no change.

use duetbench_core::analysis::{Ranged, RatioInterval};
use duetbench_core::report::BenchmarkReport;
use duetbench_core::{Report, Verdict};
use unicode_width::UnicodeWidthStr;

use super::format::change;
use super::width::left;
use super::{order, summary};

/// Width of a terminal for each cell of the axis: a quarter of it is drawn on.
const WIDTH_PER_CELL: usize = 4;
/// Fewest and most cells of the axis, however narrow or wide the terminal.
const CELLS: (usize, usize) = (24, 60);
/// Width where there is no terminal that has one, in cells.
const WIDTH: usize = 120;

/// The axis ends at this factor in either direction: beyond it nobody compares lengths.
const FACTOR_MAX: f64 = 16.0;

/// Positions of logarithms of ratios in cells.
pub(super) struct Axis {
    low: f64,
    high: f64,
    cells: usize,
}

/// A verdict and the interval that is drawn for it, over the band that is no change.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark<'a> {
    pub(super) verdict: &'a Verdict,
    pub(super) range: Ranged,
    pub(super) threshold: f64,
}

impl Mark<'_> {
    /// The mark of a benchmark; none for one that changed itself, which would stretch the axis and tell nothing.
    pub(super) fn of(benchmark: &BenchmarkReport, suite: f64) -> Option<Mark<'_>> {
        let interval = summary::shown_interval(benchmark).filter(|_| !benchmark.verdict.is_redefined())?;
        let range = Ranged { interval, ..benchmark.judged()? };
        Some(Mark { verdict: &benchmark.verdict, range, threshold: benchmark.threshold.unwrap_or(suite) })
    }
}

impl Axis {
    /// The axis of a report; absent where there is nothing to draw.
    pub(super) fn of(report: &Report, width: Option<usize>) -> Option<Axis> {
        let suite = report.spec.decision.threshold;
        let marks: Vec<Mark<'_>> = report.benchmarks.iter().filter_map(|one| Mark::of(one, suite)).collect();
        (!marks.is_empty()).then(|| Axis::over(&marks, width))
    }

    /// An axis for a terminal of this width on which all changes are seen whole and of the others at least the point estimates.
    pub(super) fn over(marks: &[Mark<'_>], width: Option<usize>) -> Axis {
        let band = marks.iter().map(|mark| mark.threshold.ln_1p()).fold(0.0, f64::max);
        let ends = marks.iter().flat_map(|Mark { verdict, range, .. }| match verdict.is_change() {
            true => [range.interval.low.ln(), range.interval.high.ln()],
            false => [range.ratio.ln(); 2],
        });
        let limit = FACTOR_MAX.ln();
        let (low, high) = ends.fold((-2.0 * band, 2.0 * band), |(low, high), end| (low.min(end), high.max(end)));
        let cells = (width.unwrap_or(WIDTH) / WIDTH_PER_CELL).clamp(CELLS.0, CELLS.1);
        Axis { low: low.max(-limit), high: high.min(limit), cells }
    }

    /// The cell of a logarithm, that of the nearer end where it lies beyond.
    fn cell(&self, log: f64) -> usize {
        let place = (log - self.low) / (self.high - self.low);
        (place.clamp(0.0, 1.0) * (self.cells - 1) as f64).round() as usize
    }

    /// Both ends in percent, and where nothing changed.
    pub(super) fn labels(&self) -> String {
        let [low, high] = [self.low, self.high].map(|log| change(log.exp()));
        let (zero, last) = (self.cell(0.0), self.cells - high.width());
        let mut labels = left(&low, self.cells);
        if zero > low.width() && zero + 1 < last {
            labels = format!("{}0{}", left(&low, zero), " ".repeat(self.cells - zero - 1));
        }
        let kept: String = labels.chars().take(last).collect();
        kept + &high
    }

    /// One interval with its point estimate, over the band and the line of no change.
    pub(super) fn draw(&self, Mark { verdict, range, threshold }: Mark<'_>) -> String {
        let Ranged { ratio, interval: RatioInterval { low, high }, .. } = range;
        let [low, high] = [low.ln(), high.ln()];
        let [from, to] = [low, high].map(|log| self.cell(log));
        let (zero, band) = (self.cell(0.0), self.cell(-threshold.ln_1p())..=self.cell(threshold.ln_1p()));
        let point = self.cell(ratio.ln());
        let cell = |i: usize| match i {
            i if i == point => order::shape(verdict),
            i if i == from => {
                if low < self.low {
                    '◂'
                } else {
                    '├'
                }
            }
            i if i == to => {
                if high > self.high {
                    '▸'
                } else {
                    '┤'
                }
            }
            i if (from..=to).contains(&i) => '─',
            i if i == zero => '│',
            i if band.contains(&i) => '·',
            _ => ' ',
        };
        (0..self.cells).map(cell).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_zero_are_labelled_where_there_is_room() {
        let check = |low: f64, high: f64, cells, want: &str| {
            let axis = Axis { low: low.ln(), high: high.ln(), cells };
            assert_eq!(axis.labels(), want);
        };
        check(0.5, 2.0, 21, "-50%      0     +100%");
        check(0.9, 1.1, 20, "-10%      0     +10%");
        check(0.5, 1.01, 20, "-50%           +1.0%");
    }

    #[test]
    fn what_lies_beyond_the_axis_is_drawn_at_its_end() {
        let axis = Axis { low: -1.0, high: 1.0, cells: 21 };
        let cells = [f64::NEG_INFINITY, -1.0, 0.0, 0.1, 1.0, 700.0].map(|log| axis.cell(log));
        assert_eq!(cells, [0, 0, 10, 11, 20, 20]);
    }
}
