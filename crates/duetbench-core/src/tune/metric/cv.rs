//! Coefficient of variation.

use super::{Stability, Terms, mean_of, relative};
use crate::stats::Moments;

/// Relative error that rounding may bring into moments computed from running sums.
const ROUNDING: f64 = 1e-5;

/// Standard deviation over mean, `sqrt(sum (x - mean)^2 / n) / |mean|` (µOpTime, section 2).
///
/// The divisor is `n`, as in the published code; the paper leaves it open.
pub(super) struct Cv;

impl Stability for Cv {
    fn value(&self, ascending: &[f64], _: &Terms) -> Option<f64> {
        let mean = mean_of(ascending);
        let squares: f64 = ascending.iter().map(|value| (value - mean).powi(2)).sum();
        Some(relative((squares / ascending.len() as f64).sqrt(), mean))
    }

    fn at_least(&self, moments: &Moments, _: &Terms) -> f64 {
        relative(moments.sd, moments.mean) * (1.0 - ROUNDING)
    }

    fn falls_with_number(&self) -> bool {
        false
    }
}
