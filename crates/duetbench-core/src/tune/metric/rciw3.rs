//! Relative width of the percentile interval of the median.

use super::{Stability, Terms, middle_of, relative};

/// Width of the percentile-bootstrap interval of the median over the median (µOpTime, section 2).
pub(super) struct Rciw3;

impl Stability for Rciw3 {
    fn value(&self, ascending: &[f64], terms: &Terms) -> Option<f64> {
        let interval = terms.median_table(ascending.len())?.interval(ascending);
        Some(relative(interval.width(), middle_of(ascending)))
    }

    fn at_least_in_order(&self, ascending: &[f64], terms: &Terms) -> f64 {
        let Some(table) = terms.median_table(ascending.len()) else { return 0.0 };
        // The ends lie no farther inside than these two values.
        let rank = table.ranks().1;
        let spread = ascending[ascending.len() - rank] - ascending[rank - 1];
        relative(spread.max(0.0), middle_of(ascending))
    }
}
