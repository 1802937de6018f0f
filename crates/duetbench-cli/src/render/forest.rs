//! The forest plot of the text format: the interval of every benchmark, drawn against one axis.
//!
//! Shapes say what colour repeats. The axis is one of logarithms, so that half as fast and twice as fast lie equally far from
//! no change.

use anstyle::Style;
use duetbench_core::analysis::Ranged;
use duetbench_core::report::BenchmarkReport;
use duetbench_core::verdict::Extent;
use duetbench_core::{Report, Verdict};
use unicode_width::UnicodeWidthStr;

use super::format::{change, named, packages, share};
use super::palette::{Palette, paint};
use super::table::{cut_middle, left, right};
use super::{order, summary};

/// Choice of the benchmarks that are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forest {
    /// None.
    Without,
    /// Those that changed, unless there are too many to be looked at.
    OfChanges,
    /// All that have an interval.
    OfAll,
}

/// Most changes that are drawn unasked.
const CHANGES_MAX: usize = 30;

/// Width where there is no terminal that has one, in cells.
const WIDTH: usize = 100;

/// Fewest and most cells of the axis, however narrow or wide the terminal.
const AXIS: (usize, usize) = (20, 80);

/// Room for a change in percent behind its interval, in cells.
const CHANGE_WIDTH: usize = 8;

/// The axis ends at this factor in either direction: beyond it nobody compares lengths.
const FACTOR_MAX: f64 = 16.0;

impl Forest {
    /// The plot, `width` cells wide; absent where there is nothing to draw.
    #[must_use]
    pub fn plot(self, report: &Report, palette: &Palette, width: Option<usize>) -> Option<String> {
        let rows = self.rows(report);
        let axis = Axis::of(&rows, report.spec.decision.threshold)?;
        let several = packages(rows.iter().map(|(benchmark, _)| &benchmark.id)) > 1;
        let names: Vec<String> = rows.iter().map(|(benchmark, _)| named(&benchmark.id, several)).collect();
        let width = width.unwrap_or(WIDTH);
        let widest = names.iter().map(|name| name.width()).max().unwrap_or(0);
        let name_width = widest.min((width / 3).max(AXIS.0));
        let cells = width.saturating_sub(name_width + 2 + 2 + CHANGE_WIDTH).clamp(AXIS.0, AXIS.1);
        let axis = Axis { cells, ..axis };

        let confidence = share(1.0 - report.spec.decision.interval_alpha());
        let title = format!("change of the time per operation [{confidence} CI]");
        let mut out = format!("{}\n", paint(palette.strong, &title));
        out += &format!("{}  {}\n", " ".repeat(name_width), paint(palette.faint, axis.labels().trim_end()));
        for ((benchmark, estimate), name) in rows.iter().zip(&names) {
            let drawn = axis.draw(*estimate, &benchmark.verdict, palette);
            let change = right(&summary::change_sign(benchmark), CHANGE_WIDTH);
            let name = left(&cut_middle(name, name_width), name_width);
            out += &format!("{name}  {drawn}  {}\n", paint(palette.verdict(&benchmark.verdict), &change));
        }
        Some(out + &format!("{}\n", paint(palette.faint, &legend(&rows, &axis, report))))
    }

    /// Those that are drawn, with the ratios on which their verdicts rest, in the order of the table: none that changed themselves, whose
    /// times would stretch the axis and tell nothing.
    fn rows(self, report: &Report) -> Vec<(&BenchmarkReport, Ranged)> {
        let groups = order::changes_first(&report.benchmarks).into_iter();
        let all = groups.flat_map(|group| group.rows).filter_map(|one| Some((one, one.judged()?)));
        let all = all.filter(|(one, _)| !one.verdict.is_redefined());
        let rows: Vec<_> = match self {
            Forest::Without => Vec::new(),
            Forest::OfChanges => all.filter(|(one, _)| one.verdict.is_change()).collect(),
            Forest::OfAll => all.collect(),
        };
        if self == Forest::OfChanges && rows.len() > CHANGES_MAX { Vec::new() } else { rows }
    }
}

/// Meanings of the shapes that occur.
fn legend(rows: &[(&BenchmarkReport, Ranged)], axis: &Axis, report: &Report) -> String {
    let mut words: Vec<String> = Vec::new();
    for verdict in summary::all_verdicts() {
        if rows.iter().any(|(one, _)| one.verdict.word() == verdict.word()) {
            words.push(format!("{} {}", shape(&verdict), order::label(&verdict)));
        }
    }
    words.push(format!("· less than {} (`--threshold`)", share(report.spec.decision.threshold)));
    if rows.iter().any(|(_, r)| r.interval.low.ln() < axis.low || r.interval.high.ln() > axis.high) {
        words.push("◂ ▸ the interval goes on".into());
    }
    words.join("   ")
}

/// The mark of a point estimate.
fn shape(verdict: &Verdict) -> char {
    match verdict {
        Verdict::Regression => '▲',
        Verdict::Improvement => '▼',
        Verdict::Slower(Extent::Open { .. }) => '△',
        Verdict::Slower(Extent::WithinTolerance) => '▵',
        Verdict::Faster(Extent::Open { .. }) => '▽',
        Verdict::Faster(Extent::WithinTolerance) => '▿',
        Verdict::Inconclusive { .. } => '○',
        _ => '●',
    }
}

/// Where logarithms of ratios lie in cells.
struct Axis {
    low: f64,
    high: f64,
    /// Half the width of the band that is no change.
    band: f64,
    cells: usize,
}

impl Axis {
    /// An axis on which all changes are seen whole and of the others at least the point estimates; absent without rows.
    fn of(rows: &[(&BenchmarkReport, Ranged)], threshold: f64) -> Option<Axis> {
        let band = threshold.ln_1p();
        let ends = rows.iter().flat_map(|(one, judged)| match one.verdict.is_change() {
            true => [judged.interval.low.ln(), judged.interval.high.ln()],
            false => [judged.ratio.ln(); 2],
        });
        let limit = FACTOR_MAX.ln();
        let (low, high) = ends.fold((-2.0 * band, 2.0 * band), |(low, high), end| (low.min(end), high.max(end)));
        (!rows.is_empty()).then(|| Axis { low: low.max(-limit), high: high.min(limit), band, cells: AXIS.0 })
    }

    /// The cell of a logarithm, that of the nearer end where it lies beyond.
    fn cell(&self, log: f64) -> usize {
        let place = (log - self.low) / (self.high - self.low);
        (place.clamp(0.0, 1.0) * (self.cells - 1) as f64).round() as usize
    }

    /// Both ends in percent, and where nothing changed.
    fn labels(&self) -> String {
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
    fn draw(&self, judged: Ranged, verdict: &Verdict, palette: &Palette) -> String {
        let [low, high] = [judged.interval.low.ln(), judged.interval.high.ln()];
        let [from, to] = [low, high].map(|log| self.cell(log));
        let (zero, band) = (self.cell(0.0), self.cell(-self.band)..=self.cell(self.band));
        let (point, style) = (self.cell(judged.ratio.ln()), palette.verdict(verdict));
        let cell = |i: usize| match i {
            i if i == point => (shape(verdict), style),
            i if i == from => (if low < self.low { '◂' } else { '├' }, style),
            i if i == to => (if high > self.high { '▸' } else { '┤' }, style),
            i if (from..=to).contains(&i) => ('─', style),
            i if i == zero => ('│', palette.faint),
            i if band.contains(&i) => ('·', palette.faint),
            _ => (' ', Style::new()),
        };
        let mut runs: Vec<(String, Style)> = Vec::new();
        for (character, style) in (0..self.cells).map(cell) {
            match runs.last_mut() {
                Some((run, same)) if *same == style => run.push(character),
                _ => runs.push((character.into(), style)),
            }
        }
        runs.iter().map(|(run, style)| paint(*style, run)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_zero_are_labelled_where_there_is_room() {
        let check = |low: f64, high: f64, cells, want: &str| {
            let axis = Axis { low: low.ln(), high: high.ln(), band: 0.03, cells };
            assert_eq!(axis.labels(), want);
        };
        check(0.5, 2.0, 21, "-50.00%   0  +100.00%");
        check(0.9, 1.1, 20, "-10.00%   0  +10.00%");
        check(0.5, 1.01, 20, "-50.00%       +1.00%");
    }

    #[test]
    fn what_lies_beyond_the_axis_is_drawn_at_its_end() {
        let axis = Axis { low: -1.0, high: 1.0, band: 0.03, cells: 21 };
        let cells = [f64::NEG_INFINITY, -1.0, 0.0, 0.1, 1.0, 700.0].map(|log| axis.cell(log));
        assert_eq!(cells, [0, 0, 10, 11, 20, 20]);
    }
}
