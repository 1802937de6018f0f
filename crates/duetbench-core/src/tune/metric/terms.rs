//! Terms of a metric beside the values.

use std::sync::OnceLock;

use crate::stats::MedianTable;
use crate::tune::Rules;

/// Confidence, and tables that many samples share.
pub struct Terms {
    /// Confidence of intervals, a fraction.
    pub confidence: f64,
    /// By number of values; made when first needed.
    medians: Vec<OnceLock<MedianTable>>,
}

impl Terms {
    /// For samples of at most so many values.
    pub fn of(rules: &Rules, values_max: usize) -> Terms {
        let medians = (0..=values_max).map(|_| OnceLock::new()).collect();
        Terms { confidence: rules.confidence, medians }
    }

    /// Tables for the interval of the median of so many values; absent for more than were announced.
    pub(super) fn median_table(&self, values: usize) -> Option<&MedianTable> {
        let tail = (1.0 - self.confidence) / 2.0;
        self.medians.get(values).map(|table| table.get_or_init(|| MedianTable::of(values, tail)))
    }
}
