//! The likelihood of ratios: heavier tails than the normal distribution, and no pair that decides alone.

use super::evidence::Evidence;

/// Degrees of freedom of Student's t, of which the spread of build pairs is one (K. L. Lange, R. J. A. Little, J. M. G. Taylor, Robust
/// statistical modeling using the t distribution, JASA 1989, use few).
const FREEDOM: f64 = 7.0;
/// Density of a pair that went wrong, as a share of the most that another can have: so no pair makes anything more than a hundred times
/// as likely.
const WRONG: f64 = 0.01;
/// Smallest spread, a log ratio: commits differ by so much for reasons of their own.
const SPREAD_MIN: f64 = 0.001;
/// The same as a share of the change that is searched.
const SPREAD_TO_CHANGE_MIN: f64 = 0.05;
/// Spread of a build pair where none is known yet, a log ratio.
const SPREAD_GUESS: f64 = crate::spec::defaults::LAYOUT_SD;
/// Median absolute deviation of the normal distribution to its standard deviation.
const MAD: f64 = 1.4826;

/// Change between the end points and spread of a build pair, roughly, with the error of the change.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rough {
    pub(super) change: f64,
    pub(super) change_error: f64,
    pub(super) spread: f64,
}

impl Rough {
    pub(super) fn of(evidence: &Evidence) -> Rough {
        let ends = evidence.levels.last().map_or(&[][..], Vec::as_slice);
        let change = middle(ends).unwrap_or(0.0);
        let least = SPREAD_MIN.max(SPREAD_TO_CHANGE_MIN * change.abs());
        let spread = spread(evidence).unwrap_or(SPREAD_GUESS).max(least);
        Rough { change, change_error: spread / (ends.len().max(1) as f64).sqrt(), spread }
    }
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
    let directs = evidence.directs.iter().map(|direct| &direct.log_ratios);
    let mut deviations: Vec<f64> = Vec::new();
    for values in evidence.levels.iter().chain(directs).filter(|values| values.len() >= 3) {
        let at = middle(values)?;
        // One degree of freedom goes into the middle.
        let lost = (values.len() as f64 / (values.len() as f64 - 1.0)).sqrt();
        deviations.extend(values.iter().map(|value| (value - at).abs() * lost));
    }
    crate::stats::median(&deviations).ok().map(|deviation| MAD * deviation)
}

/// The density of ratios at one spread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Density {
    spread: f64,
    wrong: f64,
}

impl Density {
    /// The density at this spread, where `usual` is the one that is most likely.
    pub(super) fn new(spread: f64, usual: f64) -> Density {
        Density { spread, wrong: WRONG / usual }
    }

    /// Logarithm of the likelihood of ratios around a mean, up to a constant of their number.
    pub(super) fn log(&self, values: &[f64], mean: f64) -> f64 {
        let density = |value: &f64| {
            let z = (value - mean) / self.spread;
            // (1 + z²/7)^-4, the kernel of Student's t.
            let inner = 1.0 + z * z / FREEDOM;
            1.0 / (inner * inner * inner * inner * self.spread) + self.wrong
        };
        // One logarithm for several values: the product of sixteen is within range, as each is at least `wrong`.
        values.chunks(16).map(|some| some.iter().map(density).product::<f64>().ln()).sum()
    }
}
