//! Whether the metrics differ in what they do to the results (research question 2).

use duetbench_core::stats::StatsError;
use duetbench_core::tune::Metric;

use crate::statistics::{DeltaSize, bonferroni_p_values, cliffs_delta, dunn, kruskal_wallis};

/// The metrics of one recording against each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Contrast {
    /// Whether the changes were compared by their absolute values, as the paper says; its code keeps their sign.
    pub absolute: bool,
    /// Kruskal and Wallis' statistic.
    pub statistic: f64,
    /// Its p-value.
    pub p_value: f64,
    /// All pairs of metrics.
    pub pairs: Vec<MetricPair>,
}

/// Two metrics.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricPair {
    /// The one.
    pub first: Metric,
    /// The other.
    pub second: Metric,
    /// P-value of Dunn's test.
    pub p_value: f64,
    /// The same, adjusted by Bonferroni's inequality.
    pub p_adjusted: f64,
    /// Cliff's delta.
    pub delta: f64,
    /// Its size, in a word.
    pub size: DeltaSize,
}

/// Compares the metrics by the changes that tuning with them brings, given by metric in the order of [`Metric::ALL`].
///
/// # Errors
/// When a metric has no changes.
pub fn contrast(changes: &[Vec<f64>], absolute: bool) -> Result<Contrast, StatsError> {
    let groups: Vec<Vec<f64>> =
        changes.iter().map(|g| g.iter().map(|c| if absolute { c.abs() } else { *c }).collect()).collect();
    let all = kruskal_wallis(&groups)?;
    let tests = dunn(&groups)?;
    let adjusted = bonferroni_p_values(&tests.iter().map(|pair| pair.p_value).collect::<Vec<_>>())?;
    let mut pairs = Vec::with_capacity(tests.len());
    for (pair, p_adjusted) in tests.iter().zip(adjusted) {
        let delta = cliffs_delta(&groups[pair.first], &groups[pair.second])?;
        let metric =
            |i: usize| Metric::ALL.get(i).copied().ok_or(StatsError::TooFew { have: Metric::ALL.len(), needed: i + 1 });
        pairs.push(MetricPair {
            first: metric(pair.first)?,
            second: metric(pair.second)?,
            p_value: pair.p_value,
            p_adjusted,
            delta,
            size: DeltaSize::of(delta),
        });
    }
    Ok(Contrast { absolute, statistic: all.statistic, p_value: all.p_value, pairs })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_matter_unless_they_are_left_out() {
        // The same sizes, one metric's results always too large, the other's always too small.
        let changes = [vec![0.01, 0.02, 0.03, 0.04], vec![-0.01, -0.02, -0.03, -0.04]];
        let (signed, absolute) = (contrast(&changes, false).unwrap(), contrast(&changes, true).unwrap());
        assert_eq!((signed.pairs[0].delta, absolute.pairs[0].delta), (1.0, 0.0));
        assert!(signed.p_value < 0.05 && absolute.p_value > 0.99);
        assert_eq!((signed.pairs[0].first, signed.pairs[0].second), (Metric::Cv, Metric::Rmad));
        assert!(contrast(&[vec![1.0], vec![]], true).is_err());
    }
}
