//! The question that tells most in a second.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::evidence::Evidence;
use super::likelihood::error;
use super::{Belief, Question};

/// Numbers of build pairs that are asked for at once.
const PAIRS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Least information that a question must promise, nats.
const NATS_MIN: f64 = 1e-4;
/// The same where layouts are fixed: else every commit would be built for a little each.
const NATS_FIXED_MIN: f64 = 0.01;
/// Points at which the density of an answer is taken.
const POINTS: usize = 49;
/// The first of them, in standard deviations of the noise.
const FROM: f64 = -4.8;
/// Distance between them.
const STEP: f64 = 9.6 / (POINTS - 1) as f64;

/// Costs of measuring, seconds, as far as they are learnt.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// Building a commit for the first time.
    pub build_s: f64,
    /// Each comparison, before its first pair.
    pub visit_s: f64,
    /// Each build pair.
    pub pair_s: f64,
}

/// The best question, and how much it tells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Best {
    pub(super) question: Question,
    pub(super) nats_per_s: f64,
}

/// The question that promises most information about the steps in a second; absent where none promises any.
pub(super) fn best(belief: &Belief, evidence: &Evidence, skipped: &BTreeSet<usize>, costs: &Costs) -> Option<Best> {
    let mut best: Option<Best> = None;
    let nats_min = if evidence.fixed_layouts { NATS_FIXED_MIN } else { NATS_MIN };
    let answers = PAIRS.map(|pairs| (pairs, Answers::of(belief, error(belief.spread, pairs, belief.layout))));
    let is_open = |place: &Place| !belief.is_known(evidence.pairs_of(place.commit));
    for place in places(belief, skipped).into_iter().filter(is_open) {
        for (pairs, answers) in &answers {
            let pairs = *pairs;
            let cost = costs.visit_s + costs.pair_s * pairs as f64 + if place.built { 0.0 } else { costs.build_s };
            let nats = place.levels.information(answers);
            let nats_per_s = nats / cost.max(1e-9);
            if nats > nats_min && best.is_none_or(|best| nats_per_s > best.nats_per_s) {
                best = Some(Best { question: Question { base: 0, head: place.commit, pairs }, nats_per_s });
            }
        }
    }
    best
}

/// A commit that can be asked about.
struct Place {
    commit: usize,
    built: bool,
    levels: Levels,
}

/// Probabilities of a commit's level: like the good one, like the bad one, or between two steps.
#[derive(Clone, Copy)]
struct Levels {
    good: f64,
    bad: f64,
}

/// Commits worth a thought: those that were measured, and in every gap the middle and the place where the odds are even.
fn places(belief: &Belief, skipped: &BTreeSet<usize>) -> Vec<Place> {
    let last = belief.knots.len() - 1;
    let ends = Place { commit: belief.knots[last], built: true, levels: Levels::at(belief, last - 1, 1.0) };
    let mut places = vec![ends];
    for gap in 0..last {
        let (from, to) = (belief.knots[gap], belief.knots[gap + 1]);
        if gap > 0 && !skipped.contains(&from) {
            places.push(Place { commit: from, built: true, levels: Levels::at(belief, gap, 0.0) });
        }
        let width = (to - from) as f64;
        let (before, after) = (Levels::at(belief, gap, 0.0).bad, Levels::at(belief, gap, 1.0).bad);
        let even = (0.5 - before) / (after - before).max(1e-9);
        let wanted = [0.5, even].into_iter().filter(|share| (0.0..=1.0).contains(share));
        let free: BTreeSet<usize> = wanted.filter_map(|share| nearest(from..to, share, skipped)).collect();
        let new = |commit: usize| Place {
            commit,
            built: false,
            levels: Levels::at(belief, gap, (commit - from) as f64 / width),
        };
        places.extend(free.into_iter().map(new));
    }
    places
}

/// The commit inside a gap that is nearest to this share of it and can be built.
fn nearest(gap: std::ops::Range<usize>, share: f64, skipped: &BTreeSet<usize>) -> Option<usize> {
    let wanted = gap.start as f64 + share * (gap.end - gap.start) as f64;
    let inside = (gap.start + 1..gap.end).filter(|commit| !skipped.contains(commit));
    inside.min_by(|&a, &b| (a as f64 - wanted).abs().total_cmp(&(b as f64 - wanted).abs()))
}

impl Levels {
    /// Levels of the commit that lies behind this share of a gap.
    fn at(belief: &Belief, gap: usize, share: f64) -> Levels {
        let behind = |of: &[f64]| of[gap + 1..].iter().sum::<f64>() + (1.0 - share) * of[gap];
        let before = |of: &[f64]| of[..gap].iter().sum::<f64>() + share * of[gap];
        let good = behind(&belief.only) + behind(&belief.first) + belief.nothing;
        Levels { good, bad: before(&belief.only) + before(&belief.second) }
    }

    /// Mutual information of the level and an answer, nats: entropy of the answer less that of its noise.
    fn information(self, answers: &Answers) -> f64 {
        let between = (1.0 - self.good - self.bad).max(0.0);
        let weights = [self.good, self.bad, between];
        let mut nats = 0.0;
        for (weight, points) in weights.into_iter().zip(&answers.around).filter(|(weight, _)| *weight > 1e-9) {
            for densities in points {
                let all: f64 = weights.iter().zip(&densities.of_levels).map(|(weight, density)| weight * density).sum();
                nats += weight * STEP * densities.own * (densities.own / all.max(f64::MIN_POSITIVE)).ln();
            }
        }
        nats.max(0.0)
    }
}

/// Densities of the mean of some pairs, which are the same for all commits.
struct Answers {
    /// Points around each level, so that far apart levels need no more of them.
    around: [[Densities; POINTS]; 3],
}

/// Densities at a point.
struct Densities {
    /// Density of the noise alone.
    own: f64,
    /// Densities where the commit is like the good one, like the bad one, or between two steps.
    of_levels: [f64; 3],
}

impl Answers {
    fn of(belief: &Belief, error: f64) -> Answers {
        let scale = belief.change.abs() / error;
        let levels = [0.0, scale, belief.share * scale];
        let normal = |z: f64| (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
        let densities =
            |z: f64, mean: f64| Densities { own: normal(z), of_levels: levels.map(|other| normal(z + mean - other)) };
        let points = |mean| std::array::from_fn(|point| densities(FROM + STEP * point as f64, mean));
        Answers { around: levels.map(points) }
    }
}
