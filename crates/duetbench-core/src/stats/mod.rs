//! Numbers in, numbers out. Imports nothing of ours; every method cites its source and carries one worked number.
//!
//! No function here panics: whatever a method cannot digest (no values, a NaN, a level outside its range) comes back as
//! a [`StatsError`].

mod benjamini_hochberg;
mod detectable;
mod error;
mod group_sequential;
mod mann_whitney;
mod mean;
mod median;
mod noncentral;
mod repetitions;
mod root;
mod sample_size;
mod student;
mod variance_components;
mod yuen;

pub use benjamini_hochberg::adjusted_p_values;
pub use detectable::{Level, detectable_factor};
pub use error::StatsError;
pub use group_sequential::{Sequential, looks};
pub use mann_whitney::mann_whitney_p;
pub use mean::{mean, trimmed_mean};
pub use median::median;
pub use noncentral::noncentral_t_survival;
pub use repetitions::repetitions;
pub use sample_size::smallest_sample;
pub use student::{critical_t, two_sided_p};
pub use variance_components::{Components, variance_components};
pub use yuen::{TrimmedT, trimmed_t};

/// The values in ascending order, if there are at least `needed` and all are finite.
fn sorted(values: &[f64], needed: usize) -> Result<Vec<f64>, StatsError> {
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
fn finite(value: f64) -> Result<f64, StatsError> {
    if value.is_finite() { Ok(value) } else { Err(StatsError::NotFinite) }
}
