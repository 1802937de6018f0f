//! All that was told, sorted by the commits that it is about.

use std::collections::{BTreeMap, BTreeSet};

use super::{Found, Probe};

/// Ratios and proofs by commit.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    /// Commits in between of which nothing is known, the ends included, ascending: all that were measured, and both end points.
    pub(super) knots: Vec<usize>,
    /// Log ratios of each knot against the good commit.
    pub(super) levels: Vec<Vec<f64>>,
    /// Ratios of two commits neither of which is the good one.
    pub(super) directs: Vec<Direct>,
    /// Gaps (numbers of the knots before them) in which nothing happens.
    pub(super) empty: BTreeSet<usize>,
}

/// Ratios of two commits, by the gaps between them.
#[derive(Debug, Clone)]
pub(super) struct Direct {
    pub(super) gaps: std::ops::Range<usize>,
    pub(super) log_ratios: Vec<f64>,
}

impl Evidence {
    pub(super) fn of(commits: usize, probes: &[Probe]) -> Evidence {
        let ends = probes.iter().flat_map(|probe| [probe.base, probe.head]);
        let knots: Vec<usize> = ends.chain([0, commits]).collect::<BTreeSet<_>>().into_iter().collect();
        let place: BTreeMap<usize, usize> = knots.iter().enumerate().map(|(at, &commit)| (commit, at)).collect();
        let mut evidence =
            Evidence { levels: vec![Vec::new(); knots.len()], directs: Vec::new(), empty: BTreeSet::new(), knots };
        for probe in probes {
            let (base, head) = (place[&probe.base], place[&probe.head]);
            match &probe.found {
                Found::Identical => evidence.empty.extend(base..head),
                Found::LogRatios(values) if base == 0 => evidence.levels[head].extend(values),
                Found::LogRatios(values) => {
                    evidence.directs.push(Direct { gaps: base..head, log_ratios: values.clone() });
                }
            }
        }
        evidence
    }

    /// Build pairs in all.
    pub(super) fn pairs(&self) -> usize {
        let direct = self.directs.iter().map(|direct| direct.log_ratios.len());
        self.levels.iter().map(Vec::len).chain(direct).sum()
    }

    /// Whether two commits are proven to be the same code, or those between.
    pub(super) fn is_empty_between(&self, base: usize, head: usize) -> bool {
        let gaps = (0..self.knots.len() - 1).filter(|&gap| self.knots[gap] >= base && self.knots[gap + 1] <= head);
        gaps.clone().next().is_some() && gaps.into_iter().all(|gap| self.empty.contains(&gap))
    }

    /// Log ratios of these two commits, measured against each other.
    pub(super) fn direct(&self, base: usize, head: usize) -> Vec<f64> {
        let at = |commit| self.knots.iter().position(|&knot| knot == commit);
        let (Some(from), Some(to)) = (at(base), at(head)) else { return Vec::new() };
        if from == 0 {
            return self.levels[to].clone();
        }
        let theirs = self.directs.iter().filter(|direct| direct.gaps == (from..to));
        theirs.flat_map(|direct| direct.log_ratios.iter().copied()).collect()
    }
}
