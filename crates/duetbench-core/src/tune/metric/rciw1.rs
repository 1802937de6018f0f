//! Relative width of the percentile interval of the mean.

use super::{Stability, Terms, mean_of, mean_width_at_least, relative};
use crate::stats::{Moments, mean_interval};

/// Width of the percentile-bootstrap interval of the mean over the mean (µOpTime, section 2).
pub(super) struct Rciw1;

impl Stability for Rciw1 {
    fn value(&self, ascending: &[f64], terms: &Terms) -> Option<f64> {
        let interval = mean_interval(ascending, terms.confidence).ok()?;
        Some(relative(interval.width(), mean_of(ascending)))
    }

    fn at_least(&self, moments: &Moments, terms: &Terms) -> f64 {
        relative(mean_width_at_least(moments, terms), moments.mean)
    }
}
