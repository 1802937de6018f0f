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

impl Histogram {
    /// The histogram of these values; absent without any that is finite.
    ///
    /// Bars are as wide as Freedman and Diaconis say (Zeitschrift für Wahrscheinlichkeitstheorie 57, 1981: twice the
    /// interquartile range by the cube root of the number), at most 60 of them, and reach no farther than the values and Tukey's
    /// outer fences.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Histogram> {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let (least, most) = (*sorted.first()?, *sorted.last()?);
        let [lower, upper] = [0.25, 0.75].map(|share| quantile_of_sorted(&sorted, share));
        let range = upper - lower;
        let (from, to) = (least.max(lower - FENCE * range), most.min(upper + FENCE * range));
        let best_width = 2.0 * range / (sorted.len() as f64).cbrt();
        let bars = ((to - from) / best_width).ceil().clamp(1.0, BARS_MAX);
        let width = (to - from) / bars;
        if !(width.is_finite() && from + width > from) {
            return Some(Histogram::flat(&sorted, from));
        }
        let mut histogram = Histogram { from, width, counts: vec![0; bars as usize], below: 0, above: 0 };
        sorted.iter().for_each(|value| histogram.count(*value, to));
        Some(histogram)
    }

    /// One bar around the value that nearly all have.
    fn flat(sorted: &[f64], value: f64) -> Histogram {
        let (from, to) = (value - FLAT_WIDTH / 2.0, value + FLAT_WIDTH / 2.0);
        let mut histogram = Histogram { from, width: FLAT_WIDTH, counts: vec![0], below: 0, above: 0 };
        sorted.iter().for_each(|value| histogram.count(*value, to));
        histogram
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
