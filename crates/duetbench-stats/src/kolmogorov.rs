//! Whether probabilities are smaller than chance makes them.

use statrs::function::gamma::ln_gamma;

use super::root::increasing_root;
use super::{StatsError, sorted};

/// Largest distance by which the share of values up to `p` exceeds `p`: the one-sided statistic `D+` of Kolmogorov for the uniform distribution.
///
/// For p-values it says by how much small ones are too many; tests that speak too seldom do not raise it. Source: Smirnov, Matematicheskii Sbornik 6 (1939).
///
/// # Errors
/// Without values, or with one outside 0 to 1.
///
/// ```
/// # use duetbench_stats::excess_of_small;
/// // At 0.2 half of the values are there.
/// assert!((excess_of_small(&[0.2, 0.9, 0.1, 0.6]).unwrap() - 0.3).abs() < 1e-15);
/// ```
pub fn excess_of_small(values: &[f64]) -> Result<f64, StatsError> {
    let ascending = sorted(values, 1)?;
    if let Some(&value) = ascending.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(StatsError::OutOfRange { name: "p", value });
    }
    let n = ascending.len() as f64;
    let excess = (1u32..).zip(&ascending).map(|(rank, p)| f64::from(rank) / n - p);
    Ok(excess.fold(0.0, f64::max))
}

/// The excess that `n` independent uniform values have or exceed with probability `alpha`.
///
/// The root of `P(D+ >= d) = d sum_j C(n, j) (d + j/n)^(j-1) (1 - d - j/n)^(n-j)`, `j = 0 ... floor(n (1 - d))`. Source: Birnbaum and Tingey, Annals of
/// Mathematical Statistics 22 (1951); exact. `n` may be a number of values that is not whole, as it is where they depend on
/// each other; then the terms are those of the next smaller one.
///
/// # Errors
/// When `n` is below 1 or `alpha` not strictly between 0 and 1.
///
/// ```
/// # use duetbench_stats::excess_of_small_limit;
/// // One value: P(1 - p >= d) = 1 - d.
/// assert!((excess_of_small_limit(1.0, 0.01).unwrap() - 0.99).abs() < 1e-9);
/// ```
pub fn excess_of_small_limit(n: f64, alpha: f64) -> Result<f64, StatsError> {
    StatsError::check("n", n, 1.0 - f64::EPSILON, 1e6)?;
    StatsError::check("alpha", alpha, 0.0, 1.0)?;
    let n = n.floor().max(1.0);
    Ok(increasing_root(|d| alpha - survival(n, d), 0.0, 1.0))
}

fn survival(n: f64, d: f64) -> f64 {
    if d <= 0.0 {
        return 1.0;
    }
    let terms = (n * (1.0 - d)).floor() as u32;
    let term = |j: u32| {
        let j = f64::from(j);
        let (low, rest) = (d + j / n, (1.0 - d - j / n).max(0.0));
        let ways = ln_gamma(n + 1.0) - ln_gamma(j + 1.0) - ln_gamma(n - j + 1.0);
        let high = if rest == 0.0 { if n > j { f64::NEG_INFINITY } else { 0.0 } } else { (n - j) * rest.ln() };
        (ways + (j - 1.0) * low.ln() + high).exp()
    };
    (d * (0..=terms).map(term).sum::<f64>()).min(1.0)
}
