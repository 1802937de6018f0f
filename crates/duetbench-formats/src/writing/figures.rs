//! Statistics that other tools print beside the values: computed as they do, from all values alike.

use duetbench_core::stats::{self, quantile_of_sorted};

/// The usual figures of some values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figures {
    /// In ascending order.
    pub(crate) ascending: Vec<f64>,
    /// Arithmetic mean.
    pub(crate) mean: f64,
    /// Standard deviation of a sample; absent with a single value.
    pub(crate) sd: Option<f64>,
}

impl Figures {
    /// Statistics of values that are all finite; absent without any.
    pub(crate) fn of(values: &[f64]) -> Option<Figures> {
        let mean = stats::mean(values).ok()?;
        let mut ascending = values.to_vec();
        ascending.sort_by(f64::total_cmp);
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        let sd = (values.len() > 1).then(|| (squares / (values.len() as f64 - 1.0)).sqrt());
        Some(Figures { ascending, mean, sd })
    }

    /// Number of values.
    pub(crate) fn count(&self) -> usize {
        self.ascending.len()
    }

    /// A quantile, interpolated.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        quantile_of_sorted(&self.ascending, share)
    }

    /// The smallest value.
    pub(crate) fn min(&self) -> f64 {
        self.quantile(0.0)
    }

    /// The largest value.
    pub(crate) fn max(&self) -> f64 {
        self.quantile(1.0)
    }
}
