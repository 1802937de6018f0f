//! Pairs: a baseline and a candidate sample taken under the same conditions.

use std::collections::BTreeMap;

use crate::plan::Mode;
use crate::sample::{Coordinates, Sample};

/// Two samples that differ in their role only.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The baseline's sample.
    pub baseline: Sample,
    /// The candidate's sample.
    pub candidate: Sample,
    /// The mode in which the two were measured together.
    pub mode: Mode,
}

/// Result of pairing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pairing {
    /// All pairs that count, in the order of their coordinates.
    pub pairs: Vec<Pair>,
    /// Samples whose other half is missing.
    pub orphans: Vec<Sample>,
    /// Pairs left out because they warmed up.
    pub warm_up_pairs: usize,
}

/// Everything that makes two samples belong together. Instances come last: in which order they were had says nothing.
type Key = (u32, u32, u32, u32, u32, u32);

fn key(at: &Coordinates) -> Key {
    (at.build, at.round, at.suite_run, at.fork, at.iteration, at.instance)
}

/// Joins the samples of one benchmark by their coordinates, never by their position.
///
/// A second sample with the same coordinates and role is an orphan, the first one counts.
pub fn pair(samples: &[Sample], mode: Mode) -> Pairing {
    let mut halves: BTreeMap<Key, [Option<Sample>; 2]> = BTreeMap::new();
    let mut pairing = Pairing::default();
    for &sample in samples {
        let half = &mut halves.entry(key(&sample.at)).or_default()[sample.at.role.index()];
        match half {
            None => *half = Some(sample),
            Some(_) => pairing.orphans.push(sample),
        }
    }
    for both in halves.into_values() {
        match both {
            [Some(b), Some(c)] if b.warm_up || c.warm_up => pairing.warm_up_pairs += 1,
            [Some(baseline), Some(candidate)] => pairing.pairs.push(Pair { baseline, candidate, mode }),
            [one, other] => pairing.orphans.extend(one.into_iter().chain(other).filter(|s| !s.warm_up)),
        }
    }
    pairing
}
