//! The posterior: where the steps are, how large the change is, how much build pairs spread.
//!
//! Change and spread are summed over a grid around their rough values. Between commits that were measured nothing tells one commit from
//! another, so the cases are gaps. The likelihood of two steps is a product of what depends on the first and what depends on the second:
//! sums over all pairs of gaps take one pass.

use super::evidence::{Evidence, Ratios};
use super::likelihood::{Density, Layout, Rough};

/// Prior probability that there are two steps.
const TWO: f64 = 0.05;
/// Prior probability that there is no change.
const NOTHING: f64 = 0.02;
/// Size of the change at the grid's points, in standard errors from the end points' own.
const CHANGES: [f64; 7] = [-2.4, -1.6, -0.8, 0.0, 0.8, 1.6, 2.4];
/// The spread at the grid's points, as a share of the rough one.
const SPREADS: [f64; 3] = [0.7, 1.0, 1.4];
/// The first of two steps as a share of the whole change.
const SHARES: [f64; 9] = [-0.5, -0.25, 0.2, 0.35, 0.5, 0.65, 0.8, 1.25, 1.5];
/// Smallest share of the whole change that is a step of two.
const SHARE_MIN: f64 = 0.1;
/// Most shares that are taken from commits that were measured.
const SHARES_SEEN_MAX: usize = 12;
/// Variance of the mean of some pairs as a share of that of layout, below which more of them tell nothing.
const TO_LAYOUT_MIN: f64 = 0.25;
/// Logarithm of the likelihood of a step between two commits with identical code: a proof may be wrong, too.
const PROVEN: f64 = -60.0;

/// The posterior over where the time changes.
#[derive(Debug, Clone)]
pub struct Belief {
    /// Commits that were measured, with both end points, ascending.
    pub(super) knots: Vec<usize>,
    /// Probability that a step lies in the gap behind each knot but the last.
    pub(super) steps: Vec<f64>,
    /// The same of a step that is the only one.
    pub(super) only: Vec<f64>,
    /// The same of the first of two steps.
    pub(super) first: Vec<f64>,
    /// The same of the second.
    pub(super) second: Vec<f64>,
    /// Probability of two steps.
    pub two: f64,
    /// Probability that there is no change.
    pub nothing: f64,
    /// The change between the end points, a log ratio.
    pub change: f64,
    /// Standard deviation of a build pair's log ratio.
    pub spread: f64,
    /// Standard deviation of what layouts make of two commits' log ratio, whatever the number of pairs.
    pub layout: f64,
    /// The first of two steps as a share of the change.
    pub(super) share: f64,
}

impl Belief {
    pub(super) fn of(evidence: &Evidence) -> Belief {
        let rough = Rough::of(evidence);
        let mut sum = Sum::new(evidence.knots.len() - 1);
        let shares = shares(evidence, &rough);
        let layouts = Layout::all(evidence);
        for (factor, &Layout { sd, good_at }) in SPREADS.iter().flat_map(|one| layouts.iter().map(move |l| (one, l))) {
            let spread = rough.spread * factor;
            let density = Density::new(spread, rough.spread, sd);
            let directs: f64 = evidence.directs.iter().map(|direct| density.log(&direct.ratios, 0.0)).sum();
            let good: Vec<f64> = cumulative(evidence, density, good_at).into_iter().map(|sum| sum + directs).collect();
            let whole = *good.last().unwrap_or(&0.0);
            let prior = (NOTHING / SPREADS.len() as f64).ln();
            sum.add(prior + whole, |sum, weight| sum.nothing += weight);
            for errors in CHANGES {
                let change = rough.change - good_at + errors * rough.change_error(sd);
                let node = Node { evidence, density, good_at, change, spread };
                let ends = Ends { good: &good, bad: &cumulative(evidence, density, good_at + change) };
                node.one_step(&ends, &mut sum);
                for &share in &shares {
                    node.two_steps(&ends, Share { share, of: shares.len() }, &mut sum);
                }
            }
        }
        sum.belief(&evidence.knots)
    }

    /// The gaps that share all but `alpha` of the probability, the likeliest first.
    pub(super) fn credible(&self, alpha: f64) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.steps.len()).collect();
        order.sort_by(|&a, &b| self.steps[b].total_cmp(&self.steps[a]));
        let total: f64 = self.steps.iter().sum();
        let mut reached = 0.0;
        let so_far = |gap: &usize| {
            let wanted = reached < (1.0 - alpha) * total;
            reached += self.steps[*gap];
            wanted
        };
        order.into_iter().take_while(so_far).collect()
    }

    /// Whether layout makes so much more of a commit with so many pairs than chance that more of them tell nothing.
    pub(super) fn is_known(&self, pairs: usize) -> bool {
        self.spread.powi(2) / (pairs as f64) < TO_LAYOUT_MIN * self.layout.powi(2)
    }

    /// Entropy of the place of the step, nats: all that is left to learn.
    pub fn entropy(&self) -> f64 {
        let total: f64 = self.steps.iter().sum();
        let widths = self.knots.windows(2).map(|ends| (ends[1] - ends[0]) as f64);
        let of_gap = |(p, width): (f64, f64)| if p > 0.0 { -p * (p / width).ln() } else { 0.0 };
        self.steps.iter().map(|p| p / total.max(f64::MIN_POSITIVE)).zip(widths).map(of_gap).sum()
    }
}

/// Shares of the whole change that a commit between two steps may have: a coarse grid, and those that were measured.
fn shares(evidence: &Evidence, rough: &Rough) -> Vec<f64> {
    let mut shares = SHARES.to_vec();
    let inner = evidence.levels.iter().take(evidence.levels.len() - 1).filter(|ratios| ratios.values.len() >= 2);
    let mut seen: Vec<&Ratios> = inner.collect();
    seen.sort_by_key(|ratios| std::cmp::Reverse(ratios.values.len()));
    for ratios in seen.into_iter().take(SHARES_SEEN_MAX) {
        let share = ratios.middle / rough.change;
        let new = shares.iter().all(|known| (known - share).abs() * rough.change.abs() > rough.spread / 4.0);
        if share.is_finite() && share.abs() > SHARE_MIN && (1.0 - share).abs() > SHARE_MIN && new {
            shares.push(share);
        }
    }
    shares
}

/// Likelihoods of all commits up to each knot if they are like the good one, and if they are like the bad one.
struct Ends<'a> {
    good: &'a [f64],
    bad: &'a [f64],
}

impl Ends<'_> {
    /// Likelihood of all commits behind a knot if they are like the bad one.
    fn behind(&self, knot: usize) -> f64 {
        self.bad.last().unwrap_or(&0.0) - self.bad[knot]
    }
}

/// Likelihoods of all commits up to each knot if they are at this level.
fn cumulative(evidence: &Evidence, density: Density, level: f64) -> Vec<f64> {
    let mut sum = 0.0;
    let up_to = |ratios: &Ratios| {
        sum += density.log(ratios, level);
        sum
    };
    evidence.levels.iter().map(up_to).collect()
}

/// The first of two steps as a share of the change, and the number of shares among which its prior is divided.
#[derive(Clone, Copy)]
struct Share {
    share: f64,
    of: usize,
}

/// A point of the grid.
struct Node<'a> {
    evidence: &'a Evidence,
    density: Density,
    good_at: f64,
    change: f64,
    spread: f64,
}

impl Node<'_> {
    /// Logarithm by which a step of this size in this gap is likelier than none, by direct comparisons and proofs.
    fn direct(&self, gap: usize, size: f64) -> f64 {
        let across = self.evidence.directs.iter().filter(|direct| direct.gaps.contains(&gap));
        let more = |ratios: &Ratios| self.density.log(ratios, size) - self.density.log(ratios, 0.0);
        let proven = if self.evidence.empty.contains(&gap) { PROVEN } else { 0.0 };
        across.map(|direct| more(&direct.ratios)).sum::<f64>() + proven
    }

    fn width(&self, gap: usize) -> f64 {
        (self.evidence.knots[gap + 1] - self.evidence.knots[gap]) as f64
    }

    fn commits(&self) -> f64 {
        *self.evidence.knots.last().unwrap_or(&1) as f64
    }

    fn prior(&self, of: f64) -> f64 {
        (of / (SPREADS.len() * CHANGES.len()) as f64).ln()
    }

    fn one_step(&self, ends: &Ends<'_>, sum: &mut Sum) {
        let prior = self.prior((1.0 - TWO - NOTHING) / self.commits());
        for gap in 0..self.evidence.knots.len() - 1 {
            let likelihood = ends.good[gap] + ends.behind(gap) + self.direct(gap, self.change);
            sum.add(prior + self.width(gap).ln() + likelihood, |sum, weight| {
                sum.only[gap] += weight;
                sum.note(weight, self);
            });
        }
    }

    fn two_steps(&self, ends: &Ends<'_>, share: Share, sum: &mut Sum) {
        let commits = self.commits();
        if commits < 2.0 {
            return;
        }
        let (first, second) = (share.share * self.change, (1.0 - share.share) * self.change);
        let between = cumulative(self.evidence, self.density, self.good_at + first);
        let gaps = self.evidence.knots.len() - 1;
        let of_first: Vec<f64> =
            (0..gaps).map(|g| ends.good[g] - between[g] + self.direct(g, first) + self.width(g).ln()).collect();
        let of_second: Vec<f64> =
            (0..gaps).map(|g| between[g] + ends.behind(g) + self.direct(g, second) + self.width(g).ln()).collect();
        let prior = self.prior(TWO / share.of as f64 / (commits * (commits - 1.0) / 2.0));
        let before = sums_before(&of_first);
        let behind = sums_before(&of_second.iter().rev().copied().collect::<Vec<f64>>());
        for g in 0..gaps {
            // Both in one gap: pairs of different commits, each counted once.
            let together = ((self.width(g) - 1.0) / (2.0 * self.width(g))).ln() + of_first[g] + of_second[g];
            sum.add(prior + together, |sum, weight| {
                sum.together[g] += weight;
                sum.share += weight * share.share;
                sum.note(weight, self);
            });
            sum.add(prior + of_first[g] + behind[gaps - 1 - g], |sum, weight| {
                sum.first[g] += weight;
                sum.share += weight * share.share;
                sum.note(weight, self);
            });
            sum.add(prior + of_second[g] + before[g], |sum, weight| sum.second[g] += weight);
        }
    }
}

/// Logarithm of the sum of what comes before each place, where logarithms are given.
fn sums_before(logs: &[f64]) -> Vec<f64> {
    let mut sum = f64::NEG_INFINITY;
    let before = |log: &f64| {
        let so_far = sum;
        let top = sum.max(*log);
        sum = if top > f64::NEG_INFINITY { top + ((sum - top).exp() + (log - top).exp()).ln() } else { top };
        so_far
    };
    logs.iter().map(before).collect()
}

/// The sum over the grid, relative to its largest term.
struct Sum {
    top: f64,
    only: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
    together: Vec<f64>,
    nothing: f64,
    share: f64,
    change: f64,
    spread: f64,
    layout: f64,
    noted: f64,
}

impl Sum {
    fn new(gaps: usize) -> Sum {
        let none = || vec![0.0; gaps];
        let (only, first, second, together) = (none(), none(), none(), none());
        let top = f64::NEG_INFINITY;
        let (nothing, share, change, spread, layout, noted) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
        Sum { top, only, first, second, together, nothing, share, change, spread, layout, noted }
    }

    /// Adds what has this logarithm at most.
    fn add(&mut self, log: f64, put: impl FnOnce(&mut Sum, f64)) {
        if log == f64::NEG_INFINITY {
            return;
        }
        if log > self.top {
            let shrink = (self.top - log).exp();
            let vectors = [&mut self.only, &mut self.first, &mut self.second, &mut self.together];
            vectors.into_iter().flatten().for_each(|value| *value *= shrink);
            let numbers = [&mut self.nothing, &mut self.share, &mut self.change, &mut self.spread];
            let numbers = numbers.into_iter().chain([&mut self.layout, &mut self.noted]);
            numbers.for_each(|value| *value *= shrink);
            self.top = log;
        }
        let weight = (log - self.top).exp();
        if weight > 1e-15 {
            put(self, weight);
        }
    }

    /// Notes the change and the spread of a case.
    fn note(&mut self, weight: f64, node: &Node<'_>) {
        self.change += weight * node.change;
        self.spread += weight * node.spread;
        self.layout += weight * node.density.layout;
        self.noted += weight;
    }

    fn belief(self, knots: &[usize]) -> Belief {
        let two = self.first.iter().sum::<f64>() + self.together.iter().sum::<f64>();
        let total = self.only.iter().sum::<f64>() + two + self.nothing;
        let over = |values: Vec<f64>| -> Vec<f64> { values.into_iter().map(|value| value / total).collect() };
        let noted = self.noted.max(f64::MIN_POSITIVE);
        let share = if two > 0.0 { self.share / two } else { 0.5 };
        let [change, spread, layout] = [self.change, self.spread, self.layout].map(|sum| sum / noted);
        let nothing = self.nothing / total;
        let plus = |of: &[f64]| of.iter().zip(&self.together).map(|(one, both)| one + both).collect();
        let all = self.only.iter().zip(&self.first).zip(&self.second).zip(&self.together);
        let steps = over(all.map(|(((only, first), second), both)| only + first + second + both).collect());
        let (first, second) = (over(plus(&self.first)), over(plus(&self.second)));
        let only = over(self.only);
        let (knots, two) = (knots.to_vec(), two / total);
        Belief { knots, steps, only, first, second, two, nothing, change, spread, layout, share }
    }
}
