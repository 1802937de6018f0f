//! The likelihood of ratios: heavier tails than the normal distribution, and no pair that decides alone.

use super::evidence::{Evidence, Ratios};

/// Degrees of freedom of Student's t, of which the spread of build pairs is one (K. L. Lange, R. J. A. Little, J. M. G. Taylor, Robust
/// statistical modeling using the t distribution, JASA 1989, use few).
const FREEDOM: f64 = 7.0;
/// Density of a pair that went wrong, as a share of the most that another can have: so no pair makes anything more than a hundred times
/// as likely.
const WRONG: f64 = 0.01;
/// The same of all pairs of two commits together, where layouts are fixed.
const WRONG_TOGETHER: f64 = 0.0001;
/// Smallest spread, a log ratio: commits differ by so much for reasons of their own.
const SPREAD_MIN: f64 = 0.001;
/// The same as a share of the change that is searched.
const SPREAD_TO_CHANGE_MIN: f64 = 0.05;
/// Spread of a build pair where none is known yet, a log ratio.
const SPREAD_GUESS: f64 = crate::spec::defaults::LAYOUT_SD;
/// Median absolute deviation of the normal distribution to its standard deviation.
const MAD: f64 = 1.4826;

/// Standard deviation of what the layouts of two commits' programs make of their log ratio, whatever the number of pairs: one value is as
/// likely as another. As they are linked half of 49 benchmarks in 27 releases of Go modules differ by at most 0.55 %, and a fifth by more
/// than 3 % (docs/studies/as-linked.md).
const LAYOUTS: [f64; 4] = [0.002, 0.005, 0.012, 0.03];
/// The part of the good commit's layout in all ratios to it, in standard deviations of one of them: half of the variance is its own, as
/// three points have it.
const GOOD_AT: [f64; 3] = [-0.866, 0.0, 0.866];

/// Change between the end points and spread of a build pair, roughly.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rough {
    pub(super) change: f64,
    pub(super) spread: f64,
    /// Pairs of the end points.
    pairs: usize,
}

impl Rough {
    pub(super) fn of(evidence: &Evidence) -> Rough {
        let (change, pairs) = evidence.levels.last().map_or((0.0, 0), |ends| (ends.middle, ends.values.len()));
        let least = SPREAD_MIN.max(SPREAD_TO_CHANGE_MIN * change.abs());
        let spread = spread(evidence).unwrap_or(SPREAD_GUESS).max(least);
        Rough { change, spread, pairs }
    }

    /// Standard error of the change, where layouts make so much of it.
    pub(super) fn change_error(&self, layout: f64) -> f64 {
        error(self.spread, self.pairs, layout)
    }
}

/// The spread that layouts give ratios.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// Standard deviation between commits.
    pub(super) sd: f64,
    /// Log ratio of commits like the good one to it: what its own layout makes of all of them alike.
    pub(super) good_at: f64,
}

impl Layout {
    /// All that is thought of, one as likely as another.
    pub(super) fn all(evidence: &Evidence) -> Vec<Layout> {
        let of = |sd: f64| GOOD_AT.map(|sds| Layout { sd, good_at: sds * sd });
        if evidence.fixed_layouts {
            LAYOUTS.into_iter().flat_map(of).collect()
        } else {
            vec![Layout { sd: 0.0, good_at: 0.0 }]
        }
    }
}

/// Standard deviation of the mean of so many pairs of two commits.
pub(super) fn error(spread: f64, pairs: usize, layout: f64) -> f64 {
    (spread.powi(2) / pairs.max(1) as f64 + layout.powi(2)).sqrt()
}

/// The mean of the middle half: what a wild pair does not move.
pub(super) fn middle(values: &[f64]) -> Option<f64> {
    if values.len() < 3 {
        return super::mean(values);
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let cut = if values.len() < 5 { 1 } else { values.len() / 4 };
    super::mean(&sorted[cut.min((values.len() - 1) / 2)..values.len() - cut.min((values.len() - 1) / 2)])
}

/// Spread of pairs around the middle of their own commit, by the median absolute deviation.
fn spread(evidence: &Evidence) -> Option<f64> {
    let directs = evidence.directs.iter().map(|direct| &direct.ratios);
    let mut deviations: Vec<f64> = Vec::new();
    for Ratios { values, middle } in evidence.levels.iter().chain(directs).filter(|ratios| ratios.values.len() >= 3) {
        // One degree of freedom goes into the middle.
        let lost = (values.len() as f64 / (values.len() as f64 - 1.0)).sqrt();
        deviations.extend(values.iter().map(|value| (value - middle).abs() * lost));
    }
    crate::stats::median(&deviations).ok().map(|deviation| MAD * deviation)
}

/// The density of ratios at one spread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Density {
    spread: f64,
    usual: f64,
    pub(super) layout: f64,
}

impl Density {
    /// The density at this spread, where `usual` is the one that is most likely.
    pub(super) fn new(spread: f64, usual: f64, layout: f64) -> Density {
        Density { spread, usual, layout }
    }

    /// Logarithm of the likelihood of all ratios of two commits around a mean, up to a constant of their number. Where layout makes the same
    /// of all of them, they are one value: no number of pairs is surer of it than layout is.
    pub(super) fn log(&self, Ratios { values, middle }: &Ratios, mean: f64) -> f64 {
        if self.layout > 0.0 && !values.is_empty() {
            let of = |spread| error(spread, values.len(), self.layout);
            let (error, usual) = (of(self.spread), of(self.usual));
            let z = (middle - mean) / error;
            // Normal: the tails come of not knowing what layouts make.
            return ((-0.5 * z * z).exp() / error + WRONG_TOGETHER / usual).ln();
        }
        let density = |value: &f64| {
            let z = (value - mean) / self.spread;
            // (1 + z²/7)^-4, the kernel of Student's t.
            let inner = 1.0 + z * z / FREEDOM;
            1.0 / (inner * inner * inner * inner * self.spread) + WRONG / self.usual
        };
        // One logarithm for several values: the product of sixteen is within range, as each is at least that of a wrong one.
        values.chunks(16).map(|some| some.iter().map(density).product::<f64>().ln()).sum()
    }
}
