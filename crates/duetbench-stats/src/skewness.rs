//! Whether values lie lopsided.

use statrs::distribution::{ContinuousCDF, Normal};

use super::{StatsError, finite, sorted};

/// Third central moment of the values in units of their standard deviation (divisor `n` in both); 0 where they do not vary.
///
/// Positive where few values lie far above the rest. Never beyond `(n - 2) / sqrt(n - 1)`.
///
/// # Errors
/// With fewer than three values, or with one that is not finite.
///
/// ```
/// # use duetbench_stats::skewness;
/// // Mean 2, second moment 3, third 6.
/// assert!((skewness(&[1.0, 1.0, 1.0, 5.0]).unwrap() - 6.0 / 3f64.powf(1.5)).abs() < 1e-14);
/// ```
pub fn skewness(values: &[f64]) -> Result<f64, StatsError> {
    let ascending = sorted(values, 3)?;
    if ascending.first() == ascending.last() {
        return Ok(0.0);
    }
    let n = ascending.len() as f64;
    let mean = finite(ascending.iter().sum::<f64>() / n)?;
    let moment = |power: i32| ascending.iter().map(|v| (v - mean).powi(power)).sum::<f64>() / n;
    finite(moment(3) / moment(2).powf(1.5))
}

/// The size of skewness that `n` normal values exceed with probability `alpha`, to either side.
///
/// Skewness is referred to a Johnson S_U distribution. Source: D'Agostino, Biometrika 57 (1970), good from eight values on.
///
/// # Errors
/// When `n` is below 8 or `alpha` not strictly between 0 and 1.
///
/// ```
/// # use duetbench_stats::skewness_limit;
/// assert!((skewness_limit(32, 0.01).unwrap() - 1.085_53).abs() < 5e-6);
/// ```
pub fn skewness_limit(n: u32, alpha: f64) -> Result<f64, StatsError> {
    let n = StatsError::check("n", f64::from(n), 7.0, f64::INFINITY)?;
    StatsError::check("alpha", alpha, 0.0, 1.0)?;
    let kurtosis =
        3.0 * (n * n + 27.0 * n - 70.0) * (n + 1.0) * (n + 3.0) / ((n - 2.0) * (n + 5.0) * (n + 7.0) * (n + 9.0));
    let w2 = (2.0 * (kurtosis - 1.0)).sqrt() - 1.0;
    let delta = (w2.ln() / 2.0).sqrt().recip();
    let scale = (2.0 / (w2 - 1.0)).sqrt();
    let z = -Normal::standard().inverse_cdf(alpha / 2.0);
    let to_skewness = (6.0 * (n - 2.0) / ((n + 1.0) * (n + 3.0))).sqrt();
    Ok(to_skewness * scale * (z / delta).sinh())
}
