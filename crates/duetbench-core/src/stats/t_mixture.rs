//! A confidence sequence: an interval that may be looked at after every value.

use super::{StatsError, finite, sorted};

/// A sequence of intervals for the mean of normal values of unknown spread, all of which cover it at once.
///
/// The effect, in standard deviations, is mixed over a normal distribution of variance `g` (right Haar prior on the spread). With
/// `ν = n − 1` and `t = sqrt(n) (x̄ − θ) / s`:
/// `e_n(θ) = (1 + n g)^(−1/2) [(1 + t²/ν) / (1 + t² / (ν (1 + n g)))]^(n/2)`.
/// Where `θ` is the true mean this is a non-negative martingale that starts at 1, so by Ville's inequality it ever reaches `1 / alpha` with
/// probability `alpha` at most. Source: Wang and Ramdas, Anytime-valid t-tests and confidence sequences for Gaussian means with unknown
/// variance, arXiv 2310.03722 (2023), section 4; the mixture is Lai's, Annals of Statistics 4 (1976). There is no horizon, and a
/// price: a wider interval than that of planned looks ([`Sequential`](super::Sequential)). Assumes independent normal values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TMixture {
    g: f64,
}

impl TMixture {
    /// A sequence that is narrowest where the effect is about `sqrt(g)` standard deviations of one value; 4 suits benchmarks.
    ///
    /// # Errors
    /// When `g` is not positive and finite.
    pub fn new(g: f64) -> Result<TMixture, StatsError> {
        Ok(TMixture { g: StatsError::check("g", g, (0.0, f64::INFINITY))? })
    }

    /// The evidence that the mean is not `theta`: at 100 it is refuted at 1 %, whenever that is looked at. It is infinite where all
    /// values are the same other than `theta`.
    ///
    /// # Errors
    /// With fewer than two values, or with a number that is not finite.
    ///
    /// ```
    /// # use duetbench_core::stats::TMixture;
    /// let e = TMixture::new(4.0).unwrap().evidence(&[0.02, 0.03, 0.01, 0.025, 0.015, 0.02], 0.0).unwrap();
    /// assert!((e - 89.854).abs() < 5e-4);
    /// ```
    pub fn evidence(&self, values: &[f64], theta: f64) -> Result<f64, StatsError> {
        let (mean, sd, n) = moments(values)?;
        let off = finite(mean - theta)?;
        let prior = 1.0 + n * self.g;
        if sd == 0.0 {
            return Ok(if off == 0.0 { prior.sqrt().recip() } else { f64::INFINITY });
        }
        let squares = (off / sd).powi(2) * n / (n - 1.0);
        let log = n / 2.0 * (squares.ln_1p() - (squares / prior).ln_1p()) - prior.ln() / 2.0;
        Ok(log.exp())
    }

    /// The ends of the interval after these values; infinite as long as there are too few.
    ///
    /// # Errors
    /// With fewer than two values, with one that is not finite, or when `alpha` is not strictly between 0 and 1.
    ///
    /// ```
    /// # use duetbench_core::stats::TMixture;
    /// let (low, high) = TMixture::new(4.0).unwrap().interval(&[0.02, 0.03, 0.01, 0.025, 0.015, 0.02], 0.01).unwrap();
    /// assert!((low + 0.000_579).abs() < 1e-6 && (high - 0.040_579).abs() < 1e-6);
    /// ```
    pub fn interval(&self, values: &[f64], alpha: f64) -> Result<(f64, f64), StatsError> {
        StatsError::check("alpha", alpha, (0.0, 1.0))?;
        let (mean, sd, n) = moments(values)?;
        let half_width = match self.radius(n, alpha) {
            Some(radius) => radius * sd,
            None => f64::INFINITY,
        };
        Ok((mean - half_width, mean + half_width))
    }

    /// Half the width of the interval after `n` values, in their standard deviations: the root of `e_n = 1 / alpha`. Absent
    /// while there is none.
    fn radius(&self, n: f64, alpha: f64) -> Option<f64> {
        let prior = 1.0 + n * self.g;
        let kappa = ((prior.ln() - 2.0 * alpha.ln()) / n).exp();
        (kappa < prior).then(|| ((n - 1.0) / n * (kappa - 1.0) / (1.0 - kappa / prior)).sqrt())
    }
}

/// Mean, standard deviation and number of the values.
fn moments(values: &[f64]) -> Result<(f64, f64, f64), StatsError> {
    let ascending = sorted(values, 2)?;
    let n = ascending.len() as f64;
    if ascending[0] == ascending[ascending.len() - 1] {
        // Rounding in the sums below would turn "no spread" into a tiny one.
        return Ok((ascending[0], 0.0, n));
    }
    let mean = finite(ascending.iter().sum::<f64>() / n)?;
    let squares: f64 = ascending.iter().map(|v| (v - mean).powi(2)).sum();
    Ok((mean, finite((squares / (n - 1.0)).sqrt())?, n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radii_after_n_values() {
        let check = |g, n, want: f64| {
            let radius = TMixture::new(g).unwrap().radius(n, 0.01).unwrap();
            assert!((radius - want).abs() < 6e-4, "{n}: {radius}");
        };
        for (n, want) in [(5.0, 4.352), (6.0, 2.910), (8.0, 2.001), (10.0, 1.615), (20.0, 0.974), (30.0, 0.763)] {
            check(4.0, n, want);
        }
        check(10.0, 4.0, 6.900);
        check(10.0, 20.0, 1.012);
        assert_eq!(TMixture::new(4.0).unwrap().radius(4.0, 0.01), None);
    }
}
