//! Terms of a metric beside the values.

use std::sync::OnceLock;

use crate::stats::MedianTable;
use crate::tune::{Compat, Rules};

/// Confidence, whose rules hold, and tables that many samples share.
pub(in crate::tune) struct Terms {
    pub(super) confidence: f64,
    pub(super) compat: Compat,
    /// By number of values; made when first needed.
    medians: Vec<OnceLock<MedianTable>>,
}

impl Terms {
    /// For samples of at most so many values.
    pub(in crate::tune) fn of(rules: &Rules, values_max: usize) -> Terms {
        let medians = (0..=values_max).map(|_| OnceLock::new()).collect();
        Terms { confidence: rules.confidence, compat: rules.compat, medians }
    }

    /// Tables for the interval of the median of so many values; absent for more than were announced.
    pub(super) fn median_table(&self, values: usize) -> Option<&MedianTable> {
        let tail = (1.0 - self.confidence) / 2.0;
        self.medians.get(values).map(|table| table.get_or_init(|| MedianTable::of(values, tail)))
    }
}
