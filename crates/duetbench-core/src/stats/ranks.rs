//! Ranks with ties, for the methods that look at nothing else.

use super::StatsError;

/// The ranks of values, counted from 1, in the order of the values. Equal ones share the mean of their ranks.
pub(super) struct Ranks {
    /// The ranks.
    pub(super) of: Vec<f64>,
    /// Sum of t³ − t over the groups of t equal values; 0 without ties.
    pub(super) ties: f64,
}

/// Ranks finite values.
pub(super) fn ranks(values: &[f64]) -> Result<Ranks, StatsError> {
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

/// Ranks the values of all groups together, and gives each group its own; every group must have a value.
pub(super) fn ranks_of_groups(groups: &[Vec<f64>]) -> Result<(Vec<Vec<f64>>, f64), StatsError> {
    let have = groups.iter().filter(|g| !g.is_empty()).count();
    if have < groups.len() || have < 2 {
        return Err(StatsError::TooFew { have, needed: groups.len().max(2) });
    }
    let Ranks { of, ties } = ranks(&groups.concat())?;
    let mut left = of.as_slice();
    let mut ranked = Vec::with_capacity(groups.len());
    for group in groups {
        let (here, rest) = left.split_at(group.len());
        ranked.push(here.to_vec());
        left = rest;
    }
    Ok((ranked, ties))
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
