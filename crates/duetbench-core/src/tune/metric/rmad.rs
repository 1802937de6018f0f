//! Relative median absolute deviation.

use super::{Stability, Terms, middle_of, relative};

/// Median of the distances from the median, over the median, `median |x - median| / |median|` (µOpTime, section 2); without the
/// factor that would make it a standard deviation.
pub(super) struct Rmad;

impl Stability for Rmad {
    fn value(&self, ascending: &[f64], _: &Terms) -> Option<f64> {
        let median = middle_of(ascending);
        Some(relative(middle_distance(ascending, median), median))
    }

    fn falls_with_number(&self) -> bool {
        false
    }
}

/// The median of the distances of values in ascending order from a point among them: distances grow on both sides of the point,
/// so the smaller half of them is met by walking outwards.
fn middle_distance(ascending: &[f64], point: f64) -> f64 {
    let n = ascending.len();
    let mut above = ascending.partition_point(|value| *value < point);
    let mut below = above;
    let (mut before, mut nearest) = (0.0, 0.0);
    for _ in 0..=n / 2 {
        let left = if below > 0 { point - ascending[below - 1] } else { f64::INFINITY };
        let right = if above < n { ascending[above] - point } else { f64::INFINITY };
        before = nearest;
        if left <= right {
            nearest = left;
            below -= 1;
        } else {
            nearest = right;
            above += 1;
        }
    }
    if n % 2 == 1 { nearest } else { before.midpoint(nearest) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::median;

    proptest! {
        #[test]
        fn walking_outwards_is_sorting_the_distances(values in proptest::collection::vec(-9_i32..9, 1..30)) {
            let mut ascending: Vec<f64> = values.into_iter().map(f64::from).collect();
            ascending.sort_by(f64::total_cmp);
            let point = middle_of(&ascending);
            let distances: Vec<f64> = ascending.iter().map(|value| (value - point).abs()).collect();
            prop_assert_eq!(middle_distance(&ascending, point), median(&distances).unwrap());
        }
    }
}
