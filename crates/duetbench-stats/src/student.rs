//! Student's t distribution: tail probability and critical value.
//!
//! Source: Student, Biometrika 6 (1908); the tail as a regularised incomplete beta function, Abramowitz and Stegun
//! 26.5.27. Takes 1 to a million degrees of freedom, also fractions of one.

use statrs::distribution::{Continuous, ContinuousCDF, Normal, StudentsT};
use statrs::function::beta::beta_reg;

use super::{StatsError, finite};

/// Probability that a t variable with `df` degrees of freedom lies farther from 0 than `t`.
///
/// # Errors
/// When `t` is NaN or `df` outside 1 to a million.
///
/// ```
/// # use duetbench_stats::two_sided_p;
/// let p = two_sided_p(6.928203230275509, 5.0).unwrap();
/// assert!((p - 9.612_530_69e-4).abs() < 1e-9);
/// ```
pub fn two_sided_p(t: f64, df: f64) -> Result<f64, StatsError> {
    check_degrees_of_freedom(df)?;
    if t.is_nan() {
        return Err(StatsError::NotFinite);
    }
    Ok(beta_reg(df / 2.0, 0.5, (1.0 + t * t / df).recip()))
}

/// The `t` that a t variable with `df` degrees of freedom exceeds in absolute value with probability `alpha`.
///
/// # Errors
/// When `alpha` is not strictly between 0 and 1 or `df` outside 1 to a million.
///
/// ```
/// # use duetbench_stats::critical_t;
/// let t = critical_t(0.01, 11.0).unwrap();
/// assert!((t - 3.105_806_515).abs() < 1e-9);
/// ```
pub fn critical_t(alpha: f64, df: f64) -> Result<f64, StatsError> {
    StatsError::check("alpha", alpha, 0.0, 1.0)?;
    check_degrees_of_freedom(df)?;
    let student = StudentsT::new(0.0, 1.0, df).map_err(|_| StatsError::OutOfRange { name: "df", value: df })?;
    // Newton's method on ln p as a function of ln t, which falls and is concave: started at the normal quantile, which is too
    // small, it steps beyond the root once and then comes back without crossing it. In the tail the function is nearly straight.
    let mut t = -Normal::standard().inverse_cdf(alpha / 2.0);
    for _ in 0..50 {
        let p = two_sided_p(t, df)?;
        let slope = -2.0 * t * student.pdf(t) / p;
        let step = (alpha.ln() - p.ln()) / slope;
        if !step.is_finite() {
            break;
        }
        t *= step.exp();
        if step.abs() < 1e-13 {
            break;
        }
    }
    finite(t)
}

pub(super) fn check_degrees_of_freedom(df: f64) -> Result<(), StatsError> {
    if (1.0..=1e6).contains(&df) { Ok(()) } else { Err(StatsError::OutOfRange { name: "df", value: df }) }
}
