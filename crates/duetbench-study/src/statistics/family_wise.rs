//! Many tests at once, where not one false alarm is wanted.

use duetbench_core::stats::StatsError;

/// P-values adjusted so that taking those up to `alpha` for discoveries makes even one false one with probability `alpha` at most.
///
/// The adjusted value of the i-th smallest of `m` is the largest `(m − j + 1) p_j` over all `j <= i`, at most 1. Source: Holm,
/// Scandinavian Journal of Statistics 6 (1979). Assumes nothing of how the tests depend on each other. Results stand in the order
/// of the arguments.
///
/// # Errors
/// When a value lies outside 0 to 1 or is NaN.
///
/// ```
/// # use duetbench_study::statistics::holm_p_values;
/// let adjusted = holm_p_values(&[0.01, 0.04, 0.03, 0.005]).unwrap();
/// assert_eq!(adjusted, [0.03, 0.06, 0.06, 0.02]);
/// ```
pub fn holm_p_values(p_values: &[f64]) -> Result<Vec<f64>, StatsError> {
    check(p_values)?;
    let mut ascending: Vec<usize> = (0..p_values.len()).collect();
    ascending.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (smaller_ones, &i) in ascending.iter().enumerate() {
        largest = largest.max(p_values[i] * (p_values.len() - smaller_ones) as f64).min(1.0);
        adjusted[i] = largest;
    }
    Ok(adjusted)
}

/// P-values times their number, at most 1: simpler than [`holm_p_values`], never smaller, and as widely valid.
///
/// Source: Dunn, Journal of the American Statistical Association 56 (1961), by Bonferroni's inequality.
///
/// # Errors
/// When a value lies outside 0 to 1 or is NaN.
///
/// ```
/// # use duetbench_study::statistics::bonferroni_p_values;
/// assert_eq!(bonferroni_p_values(&[0.01, 0.25, 0.0625, 0.5]).unwrap(), [0.04, 1.0, 0.25, 1.0]);
/// ```
pub fn bonferroni_p_values(p_values: &[f64]) -> Result<Vec<f64>, StatsError> {
    check(p_values)?;
    Ok(p_values.iter().map(|p| (p * p_values.len() as f64).min(1.0)).collect())
}

fn check(p_values: &[f64]) -> Result<(), StatsError> {
    match p_values.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        Some(&value) => Err(StatsError::OutOfRange { name: "p", value }),
        None => Ok(()),
    }
}
