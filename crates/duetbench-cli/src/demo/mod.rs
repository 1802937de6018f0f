//! The demo: what the usual procedure concludes and what duet concludes, on the same small project, beside each other.

pub mod neighbour;
pub mod project;
pub mod usual;

use duetbench_core::stats::{StatsError, mann_whitney_p, median};

/// Significance level that benchstat uses.
const USUAL_ALPHA: f64 = 0.05;

/// The usual procedure's conclusion about one benchmark: medians of ten runs of each version, one version after the
/// other, compared by the Mann-Whitney test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UsualConclusion {
    /// Median of the first block, nanoseconds per operation.
    pub base_ns: f64,
    /// Median of the second block.
    pub head_ns: f64,
    /// p-value of the Mann-Whitney test.
    pub p: f64,
}

impl UsualConclusion {
    /// From the values of the two blocks, nanoseconds per operation.
    ///
    /// # Errors
    /// When a block is empty.
    pub fn of(base: &[f64], head: &[f64]) -> Result<UsualConclusion, StatsError> {
        Ok(UsualConclusion { base_ns: median(base)?, head_ns: median(head)?, p: mann_whitney_p(base, head)? })
    }

    /// As benchstat would print it: a change with its p-value, or `~`.
    pub fn words(&self) -> String {
        if self.p > USUAL_ALPHA {
            return format!("~ (p={:.3})", self.p);
        }
        let change = 100.0 * (self.head_ns / self.base_ns - 1.0);
        let direction = if change > 0.0 { "slower" } else { "faster" };
        format!("{direction} {change:+.1}% (p={:.3})", self.p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_as_a_benchstat_reader_knows_them() {
        let base: Vec<f64> = (0..10).map(|i| 100.0 + f64::from(i)).collect();
        let head: Vec<f64> = base.iter().map(|v| v * 1.2).collect();
        assert_eq!(UsualConclusion::of(&base, &head).unwrap().words(), "slower +20.0% (p=0.000)");
        assert_eq!(UsualConclusion::of(&head, &base).unwrap().words(), "faster -16.7% (p=0.000)");
        assert!(UsualConclusion::of(&base, &base).unwrap().words().starts_with("~ (p="));
        assert!(UsualConclusion::of(&[], &base).is_err());
    }
}
