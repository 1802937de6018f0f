//! Bootstrap intervals without resampling: what infinitely many resamples would give.
//!
//! An interval is a property of the values alone, so nothing here is random, but for the one method that says so.

mod convolution;
mod difference;
mod enumeration;
mod interval;
mod lattice;
mod law;
mod mean;
mod median;
mod nested;
mod self_normalised;
mod studentised;

pub use difference::mean_difference_interval;
pub use interval::Interval;
pub use mean::{Moments, mean_interval, mean_interval_screen};
pub use median::{MedianTable, median_interval, median_interval_of_sorted, median_ranks};
pub use nested::Nested;
pub use studentised::{studentised_interval, studentised_interval_with};
