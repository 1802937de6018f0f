//! Statistics of benchmark comparisons: is this version slower or faster than that one, by how much, and how sure is that?
//!
//! ```
//! use duetbench_stats::{Comparison, Threshold, Verdict};
//!
//! let base = [10.1, 10.3, 9.9, 10.2, 10.0, 10.4]; // in any unit, one number for each process
//! let head = [10.6, 10.9, 10.4, 10.8, 10.5, 11.0];
//! let estimate = Comparison::paired(&base, &head)?.estimate(0.99)?;
//! assert_eq!(format!("{:.3}", estimate.ratio()), "1.054");
//! let answer = match estimate.judge(Threshold::percent(2.0)?) {
//!     Verdict::Slower => "slower by more than 2 %",
//!     Verdict::Faster => "faster by more than 2 %",
//!     Verdict::NoChange => "no change as large as 2 %",
//!     Verdict::Open => "nobody knows yet",
//! };
//! assert_eq!(answer, "slower by more than 2 %");
//! # Ok::<(), duetbench_stats::StatsError>(())
//! ```
//!
//! [`Comparison`] is the front; behind it are the methods, to be used alone:
//!
//! | question | methods |
//! | --- | --- |
//! | mean of one sample, or of differences of pairs | [`mean`], [`trimmed_mean`], [`trimmed_t`], [`mean_interval`], [`studentised_interval`], [`sign_test_p`], [`signed_rank_p`], [`signed_rank_exact`] |
//! | median of one sample | [`median`], [`median_interval`] |
//! | two samples | [`welch_t`], [`yuen_welch_t`], [`cautious_t`], [`mann_whitney_p`], [`mean_difference_interval`] |
//! | a share | [`binomial_interval`] |
//! | many tests | [`adjusted_p_values`], [`excess_of_small`] |
//! | looking more than once | [`Sequential`], [`looks`], [`level_kept_by_t`] |
//! | planning | [`detectable_factor`], [`smallest_sample`], [`repetitions`], [`variance_components`], [`variance_limit`] |
//! | series | [`changepoints`], [`lag_one`] |
//! | order | [`ranks`], [`quantile_of_sorted`] |
//! | distributions | [`two_sided_p`], [`critical_t`], [`noncentral_t_survival`], [`skewness`], [`skewness_limit`] |
//!
//! Numbers in, numbers out: nothing here reads a file, a clock or the environment, and nothing is random but for a fixed seed.
//! Every method cites its source and carries one worked number. No function panics: whatever a method cannot digest (no
//! values, a NaN, a level outside its range) comes back as a [`StatsError`].

mod benjamini_hochberg;
mod bootstrap;
mod changepoints;
mod clopper_pearson;
mod comparison;
mod detectable;
mod error;
mod estimator;
mod group_sequential;
mod kolmogorov;
mod lag_one;
mod mann_whitney;
mod mean;
mod median;
mod noncentral;
mod quantile;
mod ranks;
mod repetitions;
mod root;
mod sample_size;
mod sign_test;
mod signed_rank;
mod skewness;
mod student;
mod two_sides;
mod variance_components;
mod variance_limit;
mod welch;
mod yuen;

pub use benjamini_hochberg::adjusted_p_values;
pub use bootstrap::{
    Interval, MedianTable, Moments, Nested, mean_difference_interval, mean_interval, mean_interval_screen,
    median_interval, median_interval_of_sorted, median_ranks, studentised_interval, studentised_interval_with,
};
pub use changepoints::changepoints;
pub use clopper_pearson::binomial_interval;
pub use comparison::{Comparison, Estimate, Threshold, Verdict};
pub use detectable::{Level, detectable_factor};
pub use error::StatsError;
pub use estimator::{Estimator, LogRatio, StudentisedBootstrap, TrimmedMean, Welch};
pub use group_sequential::{Sequential, Spend, level_kept_by_t, looks, p_kept_by_t};
pub use kolmogorov::{excess_of_small, excess_of_small_limit};
pub use lag_one::{LagOne, lag_one};
pub use mann_whitney::{MannWhitney, mann_whitney_p};
pub use mean::{mean, trimmed_mean};
pub use median::median;
pub use noncentral::noncentral_t_survival;
pub use quantile::quantile_of_sorted;
pub use ranks::{Ranks, ranks};
pub use repetitions::{Repetition, repetitions};
pub use sample_size::smallest_sample;
pub use sign_test::sign_test_p;
pub use signed_rank::{SignedRank, signed_rank_exact, signed_rank_p};
pub use skewness::{skewness, skewness_limit};
pub use student::{critical_t, two_sided_p};
pub use two_sides::{Pairs, TwoSamples};
pub use variance_components::{Components, variance_components};
pub use variance_limit::variance_limit;
pub use welch::{Difference, cautious_t, welch_t, yuen_welch_t};
pub use yuen::{TrimmedT, degrees_of_freedom, trimmed_t};

/// The values in ascending order, if there are at least `needed` and all are finite.
///
/// # Errors
/// When there are fewer, or one is not finite.
pub fn sorted(values: &[f64], needed: usize) -> Result<Vec<f64>, StatsError> {
    if values.len() < needed {
        return Err(StatsError::TooFew { have: values.len(), needed });
    }
    if !values.iter().all(|v| v.is_finite()) {
        return Err(StatsError::NotFinite);
    }
    let mut ascending = values.to_vec();
    ascending.sort_by(f64::total_cmp);
    Ok(ascending)
}

/// Passes on a finite result; an overflow inside a formula is the caller's values being too large for it.
///
/// # Errors
/// When it is not finite.
pub fn finite(value: f64) -> Result<f64, StatsError> {
    if value.is_finite() { Ok(value) } else { Err(StatsError::NotFinite) }
}
