//! The recursion over looks: how far the sum of standard normal values has come in the experiments that go on.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::erf::erfc;

/// Width of a panel of the quadrature, in standard deviations of a step between looks. Halving it changes no nominal p by more
/// than 4e-7 of itself.
const PANEL: f64 = 1.0;

/// Step between planned looks as a share of the number of values; none but the last is much shorter.
const STEP: f64 = 0.2;

/// Exponent beyond which `exp(-x)` is lost against 1 in a sum.
const NEGLIGIBLE: f64 = 40.0;

/// Distribution of `|S|`, the sum of `values` standard normal values, over the experiments that no look has stopped.
#[derive(Debug, Clone)]
pub(super) struct GoingOn {
    values: f64,
    /// Where the last look would have stopped; `|S|` is below.
    edge: f64,
    /// Points of a quadrature with the probability that each stands for.
    points: Vec<(f64, f64)>,
}

impl GoingOn {
    /// Before the first value.
    pub(super) fn start() -> GoingOn {
        GoingOn { values: 0.0, edge: 0.0, points: vec![(0.0, 1.0)] }
    }

    /// Those that a look after `values` values lets go on, which stops from `edge` on.
    pub(super) fn after(&self, values: f64, edge: f64) -> GoingOn {
        let points = quadrature(values, edge).into_iter().map(|(x, weight)| (x, weight * self.density(values, x)));
        GoingOn { values, edge, points: points.collect() }
    }

    /// The `|S|` from which on a look after `values` values stops the experiment with probability `exit`.
    pub(super) fn boundary(&self, values: f64, exit: f64) -> f64 {
        // Two bounds that are too far out: for experiments that never looked before, and for those that all stand at the edge.
        // From there Newton's method on the logarithm of the probability, which falls and is concave, comes in without crossing
        // the root.
        let (z, step) = (z_of(exit), (values - self.values).sqrt());
        let mut edge = (z * values.sqrt()).min(self.edge + z * step);
        for _ in 0..50 {
            let at_edge = self.exit(values, edge);
            let change = (at_edge / exit).ln() * at_edge / self.density(values, edge);
            if !change.is_finite() {
                break;
            }
            edge = (edge + change).max(0.0);
            if change.abs() <= 1e-12 * edge {
                break;
            }
        }
        edge
    }

    /// Probability of `|S|` being at least `edge` after `values` values.
    fn exit(&self, values: f64, edge: f64) -> f64 {
        let scale = FRAC_1_SQRT_2 / (values - self.values).sqrt();
        let tail = |distance: f64| erfc(distance * scale) / 2.0;
        self.fold(values, edge, tail)
    }

    /// Density of `|S|` at `x` after `values` values.
    fn density(&self, values: f64, x: f64) -> f64 {
        let variance = values - self.values;
        let height = (2.0 * PI * variance).sqrt().recip();
        height * self.fold(values, x, |distance| (-distance * distance / (2.0 * variance)).exp())
    }

    /// Sum of a function of the way from `S` to `x`, over `S` of both signs.
    fn fold(&self, values: f64, x: f64, of_distance: impl Fn(f64) -> f64) -> f64 {
        let limit = NEGLIGIBLE * (values - self.values) / 2.0;
        let both = |y: f64| of_distance(x - y) + if x * y > limit { 0.0 } else { of_distance(x + y) };
        self.points.iter().map(|&(y, mass)| mass * both(y)).sum()
    }
}

/// Points and weights of a quadrature from 0 to `edge`: five-point Gauss-Legendre in panels as wide as a step between
/// planned looks allows, and narrow at the edge, because the next look may come after a single value.
fn quadrature(values: f64, edge: f64) -> Vec<(f64, f64)> {
    let inner = (5.0 - 2.0 * (10.0f64 / 7.0).sqrt()).sqrt() / 3.0;
    let outer = (5.0 + 2.0 * (10.0f64 / 7.0).sqrt()).sqrt() / 3.0;
    let (heavy, light) = ((322.0 + 13.0 * 70.0f64.sqrt()) / 900.0, (322.0 - 13.0 * 70.0f64.sqrt()) / 900.0);
    let rule = [(-outer, light), (-inner, heavy), (0.0, 128.0 / 225.0), (inner, heavy), (outer, light)];
    let widest = PANEL * (STEP * values).sqrt();
    let (mut high, mut width) = (edge, widest.min(PANEL));
    let mut points = Vec::new();
    while high > 0.0 {
        let low = (high - width).max(0.0);
        let (middle, half) = (low.midpoint(high), (high - low) / 2.0);
        points.extend(rule.map(|(x, weight)| (middle + half * x, half * weight)));
        (high, width) = (low, (2.0 * width).min(widest));
    }
    points
}

/// The `z` that a standard normal variable exceeds in absolute value with probability `p`.
pub(super) fn z_of(p: f64) -> f64 {
    -Normal::standard().inverse_cdf(p / 2.0)
}

/// Probability that a standard normal variable lies farther from 0 than `z`.
pub(super) fn p_of(z: f64) -> f64 {
    erfc(z * FRAC_1_SQRT_2)
}
