//! Relative width of the t-interval of the mean.

use super::{Stability, Terms, mean_of, mean_width_at_least, relative};
use crate::stats::{Moments, studentised_interval};

/// Width of the studentised bootstrap interval of the mean over the mean (µOpTime, section 2).
///
/// Resamples without any spread have no t. They make the interval as wide as their share says, so that few values have no interval.
pub(super) struct Rciw2;

impl Stability for Rciw2 {
    fn value(&self, ascending: &[f64], terms: &Terms) -> Option<f64> {
        let interval = studentised_interval(ascending, terms.confidence).ok()?;
        Some(relative(interval.width(), mean_of(ascending)))
    }

    fn at_least(&self, moments: &Moments, terms: &Terms) -> f64 {
        relative(mean_width_at_least(moments, terms), moments.mean)
    }
}
