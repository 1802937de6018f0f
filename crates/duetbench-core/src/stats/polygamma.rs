//! Derivatives of the logarithm of the gamma function.
//!
//! By recurrence up to 15 and the asymptotic series from there: Abramowitz and Stegun 6.4.6, 6.4.12 and 6.4.13. Both for positive arguments.

/// From here on the series below are exact to some 1e-15.
const SERIES_FROM: f64 = 15.0;

/// Trigamma of a positive number: the derivative of digamma.
pub(super) fn trigamma(x: f64) -> f64 {
    let (mut x, mut sum) = (x, 0.0);
    while x < SERIES_FROM {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let r = 1.0 / (x * x);
    let tail = 1.0 / 6.0 - r * (1.0 / 30.0 - r * (1.0 / 42.0 - r * (1.0 / 30.0 - r * 5.0 / 66.0)));
    sum + 1.0 / x + r / 2.0 + tail * r / x
}

/// Tetragamma of a positive number: the derivative of trigamma, which is negative.
pub(super) fn tetragamma(x: f64) -> f64 {
    let (mut x, mut sum) = (x, 0.0);
    while x < SERIES_FROM {
        sum -= 2.0 / (x * x * x);
        x += 1.0;
    }
    let r = 1.0 / (x * x);
    let tail = 1.0 / 2.0 - r * (1.0 / 6.0 - r * (1.0 / 6.0 - r * (3.0 / 10.0 - r * 5.0 / 6.0)));
    sum - r - r / x - tail * r * r
}

/// Where trigamma has this positive value.
///
/// Newton's method on the reciprocal, which is nearly straight; source: Smyth, Statistical Applications in Genetics and Molecular Biology 3 (2004),
/// appendix. It is monotone from above, so that it needs no bracket.
pub(super) fn trigamma_inverse(value: f64) -> f64 {
    // Beyond these the first term of either series is all there is.
    if value > 1e7 {
        return value.sqrt().recip();
    }
    if value < 1e-6 {
        return value.recip();
    }
    let mut y = 0.5 + value.recip();
    for _ in 0..50 {
        let at = trigamma(y);
        let step = at * (1.0 - at / value) / tetragamma(y);
        y += step;
        if step.abs() < 1e-14 * y {
            break;
        }
    }
    y
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trigamma_of_one_is_a_sixth_of_pi_squared_and_its_inverse_leads_back() {
        let pi = std::f64::consts::PI;
        assert!((trigamma(1.0) - pi * pi / 6.0).abs() < 1e-14 && (trigamma(0.5) - pi * pi / 2.0).abs() < 1e-14);
        // -2 zeta(3)
        assert!((tetragamma(1.0) + 2.404_113_806_319_188).abs() < 1e-13);
        for x in [1e-4, 0.01, 0.3, 1.0, 2.5, 14.9, 15.1, 400.0, 1e5, 1e8] {
            assert!((trigamma_inverse(trigamma(x)) / x - 1.0).abs() < 1e-6, "{x}");
        }
    }
}
