//! Relative width of the percentile interval of the median.

use super::{Location, Stability, Terms, mean_width_at_least, middle_of, relative};
use crate::stats::{Moments, mean_interval};
use crate::tune::Compat;

/// Width of the percentile-bootstrap interval of the median over the median (µOpTime, section 2).
///
/// The published code takes the interval of the mean instead, and divides it by the median.
pub(super) struct Rciw3;

impl Stability for Rciw3 {
    fn word(&self) -> &'static str {
        "rciw3"
    }

    fn location(&self) -> Location {
        Location::Median
    }

    fn value(&self, ascending: &[f64], terms: &Terms) -> Option<f64> {
        let interval = match terms.compat {
            Compat::Paper => terms.median_table(ascending.len())?.interval(ascending),
            Compat::PaperCode => mean_interval(ascending, terms.confidence).ok()?,
        };
        Some(relative(interval.width(), middle_of(ascending)))
    }

    fn at_least(&self, moments: &Moments, terms: &Terms) -> f64 {
        match terms.compat {
            Compat::Paper => 0.0,
            // Mean and median are never farther from each other than the standard deviation.
            Compat::PaperCode => relative(mean_width_at_least(moments, terms), moments.mean.abs() + moments.sd),
        }
    }

    fn at_least_in_order(&self, ascending: &[f64], terms: &Terms) -> f64 {
        match (terms.compat, terms.median_table(ascending.len())) {
            (Compat::Paper, Some(table)) => {
                // The ends lie no farther inside than these two values.
                let rank = table.ranks().1;
                let spread = ascending[ascending.len() - rank] - ascending[rank - 1];
                relative(spread.max(0.0), middle_of(ascending))
            }
            _ => 0.0,
        }
    }

    fn falls_with_number(&self) -> bool {
        true
    }
}
