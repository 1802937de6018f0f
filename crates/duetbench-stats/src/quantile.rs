//! Quantiles between values.

/// The value below which this share of ascending values lies, with linear interpolation between two of them (Hyndman and Fan,
/// The American Statistician 50, 1996, definition 7; the default of NumPy and R). Not a number without values.
///
/// ```
/// # use duetbench_stats::quantile_of_sorted;
/// assert_eq!(quantile_of_sorted(&[1.0, 2.0, 4.0, 8.0], 0.25), 1.75);
/// ```
#[must_use]
pub fn quantile_of_sorted(ascending: &[f64], share: f64) -> f64 {
    let last = ascending.len().saturating_sub(1);
    let place = share.clamp(0.0, 1.0) * last as f64;
    let (below, rest) = (place.floor() as usize, place.fract());
    let value = |i: usize| ascending.get(i.min(last)).copied().unwrap_or(f64::NAN);
    value(below) + rest * (value(below + 1) - value(below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_interpolated() {
        let ascending = [1.0, 2.0, 4.0, 8.0, 16.0];
        let of = |share| quantile_of_sorted(&ascending, share);
        assert_eq!([0.0, 0.1, 0.5, 0.9, 1.0].map(of), [1.0, 1.4, 4.0, 12.8, 16.0]);
        assert!(quantile_of_sorted(&[], 0.5).is_nan());
    }
}
