//! Spreads that learn from each other.

use statrs::function::gamma::digamma;

use super::polygamma::{trigamma, trigamma_inverse};
use super::{StatsError, median};

/// Smallest share of the median to which an estimated variance is raised, so that one that happens to be 0 has a logarithm.
const FLOOR: f64 = 1e-5;
/// Degrees of freedom from which on a spread counts as known: that of t is then that of the normal distribution.
const DF_MAX: f64 = 1e6;

/// A variance that was estimated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleVariance {
    /// The estimate, in the square of the values' unit.
    pub variance: f64,
    /// Its degrees of freedom.
    pub df: f64,
}

/// The distribution of a suite's spreads: the inverse of a true variance is distributed as chi-square with `df` degrees of freedom, divided by
/// `df` times `variance`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpreadPrior {
    /// The typical variance, in the square of the values' unit.
    pub variance: f64,
    /// Degrees of freedom that it is worth beside a sample; a million where the samples vary no more than by chance.
    pub df: f64,
    /// Sum of the degrees of freedom it was made from: nobody's spread can be known better than by all of them.
    pub df_of_all: f64,
}

/// The prior of a suite's variances, estimated from all of them by moments of their logarithms.
///
/// With `e_i = ln s_i^2 - digamma(df_i / 2) + ln(df_i / 2)`: `trigamma(d0 / 2) = var(e) - mean(trigamma(df_i / 2))`, and
/// `s0^2 = exp(mean(e) + digamma(d0 / 2) - ln(d0 / 2))`. Where the right side of the first is not positive, spreads differ no more than by
/// chance, and `s0^2` is the pooled variance. Source: Smyth, Statistical Applications in Genetics and Molecular Biology 3 (2004), section 6.2, as
/// `fitFDist` of limma. Estimates below 1e-5 of their median are raised to that, as there. Assumes normal values within each sample, and
/// samples that are independent and belong together: the spread of one that does not is drawn towards the others.
///
/// # Errors
/// With fewer than two samples, or with a variance or degrees of freedom that are not positive numbers (a variance may be 0, unless
/// half of them are).
///
/// ```
/// # use duetbench_core::stats::{SampleVariance, spread_prior};
/// let of = |variance| SampleVariance { variance, df: 7.0 };
/// let prior = spread_prior(&[1.0, 2.0, 9.0, 4.0, 0.5, 3.0].map(of)).unwrap();
/// assert!((prior.df - 3.656_8).abs() < 5e-5 && (prior.variance - 1.881_8).abs() < 5e-5);
/// // The largest is drawn down: (d0 s0^2 + 7 * 9) / (d0 + 7).
/// let moderated = prior.moderate(of(9.0));
/// assert!((moderated.variance - 6.557_5).abs() < 5e-5 && (moderated.df - 10.656_8).abs() < 5e-5);
/// ```
pub fn spread_prior(samples: &[SampleVariance]) -> Result<SpreadPrior, StatsError> {
    if samples.len() < 2 {
        return Err(StatsError::TooFew { have: samples.len(), needed: 2 });
    }
    for sample in samples {
        StatsError::check("df", sample.df, (0.0, f64::INFINITY))?;
        StatsError::check("variance", sample.variance, (-f64::MIN_POSITIVE, f64::INFINITY))?;
    }
    let typical = median(&samples.iter().map(|s| s.variance).collect::<Vec<_>>())?;
    let floor = StatsError::check("variance", FLOOR * typical, (0.0, f64::INFINITY))?;
    let n = samples.len() as f64;
    let log = |s: &SampleVariance| s.variance.max(floor).ln() - digamma(s.df / 2.0) + (s.df / 2.0).ln();
    let mean = samples.iter().map(log).sum::<f64>() / n;
    let scatter = samples.iter().map(|s| (log(s) - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let by_chance = samples.iter().map(|s| trigamma(s.df / 2.0)).sum::<f64>() / n;
    let df_of_all: f64 = samples.iter().map(|s| s.df).sum();
    let excess = scatter - by_chance;
    let df = if excess > 0.0 { 2.0 * trigamma_inverse(excess) } else { f64::INFINITY };
    if df >= DF_MAX {
        let variance = samples.iter().map(|s| s.df * s.variance.max(floor)).sum::<f64>() / df_of_all;
        return Ok(SpreadPrior { variance, df: DF_MAX, df_of_all });
    }
    let variance = (mean + digamma(df / 2.0) - (df / 2.0).ln()).exp();
    Ok(SpreadPrior { variance, df, df_of_all })
}

impl SpreadPrior {
    /// A sample's variance drawn towards the suite's, `(d0 s0^2 + df s^2) / (d0 + df)`, with the degrees of freedom that it is then worth:
    /// `d0 + df`, but no more than all samples together have.
    #[must_use]
    pub fn moderate(&self, sample: SampleVariance) -> SampleVariance {
        let df = self.df + sample.df;
        let variance = (self.df * self.variance + sample.df * sample.variance) / df;
        SampleVariance { variance, df: df.min(self.df_of_all.max(sample.df)) }
    }
}
