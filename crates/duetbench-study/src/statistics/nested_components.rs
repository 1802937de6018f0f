//! Splits a spread into the parts of many nested levels, where repetitions are missing.

use duetbench_core::stats::{StatsError, finite};

/// Variances of the levels of a nested experiment whose groups may differ in size, outermost first.
///
/// `shape` holds the most repetitions of each level, `values` the values in row-major order, NaN where there is none. Let `n_u` be
/// the values inside a unit `u`, `ȳ_u` their mean, level 0 the whole, `N` all values. A level's sum of squares is
/// `SS_l = Σ_u n_u (ȳ_u − ȳ_parent)²`, and with `c(l, k) = Σ n_v² / n_u` over the units `v` of level `k` inside the units `u` of
/// level `l`, `c(l, l) = N`, its expectation is `Σ_(k ≥ l) σ_k² (c(l, k) − c(l − 1, k))`. These equations are solved from the
/// innermost level outwards; what comes out below 0 is 0. Source: the analysis-of-variance estimators of Searle, Casella and
/// McCulloch, Variance Components (1992), section 5.3 and appendix F; the coefficients as Gates and Shiue, Biometrics 18 (1962).
/// Without gaps these are the analysis-of-variance estimators of a balanced design, with two levels
/// [`variance_components`](duetbench_core::stats::variance_components).
///
/// # Errors
/// When the shape does not have as many places as there are values, a level has no unit with two inside, a value is infinite, or
/// on overflow.
///
/// ```
/// # use duetbench_study::statistics::unbalanced_nested_components;
/// let gap = f64::NAN;
/// // Group means 2 and 6 of two and three values: MS_1 = 19.2, MS_2 = 10 / 3, and 2.4 values for a group.
/// let c = unbalanced_nested_components(&[2, 3], &[1.0, 3.0, gap, 4.0, 6.0, 8.0]).unwrap();
/// assert!((c[1] - 10.0 / 3.0).abs() < 1e-12 && (c[0] - (19.2 - 10.0 / 3.0) / 2.4).abs() < 1e-12);
/// ```
pub fn unbalanced_nested_components(shape: &[usize], values: &[f64]) -> Result<Vec<f64>, StatsError> {
    let places = shape.iter().try_fold(1_usize, |places, n| places.checked_mul(*n));
    if shape.is_empty() || places != Some(values.len()) {
        return Err(StatsError::TooFew { have: values.len(), needed: places.unwrap_or(usize::MAX) });
    }
    if values.iter().any(|v| v.is_infinite()) {
        return Err(StatsError::NotFinite);
    }
    let tiers = tiers(shape, values);
    for pair in tiers.windows(2) {
        let (outer, inner) = (pair[0].units(), pair[1].units());
        if outer == 0 || inner <= outer {
            return Err(StatsError::TooFew { have: inner, needed: outer + 1 });
        }
    }
    let mut components = vec![0.0; shape.len()];
    let first = values.iter().find(|v| !v.is_nan());
    if values.iter().all(|v| v.is_nan() || Some(v) == first) {
        // Rounding in the means below would turn "no spread" into a tiny one.
        return Ok(components);
    }
    for level in (1..=shape.len()).rev() {
        let share = |inner: usize| weight(&tiers[level], &tiers[inner]) - weight(&tiers[level - 1], &tiers[inner]);
        let of_inner: f64 = (level + 1..=shape.len()).map(|inner| components[inner - 1] * share(inner)).sum();
        let squares = squares(&tiers[level - 1], &tiers[level]);
        components[level - 1] = finite((squares - of_inner) / share(level))?;
    }
    Ok(components.into_iter().map(|component| component.max(0.0)).collect())
}

/// The units of one level, in order.
struct Tier {
    /// Values inside each.
    counts: Vec<f64>,
    /// Their mean; 0 where there is none.
    means: Vec<f64>,
}

impl Tier {
    /// Units with a value.
    fn units(&self) -> usize {
        self.counts.iter().filter(|count| **count > 0.0).count()
    }

    /// The units around these, each of which has so many places for them.
    fn around(&self, places: usize) -> Tier {
        let counts: Vec<f64> = self.counts.chunks(places).map(|counts| counts.iter().sum()).collect();
        let sums = self.counts.chunks(places).zip(self.means.chunks(places));
        let sums = sums.map(|(counts, means)| counts.iter().zip(means).map(|(n, mean)| n * mean).sum::<f64>());
        let means = sums.zip(&counts).map(|(sum, n)| if *n > 0.0 { sum / n } else { 0.0 }).collect();
        Tier { counts, means }
    }
}

/// All levels, the whole first and single values last.
fn tiers(shape: &[usize], values: &[f64]) -> Vec<Tier> {
    let counts = values.iter().map(|v| if v.is_nan() { 0.0 } else { 1.0 }).collect();
    let means = values.iter().map(|v| if v.is_nan() { 0.0 } else { *v }).collect();
    let mut tiers = vec![Tier { counts, means }];
    for places in shape.iter().rev() {
        let outer = tiers[tiers.len() - 1].around((*places).max(1));
        tiers.push(outer);
    }
    tiers.reverse();
    tiers
}

/// The units of the inner level with the number of the outer unit that each is in.
fn inside<'a>(outer: &Tier, inner: &'a Tier) -> impl Iterator<Item = (usize, f64, f64)> + 'a {
    let places = (inner.counts.len() / outer.counts.len().max(1)).max(1);
    let units = inner.counts.iter().zip(&inner.means).enumerate();
    units.filter(|(_, (count, _))| **count > 0.0).map(move |(i, (count, mean))| (i / places, *count, *mean))
}

/// Weight of a variance at the inner level in the sum of all squared means of the outer one: `c(outer, inner)`.
fn weight(outer: &Tier, inner: &Tier) -> f64 {
    inside(outer, inner).map(|(at, count, _)| count * count / outer.counts[at]).sum()
}

/// The sum of squares of the inner level around the outer one.
fn squares(outer: &Tier, inner: &Tier) -> f64 {
    inside(outer, inner).map(|(at, count, mean)| count * (mean - outer.means[at]).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use duetbench_core::stats::variance_components;

    use super::*;

    const GAP: f64 = f64::NAN;

    fn near(ours: &[f64], want: &[f64]) {
        assert_eq!(ours.len(), want.len());
        assert!(ours.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-12 * (1.0 + b)), "{ours:?} is not {want:?}");
    }

    #[test]
    fn a_table_of_three_levels_comes_out_as_by_hand() {
        // First unit: {1, 3} and {8}; second: {10, 12, 14} and {9}; N = 7, means 4 and 11.25.
        // SS_3 = 2 + 8 = 10, c(3,3) - c(2,3) = 7 - 4.
        // SS_2 = 2·2² + 1·4² + 3·0.75² + 1·2.25² = 30.75; c(2,3) - c(1,3) = 4 - 2; c(1,2) = 5/3 + 10/4.
        // SS_1 = (12/7)·7.25²; c(1,3) - c(0,3) = 2 - 1; c(1,2) - c(0,2) = 25/6 - 15/7; c(1,1) - c(0,1) = 7 - 25/7.
        let values = [1.0, 3.0, GAP, 8.0, GAP, GAP, 10.0, 12.0, 14.0, 9.0, GAP, GAP];
        let third: f64 = 10.0 / 3.0;
        let second = (30.75 - 2.0 * third) / (7.0 - 25.0 / 6.0);
        let first = (12.0 / 7.0 * 7.25_f64.powi(2) - third - (25.0 / 6.0 - 15.0 / 7.0) * second) / (7.0 - 25.0 / 7.0);
        near(&unbalanced_nested_components(&[2, 2, 3], &values).unwrap(), &[first, second, third]);
    }

    #[test]
    fn with_two_levels_the_special_case_comes_out() {
        let two = variance_components(&[vec![1.0, 4.0], vec![9.0], vec![2.0, 2.0, 7.0]]).unwrap();
        let gaps = [1.0, 4.0, GAP, GAP, 9.0, GAP, 2.0, 2.0, 7.0];
        near(&unbalanced_nested_components(&[3, 3], &gaps).unwrap(), &[two.between, two.within]);
    }

    #[test]
    fn what_cannot_be_told_apart_is_refused() {
        let refused = |shape: &[usize], values: &[f64]| assert!(unbalanced_nested_components(shape, values).is_err());
        refused(&[], &[]);
        refused(&[2, 2], &[1.0; 3]);
        refused(&[2, 2], &[GAP; 4]);
        refused(&[2, 2], &[1.0, GAP, GAP, 2.0]);
        refused(&[2, 1, 2], &[1.0, 2.0, 3.0, 4.0]);
        refused(&[2, 2], &[1.0, 2.0, 3.0, f64::INFINITY]);
        assert_eq!(unbalanced_nested_components(&[7, 9], &[0.7; 63]), Ok(vec![0.0, 0.0]));
    }
}
