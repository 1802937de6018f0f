//! Root of an increasing function.

/// Where the increasing function `f` crosses 0 between `low` and `high`, given `f(low) < 0 <= f(high)`.
///
/// Regula falsi with the Illinois modification (Dowell and Jarratt, BIT 11, 1971): the value at an end that is kept twice is
/// halved, which makes the convergence superlinear.
pub(super) fn increasing_root(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let (mut at_low, mut at_high) = (f(low), f(high));
    let mut kept_low = None;
    for _ in 0..200 {
        if high - low <= 1e-10 * high.abs() || at_high == 0.0 {
            break;
        }
        let middle = (high - at_high * (high - low) / (at_high - at_low)).clamp(low, high);
        let value = f(middle);
        if value < 0.0 {
            (low, at_low) = (middle, value);
            if kept_low == Some(false) {
                at_high /= 2.0;
            }
            kept_low = Some(false);
        } else {
            (high, at_high) = (middle, value);
            if kept_low == Some(true) {
                at_low /= 2.0;
            }
            kept_low = Some(true);
        }
    }
    high
}
