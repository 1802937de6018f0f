//! Cliff's delta: how far apart two samples are, whatever their units.

use duetbench_core::stats::{StatsError, sorted};

/// Size of a difference, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeltaSize {
    /// Below 0.147.
    Negligible,
    /// Below 0.33.
    Small,
    /// Below 0.474.
    Medium,
    /// From there on.
    Large,
}

duetbench_core::words!(DeltaSize: Negligible "negligible", Small "small", Medium "medium", Large "large");

impl DeltaSize {
    /// The size of a delta, by its absolute value.
    ///
    /// Source: Romano, Kromrey, Coraggio and Skowronek, Annual meeting of the Florida Association of Institutional Research (2006).
    pub fn of(delta: f64) -> DeltaSize {
        match delta.abs() {
            d if d < 0.147 => DeltaSize::Negligible,
            d if d < 0.33 => DeltaSize::Small,
            d if d < 0.474 => DeltaSize::Medium,
            _ => DeltaSize::Large,
        }
    }
}

/// Share of the pairs in which the value of `a` is the larger, less the share in which it is the smaller: from −1 to 1.
///
/// Source: Cliff, Psychological Bulletin 114 (1993). Describes the samples; whether the difference could be chance is for
/// [`mann_whitney_p`](duetbench_core::stats::mann_whitney_p) to say.
///
/// # Errors
/// When a sample is empty or has a value that is not finite.
///
/// ```
/// # use duetbench_study::statistics::{DeltaSize, cliffs_delta};
/// // Six pairs: 2 is larger in one, smaller in one and equal in one; 3 is larger in two and equal in none, smaller in one.
/// let delta = cliffs_delta(&[2.0, 3.0], &[1.0, 2.0, 4.0]).unwrap();
/// assert!((delta - 1.0 / 6.0).abs() < 1e-15);
/// assert_eq!(DeltaSize::of(delta).word(), "small");
/// ```
pub fn cliffs_delta(a: &[f64], b: &[f64]) -> Result<f64, StatsError> {
    let (a, b) = (sorted(a, 1)?, sorted(b, 1)?);
    let wins = |x: &f64| {
        let below = b.partition_point(|y| y < x);
        let above = b.len() - b.partition_point(|y| y <= x);
        below as f64 - above as f64
    };
    Ok(a.iter().map(wins).sum::<f64>() / (a.len() as f64 * b.len() as f64))
}
