//! Distribution of differences by their size.

use duetbench_core::stats::quantile_of_sorted;
use serde::Serialize;

/// Sizes of some differences, whatever their sign.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Number of differences.
    pub count: usize,
    /// A quarter is at most this.
    pub lower_quartile: f64,
    /// Half are at most this.
    pub median: f64,
    /// Three quarters are at most this.
    pub upper_quartile: f64,
    /// The largest.
    pub largest: f64,
}

impl Spread {
    /// The spread of these; absent without any.
    pub fn of(differences: impl Iterator<Item = f64>) -> Option<Spread> {
        let mut sizes: Vec<f64> = differences.map(f64::abs).collect();
        sizes.sort_by(f64::total_cmp);
        Some(Spread {
            count: sizes.len(),
            lower_quartile: quantile_of_sorted(&sizes, 0.25),
            median: quantile_of_sorted(&sizes, 0.5),
            upper_quartile: quantile_of_sorted(&sizes, 0.75),
            largest: *sizes.last()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_forget_signs() {
        let spread = Spread::of([-0.4, 0.1, 0.0, -0.2, 0.3].into_iter());
        let want = Spread { count: 5, lower_quartile: 0.1, median: 0.2, upper_quartile: 0.3, largest: 0.4 };
        assert_eq!(spread, Some(want));
        assert_eq!(Spread::of(std::iter::empty()), None);
    }
}
