//! Many tests at once.

use super::StatsError;

/// P-values adjusted so that taking those up to `q` for discoveries keeps the expected share of false ones at `q`.
///
/// Source: Benjamini and Hochberg, JRSS B 57 (1995); the adjusted value of the i-th smallest of `m` is the least
/// `p_j * m / j` over all `j >= i`, at most 1. Assumes tests that are independent or positively dependent (Benjamini and
/// Yekutieli, Annals of Statistics 29, 2001). Results stand in the order of the arguments.
///
/// # Errors
/// When a value lies outside 0 to 1 or is NaN.
///
/// ```
/// # use duetbench_stats::adjusted_p_values;
/// // The example of the paper's section 3.1: at 0.05 the first four are discoveries.
/// let p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0];
/// let adjusted = adjusted_p_values(&p).unwrap();
/// assert_eq!(adjusted.iter().filter(|p| **p <= 0.05).count(), 4);
/// assert!((adjusted[3] - 0.0095 * 15.0 / 4.0).abs() < 1e-15);
/// ```
pub fn adjusted_p_values(p_values: &[f64]) -> Result<Vec<f64>, StatsError> {
    if let Some(&value) = p_values.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(StatsError::OutOfRange { name: "p", value });
    }
    let mut descending: Vec<usize> = (0..p_values.len()).collect();
    descending.sort_by(|&a, &b| p_values[b].total_cmp(&p_values[a]));
    let tests = p_values.len() as f64;
    let mut adjusted = vec![1.0; p_values.len()];
    let mut least: f64 = 1.0;
    for (larger_ones, &i) in descending.iter().enumerate() {
        let rank = tests - larger_ones as f64;
        // The quotient first: it is exactly 1 for the largest p, which rounding must not push below itself.
        least = least.min(p_values[i] * (tests / rank));
        adjusted[i] = least;
    }
    Ok(adjusted)
}
