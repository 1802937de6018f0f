//! From fork pairs to units of inference.
//!
//! Fork pairs of one build pair share its layout, and with it most of what makes them differ from others. So where every unit
//! has a build pair of its own, its forks are averaged to one number. With a single build pair the forks are the units, and what
//! they say is about these two binaries.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Basis, ForkPair};
use crate::plan::Design;
use crate::stats::{self, Components};

/// The log ratios of the units, in the order in which they were measured.
pub(super) fn units(forks: &[ForkPair], basis: Basis, design: &Design) -> Vec<f64> {
    grouped(forks, basis, design).iter().map(|group| mean(group)).collect()
}

/// The log ratios of every unit's forks.
fn grouped(forks: &[ForkPair], basis: Basis, design: &Design) -> Vec<Vec<f64>> {
    let log_ratios = |unit: Vec<ForkPair>| unit.iter().map(|fork| basis.of(fork)).collect();
    by_unit(forks, design).into_iter().map(log_ratios).collect()
}

/// The mean of values, of which there are some.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The means of so many successive values.
pub(crate) fn means_of(values: &[f64], together: u32) -> Vec<f64> {
    values.chunks(together.max(1) as usize).map(mean).collect()
}

/// The fork pairs of every unit, in the order in which they were measured.
pub fn by_unit(forks: &[ForkPair], design: &Design) -> Vec<Vec<ForkPair>> {
    let mut groups: BTreeMap<(u32, u32), Vec<ForkPair>> = BTreeMap::new();
    for fork in forks {
        // Beside the suite run the fork's own number: on several machines one suite run has several forks.
        let unit = if design.by_build { (fork.build, 0) } else { (design.unit(fork.suite_run), fork.fork) };
        groups.entry(unit).or_default().push(*fork);
    }
    groups.into_values().collect()
}

/// Part of a fork pair's spread that comes from where the linker and the kernel put the code.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Layout {
    /// Standard deviation of the log ratio between build pairs.
    pub sd_between: f64,
    /// Standard deviation between fork pairs of one build pair.
    pub sd_within: f64,
    /// Share of a fork pair's variance that the build pair explains.
    pub share: f64,
}

impl Layout {
    /// The two levels of the fork pairs of one benchmark; absent where they cannot be told apart. Where the programs exchange their
    /// places, means of two fork pairs are looked at, in which the places cancel.
    pub(super) fn of(forks: &[ForkPair], basis: Basis, design: &Design) -> Option<Layout> {
        let places = design.places;
        let groups: Vec<Vec<f64>> = grouped(forks, basis, design).iter().map(|unit| means_of(unit, places)).collect();
        let of_means: Components = stats::variance_components(&groups).ok()?;
        let components = Components { within: of_means.within * f64::from(places), ..of_means };
        Some(Layout {
            sd_between: components.between.sqrt(),
            sd_within: components.within.sqrt(),
            share: components.share_between(),
        })
    }
}
