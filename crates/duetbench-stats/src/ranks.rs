//! Ranks with ties, for the methods that look at nothing else.

use super::StatsError;

/// The ranks of values, counted from 1, in the order of the values. Equal ones share the mean of their ranks.
pub struct Ranks {
    /// The ranks.
    pub of: Vec<f64>,
    /// Sum of t³ − t over the groups of t equal values; 0 without ties.
    pub ties: f64,
}

/// Ranks finite values.
///
/// # Errors
/// When one is not finite.
pub fn ranks(values: &[f64]) -> Result<Ranks, StatsError> {
    if !values.iter().all(|v| v.is_finite()) {
        return Err(StatsError::NotFinite);
    }
    let mut ascending: Vec<usize> = (0..values.len()).collect();
    ascending.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let (mut of, mut ties, mut before) = (vec![0.0; values.len()], 0.0, 0.0);
    // `==` and not the total order, for which the two zeros differ.
    for equal in ascending.chunk_by(|&a, &b| values[a] == values[b]) {
        let size = equal.len() as f64;
        for &i in equal {
            of[i] = before + (size + 1.0) / 2.0;
        }
        ties += size.powi(3) - size;
        before += size;
    }
    Ok(Ranks { of, ties })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_the_mean_of_their_ranks() {
        let Ranks { of, ties } = ranks(&[5.0, -0.0, 7.0, 5.0, 0.0, 5.0]).unwrap();
        assert_eq!((of, ties), (vec![4.0, 1.5, 6.0, 4.0, 1.5, 4.0], 24.0 + 6.0));
        assert!(ranks(&[1.0, f64::NAN]).is_err());
    }
}
