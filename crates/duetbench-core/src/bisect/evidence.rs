//! All that was told, sorted by the commits that it is about.

use std::collections::{BTreeMap, BTreeSet};

use super::likelihood::middle;
use super::{Found, Probe};

/// Ratios and proofs by commit.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    /// Commits in between of which nothing is known, the ends included, ascending: all that were measured, and both end points.
    pub(super) knots: Vec<usize>,
    /// Log ratios of each knot against the good commit.
    pub(super) levels: Vec<Ratios>,
    /// Ratios of two commits neither of which is the good one.
    pub(super) directs: Vec<Direct>,
    /// Gaps (numbers of the knots before them) in which nothing happens.
    pub(super) empty: BTreeSet<usize>,
    /// [`super::Rules::fixed_layouts`].
    pub(super) fixed_layouts: bool,
}

/// Ratios of two commits, by the gaps between them.
#[derive(Debug, Clone)]
pub(super) struct Direct {
    pub(super) gaps: std::ops::Range<usize>,
    pub(super) ratios: Ratios,
}

/// All log ratios of two commits.
#[derive(Debug, Clone, Default)]
pub(super) struct Ratios {
    pub(super) values: Vec<f64>,
    /// Their [`middle`]; 0 where there are none.
    pub(super) middle: f64,
}

impl Ratios {
    fn extend(&mut self, values: &[f64]) {
        self.values.extend(values);
        self.middle = middle(&self.values).unwrap_or(0.0);
    }
}

impl Evidence {
    pub(super) fn of(commits: usize, probes: &[Probe], fixed_layouts: bool) -> Evidence {
        let ends = probes.iter().flat_map(|probe| [probe.base, probe.head]);
        let knots: Vec<usize> = ends.chain([0, commits]).collect::<BTreeSet<_>>().into_iter().collect();
        let place: BTreeMap<usize, usize> = knots.iter().enumerate().map(|(at, &commit)| (commit, at)).collect();
        let levels = vec![Ratios::default(); knots.len()];
        let mut evidence = Evidence { levels, directs: Vec::new(), empty: BTreeSet::new(), knots, fixed_layouts };
        for probe in probes {
            let (base, head) = (place[&probe.base], place[&probe.head]);
            match &probe.found {
                Found::Identical => evidence.empty.extend(base..head),
                Found::LogRatios(values) if base == 0 => evidence.levels[head].extend(values),
                Found::LogRatios(values) => evidence.between(base..head).extend(values),
            }
        }
        evidence
    }

    /// The ratios of the two commits around these gaps.
    fn between(&mut self, gaps: std::ops::Range<usize>) -> &mut Ratios {
        let known = self.directs.iter().position(|direct| direct.gaps == gaps).unwrap_or_else(|| {
            self.directs.push(Direct { gaps, ratios: Ratios::default() });
            self.directs.len() - 1
        });
        &mut self.directs[known].ratios
    }

    /// Build pairs in all.
    pub(super) fn pairs(&self) -> usize {
        let directs = self.directs.iter().map(|direct| &direct.ratios);
        self.levels.iter().chain(directs).map(|ratios| ratios.values.len()).sum()
    }

    /// Build pairs of a commit and the good one.
    pub(super) fn pairs_of(&self, commit: usize) -> usize {
        self.knots.iter().position(|&knot| knot == commit).map_or(0, |knot| self.levels[knot].values.len())
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
            return self.levels[to].values.clone();
        }
        let theirs = self.directs.iter().find(|direct| direct.gaps == (from..to));
        theirs.map_or_else(Vec::new, |direct| direct.ratios.values.clone())
    }
}
