//! Whether successive values resemble each other.

use super::{StatsError, finite, mean};

/// The correlation of successive values of one series, and what independent normal values would show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LagOne {
    /// Sum of products of successive deviations from the mean, over the sum of their squares.
    pub correlation: f64,
    /// Its mean for independent values: `-1 / n`, since deviations from a mean of their own sum to 0.
    pub expected: f64,
    /// Its variance for independent normal values.
    pub variance: f64,
}

/// The correlation of successive values.
///
/// For independent normal values its mean is `-1 / n`, for any exchangeable ones too, and its variance
/// `(n^4 - 4 n^3 + 3 n^2 + 4 n - 4) / ((n + 1) n^2 (n - 1)^2)`. Source: Dufour and Roy, Journal of Econometrics 29 (1985), after
/// Moran, Biometrika 35 (1948); exact.
///
/// # Errors
/// With fewer than three values, with one that is not finite, or without spread.
///
/// ```
/// # use duetbench_stats::lag_one;
/// // Deviations -2, -1, 1, 2 of the mean 3.
/// let lag = lag_one(&[1.0, 2.0, 4.0, 5.0]).unwrap();
/// assert!((lag.correlation - (2.0 - 1.0 + 2.0) / 10.0).abs() < 1e-15 && lag.expected == -0.25);
/// ```
pub fn lag_one(values: &[f64]) -> Result<LagOne, StatsError> {
    if values.len() < 3 {
        return Err(StatsError::TooFew { have: values.len(), needed: 3 });
    }
    let centre = mean(values)?;
    let off: Vec<f64> = values.iter().map(|v| v - centre).collect();
    let squares: f64 = finite(off.iter().map(|e| e * e).sum())?;
    if values.windows(2).all(|two| two[0] == two[1]) {
        return Err(StatsError::OutOfRange { name: "spread", value: 0.0 });
    }
    let products: f64 = off.windows(2).map(|two| two[0] * two[1]).sum();
    let n = values.len() as f64;
    let variance = (((n - 4.0) * n + 3.0) * n * n + 4.0 * n - 4.0) / ((n + 1.0) * (n * (n - 1.0)).powi(2));
    Ok(LagOne { correlation: finite(products / squares)?, expected: -n.recip(), variance })
}
