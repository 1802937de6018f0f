//! Upper limit of the true variance, from an estimated one.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::StatsError;

/// Confidence of the limit that planning takes: neither the estimate, which is too small where measuring ended because it was small, nor a
/// limit that is rarely exceeded (docs/studies/verdict-rules.md).
const CAUTION: f64 = 0.65;

/// Factor for an estimated standard deviation so that it falls short of the true one in 35 of 100 samples of normal values only.
///
/// # Errors
/// When `df` is not a positive number.
pub(super) fn caution(df: f64) -> Result<f64, StatsError> {
    Ok(variance_limit(df, CAUTION)?.sqrt())
}

/// Factor for an estimated variance so that the product exceeds the true one with probability `confidence`.
///
/// It is `df / q`, with `q` the quantile `1 - confidence` of chi-square with `df` degrees of freedom, the exact limit for normal
/// values. Source: Browne, Statistics in Medicine 14 (1995), who shows that a number of repetitions should be planned with such a
/// limit and not with the estimate.
///
/// # Errors
/// When `df` is not a positive number or `confidence` not strictly between 0 and 1.
///
/// ```
/// # use duetbench_stats::variance_limit;
/// // Chi-square with 2 degrees of freedom is exponential: its quantile 0.2 is -2 ln 0.8.
/// let factor = variance_limit(2.0, 0.8).unwrap();
/// assert!((factor - 4.481_420_1).abs() < 1e-6);
/// ```
pub fn variance_limit(df: f64, confidence: f64) -> Result<f64, StatsError> {
    StatsError::check("confidence", confidence, 0.0, 1.0)?;
    StatsError::check("df", df, 0.0, f64::INFINITY)?;
    let chi_square = ChiSquared::new(df).map_err(|_| StatsError::OutOfRange { name: "df", value: df })?;
    Ok(df / chi_square.inverse_cdf(1.0 - confidence))
}
