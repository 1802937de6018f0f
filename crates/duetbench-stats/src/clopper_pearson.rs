//! Interval of a probability, from the number of times that something happened.

use statrs::function::beta::beta_reg;

use super::StatsError;
use super::root::increasing_root;

/// Exact interval of a probability, of which `times` of `of` independent trials speak; it misses the truth with probability `alpha`
/// at most.
///
/// Its ends are quantiles of beta distributions: `alpha / 2` of `Beta(times, of - times + 1)` and `1 - alpha / 2` of
/// `Beta(times + 1, of - times)`, and 0 and 1 where there are no such. Source: Clopper and Pearson, Biometrika 26 (1934). It is
/// wider than need be, as any exact interval of a count. Without trials it is all from 0 to 1.
///
/// # Errors
/// When something happened more often than it could have, or `alpha` is not strictly between 0 and 1.
///
/// ```
/// # use duetbench_stats::binomial_interval;
/// let (low, high) = binomial_interval(7, 50, 0.05).unwrap();
/// assert!((low - 0.058_191_700).abs() < 1e-9 && (high - 0.267_396_002).abs() < 1e-9);
/// ```
pub fn binomial_interval(times: u32, of: u32, alpha: f64) -> Result<(f64, f64), StatsError> {
    StatsError::check("alpha", alpha, 0.0, 1.0)?;
    let (did, did_not) = (f64::from(times), f64::from(of) - f64::from(times));
    if did_not < 0.0 {
        return Err(StatsError::OutOfRange { name: "times", value: did });
    }
    let quantile = |a: f64, b: f64, p: f64| increasing_root(|x| beta_reg(a, b, x) - p, 0.0, 1.0);
    let low = if times == 0 { 0.0 } else { quantile(did, did_not + 1.0, alpha / 2.0) };
    let high = if times == of { 1.0 } else { quantile(did + 1.0, did_not, 1.0 - alpha / 2.0) };
    Ok((low, high))
}
