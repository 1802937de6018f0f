//! Two independent samples: Welch's t, plain and trimmed.

use super::variance_limit::caution;
use super::{StatsError, critical_t, finite, sorted, two_sided_p};

/// The difference between two means with the standard error that fits it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// Mean of the second sample less that of the first.
    pub difference: f64,
    /// Its standard error; 0 when neither sample has any spread.
    pub standard_error: f64,
    /// Degrees of freedom of the t distribution that the statistic is referred to; a fraction in general.
    pub degrees_of_freedom: f64,
}

/// Difference between the means of two independent samples whose variances may differ.
///
/// With `D_j = s_j² / n_j`, `SE = sqrt(D_a + D_b)` and
/// `df = (D_a + D_b)² / (D_a² / (n_a − 1) + D_b² / (n_b − 1))`. Source: Welch, Biometrika 34 (1947). Assumes independent values,
/// each sample of one distribution that is not far from normal.
///
/// # Errors
/// With fewer than two values on a side, with a value that is not finite, or on overflow.
///
/// ```
/// # use duetbench_stats::welch_t;
/// // Means 2 and 5, variances 1 and 4 of three values each: SE = sqrt(5 / 3), df = (5/3)² / (1/18 + 16/18).
/// let t = welch_t(&[1.0, 2.0, 3.0], &[3.0, 5.0, 7.0]).unwrap();
/// assert_eq!(t.difference, 3.0);
/// assert!((t.degrees_of_freedom - 50.0 / 17.0).abs() < 1e-12);
/// assert!((t.p_value().unwrap() - 0.104_478_9).abs() < 1e-7);
/// ```
pub fn welch_t(a: &[f64], b: &[f64]) -> Result<Difference, StatsError> {
    difference(Side::of(a, 0)?, Side::of(b, 0)?)
}

/// The same of means from which a tenth was trimmed at each end (none below ten values).
///
/// With `g_j = floor(n_j / 10)` trimmed at each end, `h_j = n_j − 2 g_j` left, and `s_wj` the standard deviation of the winsorised
/// sample, `D_j = (n_j − 1) s_wj² / (h_j (h_j − 1))`, and `h_j` for `n_j` in the degrees of freedom. Source: Yuen, Biometrika 61
/// (1974). Assumes independent values of symmetric distributions; long tails are what the trimming is for.
///
/// # Errors
/// With fewer than two values on a side, with a value that is not finite, or on overflow.
///
/// ```
/// # use duetbench_stats::yuen_welch_t;
/// let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0];
/// let b = [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 1000.0];
/// let t = yuen_welch_t(&a, &b).unwrap();
/// assert!((t.difference - 1.0).abs() < 1e-12 && (t.degrees_of_freedom - 14.0).abs() < 1e-12);
/// ```
pub fn yuen_welch_t(a: &[f64], b: &[f64]) -> Result<Difference, StatsError> {
    difference(Side::of(a, a.len() / 10)?, Side::of(b, b.len() / 10)?)
}

/// The same with the standard error of both samples' pooled variance where that is larger: of three values and of twenty that vary
/// alike, Welch's is too small whenever the three lie close together by luck.
///
/// With `S_j` the winsorised sum of squares, the pooled error is `sqrt((S_a + S_b) / (h_a + h_b − 2) (1/h_a + 1/h_b))`. Untrimmed
/// samples of equal variance keep the error: this `|t|` is at most Student's, and its degrees of freedom no more. For samples of
/// one size both errors are one.
///
/// # Errors
/// As those of [`yuen_welch_t`].
///
/// ```
/// # use duetbench_stats::{cautious_t, yuen_welch_t};
/// // Sums of squares 2 and 40, of three and five values: sqrt(42 / 6 (1/3 + 1/5)) for Welch's sqrt(1/3 + 2).
/// let (a, b) = ([4.0, 5.0, 6.0], [1.0, 3.0, 5.0, 7.0, 9.0]);
/// assert!((cautious_t(&a, &b).unwrap().standard_error.powi(2) - 56.0 / 15.0).abs() < 1e-12);
/// assert!((yuen_welch_t(&a, &b).unwrap().standard_error.powi(2) - 7.0 / 3.0).abs() < 1e-12);
/// ```
pub fn cautious_t(a: &[f64], b: &[f64]) -> Result<Difference, StatsError> {
    let (a, b) = (Side::of(a, a.len() / 10)?, Side::of(b, b.len() / 10)?);
    let squares = |side: &Side| side.error2 * (side.df + 1.0) * side.df;
    let per_value = |side: &Side| (side.df + 1.0).recip();
    let pooled2 = (squares(&a) + squares(&b)) / (a.df + b.df) * (per_value(&a) + per_value(&b));
    let welch = difference(a, b)?;
    Ok(Difference { standard_error: welch.standard_error.max(finite(pooled2)?.sqrt()), ..welch })
}

/// One sample in the test.
struct Side {
    mean: f64,
    /// Square of the mean's standard error.
    error2: f64,
    /// Values that were not trimmed, less one.
    df: f64,
}

impl Side {
    fn of(values: &[f64], per_side: usize) -> Result<Side, StatsError> {
        let ascending = sorted(values, 2)?;
        let kept = &ascending[per_side..ascending.len() - per_side];
        let (lowest, highest, left) = (kept[0], kept[kept.len() - 1], kept.len() as f64);
        if lowest == highest {
            // Rounding in the sums below would turn "no spread" into a tiny one.
            return Ok(Side { mean: lowest, error2: 0.0, df: left - 1.0 });
        }
        let n = ascending.len() as f64;
        let winsorised = || ascending.iter().map(|v| v.clamp(lowest, highest));
        let centre = winsorised().sum::<f64>() / n;
        let squares: f64 = winsorised().map(|v| (v - centre).powi(2)).sum();
        Ok(Side {
            mean: finite(kept.iter().sum::<f64>() / left)?,
            error2: finite(squares / (left * (left - 1.0)))?,
            df: left - 1.0,
        })
    }
}

fn difference(a: Side, b: Side) -> Result<Difference, StatsError> {
    let error2 = finite(a.error2 + b.error2)?;
    // As shares of the whole, so that squares of tiny variances do not vanish.
    let share = if error2 > 0.0 { a.error2 / error2 } else { 0.5 };
    let degrees = (share.powi(2) / a.df + (1.0 - share).powi(2) / b.df).recip();
    Ok(Difference {
        difference: finite(b.mean - a.mean)?,
        standard_error: error2.sqrt(),
        degrees_of_freedom: degrees.clamp(1.0, 1e6),
    })
}

impl Difference {
    /// Two-sided p-value of the difference being 0. Without spread it is 1 for a difference of 0 and 0 for any other.
    ///
    /// # Errors
    /// None from a value that [`welch_t`] or [`yuen_welch_t`] made.
    pub fn p_value(&self) -> Result<f64, StatsError> {
        if self.standard_error == 0.0 {
            return Ok(if self.difference == 0.0 { 1.0 } else { 0.0 });
        }
        two_sided_p(self.difference / self.standard_error, self.degrees_of_freedom)
    }

    /// The ends of the interval that covers the difference with confidence `1 - alpha`.
    ///
    /// # Errors
    /// When `alpha` is not strictly between 0 and 1.
    pub fn interval(&self, alpha: f64) -> Result<(f64, f64), StatsError> {
        let half_width = critical_t(alpha, self.degrees_of_freedom)? * self.standard_error;
        Ok((self.difference - half_width, self.difference + half_width))
    }

    /// The standard error that is planned with: so much larger that it falls short of the true one in 35 of 100 samples of normal values only.
    ///
    /// # Errors
    /// None from a value that [`welch_t`] or [`yuen_welch_t`] made.
    pub fn cautious_standard_error(&self) -> Result<f64, StatsError> {
        Ok(self.standard_error * caution(self.degrees_of_freedom)?)
    }
}
