//! Warm-up: from where on a process is steady, found from the times of its iterations and never assumed.
//!
//! Nothing here knows a harness. [`steady_from`] looks at one process, [`over_forks`] makes one number of several, and [`drift`]
//! asks afterwards whether what was judged was steady.

mod drift;
mod forks;
mod outliers;
mod steady;

pub use drift::{Drift, drift};
pub use forks::{ForksWarmUp, over_forks};
pub use steady::{Course, SERIES_MIN, WarmUp, steady_from};
