//! Cost of disturbances.

use crate::stats::{mann_whitney_p, median, trimmed_t};

/// Fork pairs that each group needs before anything is said.
const GROUP_MIN: usize = 4;
/// Error of claiming that disturbed fork pairs spread more.
const ALPHA: f64 = 0.05;

/// Factor by which the minimal detectable change would be smaller, had no fork pair been disturbed; for the log ratios of one
/// benchmark, or deviations of several from their medians.
///
/// The minimal detectable change is proportional to the spread of fork pairs (see [`trimmed_t`]), so the factor is
/// `spread(all) / spread(calm)` with the same number of fork pairs. It is claimed only if the distances from the common median
/// are larger in disturbed fork pairs, by a two-sided Mann-Whitney test at 5 % (the idea of Levene, 1960, with ranks); otherwise,
/// and if the factor comes out below 1, the cost is 1: none that could be seen. With few fork pairs most real costs stay
/// unseen, which is meant: it must not blame the machine by chance.
///
/// Nothing is known with fewer than four fork pairs of either kind, without any spread among the calm ones, or with a value
/// that is not finite.
pub fn disturbance_cost(fork_pairs: &[(bool, f64)]) -> Option<f64> {
    let all: Vec<f64> = fork_pairs.iter().map(|(_, log_ratio)| *log_ratio).collect();
    let group = |wanted: bool| -> Vec<f64> {
        fork_pairs.iter().filter(|(disturbed, _)| *disturbed == wanted).map(|(_, log_ratio)| *log_ratio).collect()
    };
    let (calm, disturbed) = (group(false), group(true));
    if calm.len().min(disturbed.len()) < GROUP_MIN {
        return None;
    }
    let centre = median(&all).ok()?;
    let distances = |values: &[f64]| values.iter().map(|v| (v - centre).abs()).collect::<Vec<_>>();
    let (near, far) = (distances(&calm), distances(&disturbed));
    let calm_spread = trimmed_t(&calm).ok()?.spread();
    if calm_spread == 0.0 {
        return None;
    }
    let larger = median(&far).ok()? > median(&near).ok()? && mann_whitney_p(&far, &near).ok()? < ALPHA;
    let factor = trimmed_t(&all).ok()?.spread() / calm_spread;
    Some(if larger { factor.max(1.0) } else { 1.0 })
}
