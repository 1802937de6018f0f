//! Distribution of values, as bars.

use crate::stats::quantile_of_sorted;

/// Most bars: more of them than a small chart can show.
const BARS_MAX: f64 = 60.0;

/// Interquartile ranges that the bars reach beyond the quartiles: Tukey's outer fences (Exploratory Data Analysis, 1977).
const FENCE: f64 = 3.0;

/// Width of the only bar where values have no spread.
const FLAT_WIDTH: f64 = 1e-3;

/// Counts of values in bars of one width; what lies far out is counted on either side.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// Where the first bar begins.
    pub from: f64,
    /// Width of every bar, more than 0.
    pub width: f64,
    /// Values in each bar; at least one bar.
    pub counts: Vec<u32>,
    /// Values below the first bar.
    pub below: u32,
    /// Values above the last bar.
    pub above: u32,
}

/// The two histograms of times per invocation, nanoseconds, over the same bars.
#[derive(Debug, Clone, PartialEq)]
pub struct Distributions {
    /// The baseline's slices.
    pub baseline: Histogram,
    /// The candidate's.
    pub candidate: Histogram,
    /// Medians of baseline and candidate.
    pub medians_ns: [f64; 2],
}

/// Bars of one width between two ends.
#[derive(Debug, Clone, Copy)]
struct Bars {
    from: f64,
    to: f64,
    /// The best width, 0 where values have no spread.
    width: f64,
}

impl Bars {
    /// Bars for values of which there is at least one, sorted.
    fn of(sorted: &[f64]) -> Option<Bars> {
        let (least, most) = (*sorted.first()?, *sorted.last()?);
        let [lower, upper] = [0.25, 0.75].map(|share| quantile_of_sorted(sorted, share));
        let range = upper - lower;
        let (from, to) = (least.max(lower - FENCE * range), most.min(upper + FENCE * range));
        Some(Bars { from, to, width: 2.0 * range / (sorted.len() as f64).cbrt() })
    }

    /// Bars that reach over both, as fine as the finer of them wants.
    fn over(self, other: Bars) -> Bars {
        let finer = if self.width > 0.0 && other.width > 0.0 { f64::min } else { f64::max };
        let width = finer(self.width, other.width);
        Bars { from: self.from.min(other.from), to: self.to.max(other.to), width }
    }

    /// These bars with these values in them.
    fn filled(self, sorted: &[f64]) -> Histogram {
        let bars = ((self.to - self.from) / self.width).ceil().clamp(1.0, BARS_MAX);
        let width = (self.to - self.from) / bars;
        let is_flat = !(width.is_finite() && self.from + width > self.from);
        let (from, to) =
            if is_flat { (self.from - FLAT_WIDTH / 2.0, self.from + FLAT_WIDTH / 2.0) } else { (self.from, self.to) };
        let (width, bars) = if is_flat { (FLAT_WIDTH, 1.0) } else { (width, bars) };
        let mut histogram = Histogram { from, width, counts: vec![0; bars as usize], below: 0, above: 0 };
        sorted.iter().for_each(|value| histogram.count(*value, to));
        histogram
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

impl Distributions {
    /// The distributions of these times; absent unless both sides have one that is finite.
    ///
    /// Bars are those of [`Histogram::of`], as fine as the finer side wants, and reach over both sides.
    pub fn of(baseline: &[f64], candidate: &[f64]) -> Option<Distributions> {
        let (baseline, candidate) = (sorted(baseline), sorted(candidate));
        let bars = Bars::of(&baseline)?.over(Bars::of(&candidate)?);
        let medians_ns = [&baseline, &candidate].map(|side| quantile_of_sorted(side, 0.5));
        Some(Distributions { baseline: bars.filled(&baseline), candidate: bars.filled(&candidate), medians_ns })
    }
}

impl Histogram {
    /// The histogram of these values; absent without any that is finite.
    ///
    /// Bars are as wide as Freedman and Diaconis say (Zeitschrift für Wahrscheinlichkeitstheorie 57, 1981: twice the
    /// interquartile range by the cube root of the number), at most 60 of them, and reach no farther than the values and Tukey's
    /// outer fences.
    pub fn of(values: &[f64]) -> Option<Histogram> {
        let sorted = sorted(values);
        Some(Bars::of(&sorted)?.filled(&sorted))
    }

    /// Counts a value; one on the last bar's end belongs to that bar.
    fn count(&mut self, value: f64, to: f64) {
        let last = self.counts.len() - 1;
        let bar = if value < self.from {
            &mut self.below
        } else if value > to {
            &mut self.above
        } else {
            &mut self.counts[(((value - self.from) / self.width) as usize).min(last)]
        };
        *bar = bar.saturating_add(1);
    }
}
