//! Percentile interval of the difference of two independent samples.

use super::interval::{Interval, least_of, reaches, tail_of};
use super::law::Law;
use super::mean::law_of_mean;
use super::nested::Nested;
use crate::{StatsError, finite};

/// The percentile interval of the mean of `candidate` less the mean of `baseline`, each resampled for itself, with any number of
/// levels.
///
/// With the bootstrap distributions of both means, `P(M_B - M_A <= d) = sum over a of P(M_A = a) F_B(a + d)`, of which the quantiles
/// are found by halving. Nothing is drawn. Source: Efron, Annals of Statistics 7 (1979), of the interval; Davison and Hinkley,
/// Bootstrap methods and their application (1997), section 3.2, of two samples. Assumes that the repetitions of
/// each level are independent of each other and the design balanced. Misleads with few repetitions of the outermost level, whatever there
/// is inside: three runs resample to a spread that is too small by `sqrt(2 / 3)`, with no tails.
///
/// # Errors
/// On overflow, or with a confidence that is not strictly between 0 and 1.
///
/// ```
/// # use duetbench_stats::{Nested, mean_difference_interval};
/// // Both means are 0, 1/2 or 1, in 1/4, 1/2 and 1/4 of the resamples; their difference is -1 in 1/16 and -1/2 in 4/16.
/// let of = |values| Nested::of(&[2], values).unwrap();
/// let interval = |confidence| mean_difference_interval(of(&[0.0, 1.0]), of(&[0.0, 1.0]), confidence).unwrap();
/// assert!((interval(0.8).low + 0.5).abs() < 1e-12 && (interval(0.8).high - 0.5).abs() < 1e-12);
/// assert!((interval(0.9).low + 1.0).abs() < 1e-12 && (interval(0.9).high - 1.0).abs() < 1e-12);
/// ```
pub fn mean_difference_interval(
    baseline: Nested<'_>,
    candidate: Nested<'_>,
    confidence: f64,
) -> Result<Interval, StatsError> {
    let tail = tail_of(confidence)?;
    let (baseline, candidate) = (law_of_mean(baseline)?, law_of_mean(candidate)?);
    // The upper end of a difference is the lower one of its opposite.
    let low = lower_end(&baseline, &candidate, tail);
    let high = -lower_end(&candidate, &baseline, tail);
    Ok(Interval { low: finite(low)?, high: finite(high)? })
}

/// Where the distribution of `above - below` reaches its tail.
fn lower_end(below: &Law, above: &Law, tail: f64) -> f64 {
    let masses: Vec<(f64, f64)> = below.atoms().collect();
    let share = |difference: f64| above.weighted_share(masses.iter().map(|(value, mass)| (value + difference, *mass)));
    let (low, high) = (above.least() - below.greatest(), above.greatest() - below.least());
    let ends = [below.least(), below.greatest(), above.least(), above.greatest()];
    let negligible = 1e-14 * ends.iter().fold(0.0_f64, |scale, end| scale.max(end.abs()));
    if reaches(share(low + negligible), tail) {
        return low;
    }
    least_of(low, high, |value| reaches(share(value), tail), |low, high| high - low <= negligible)
}
