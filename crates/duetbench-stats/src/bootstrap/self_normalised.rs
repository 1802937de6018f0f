//! The distribution of the t statistic of a resample, by a saddlepoint approximation.

/// Steps after which a search for a root has failed.
const STEPS: usize = 60;

/// The saddlepoint approximation to the bootstrap distribution of a self-normalised mean.
///
/// With `y` the sample standardised, `S_1 = sum y*` and `S_2 = sum y*^2` over a resample, the t statistic is an increasing function
/// of `rho = S_1 / sqrt(n S_2)`: `t / sqrt(n) = rho / sqrt(1 - rho^2)` (Efron, JASA 64, 1969). The tail of `rho` follows from the joint
/// cumulant generating function of one draw, `K(s_1, s_2) = log mean exp(s_1 y + s_2 y^2)` (Daniels and Young, Biometrika 78, 1991;
/// Jing, Shao and Wang, Annals of Statistics 32, 2004), with the normal approximation `r* = w + log(v / w) / w` of Barndorff-Nielsen
/// (Biometrika 73, 1986): at the point where `2 s_2 K_2 + s_1 K_1 = 0`, with subscripts of `K` for its derivatives,
///
/// ```text
/// b = sqrt(K_2)        rho = K_1 / b        w = sign(s_1) sqrt(2 n (s_1 K_1 + s_2 K_2 - K))
/// Q = rho^2 K_22 - 4 b rho K_12 + 4 b^2 K_11 + 2 s_2 (K_11 K_22 - K_12^2)        v = sqrt(n) s_1 sqrt(Q) / (2 b)
/// ```
pub(super) struct Saddlepoint<'a> {
    /// Values of mean 0 and mean square 1.
    values: &'a [f64],
}

/// The cumulant generating function at a point, with its derivatives.
struct Tilted {
    k: f64,
    k1: f64,
    k2: f64,
    k11: f64,
    k12: f64,
    k22: f64,
}

/// The distribution at a point.
struct Point {
    /// Its normal quantile, `r*`.
    normal: f64,
    rho: f64,
}

impl<'a> Saddlepoint<'a> {
    pub(super) fn of(standardised: &'a [f64]) -> Saddlepoint<'a> {
        Saddlepoint { values: standardised }
    }

    /// The quantile of `t / sqrt(n)` that belongs to a normal one; absent where the search for it fails.
    pub(super) fn quantile(&self, z: f64) -> Option<f64> {
        let unit = (self.values.len() as f64).sqrt().recip();
        let mut before = (z * unit, self.point(z * unit)?.normal);
        let mut s1 = before.0 + (z - before.1) * unit;
        for _ in 0..STEPS {
            let point = self.point(s1)?;
            if (point.normal - z).abs() < 1e-9 {
                let rest = 1.0 - point.rho * point.rho;
                return (rest > 0.0).then(|| point.rho / rest.sqrt());
            }
            let slope = (point.normal - before.1) / (s1 - before.0);
            let step = ((z - point.normal) / slope).clamp(-unit, unit);
            before = (s1, point.normal);
            s1 += step;
        }
        None
    }

    fn point(&self, s1: f64) -> Option<Point> {
        let (s2, at) = self.on_the_ray(s1)?;
        let n = self.values.len() as f64;
        let b = at.k2.sqrt();
        let rho = at.k1 / b;
        let w = s1.signum() * (2.0 * n * (s1 * at.k1 + s2 * at.k2 - at.k)).sqrt();
        let determinant = at.k11 * at.k22 - at.k12 * at.k12;
        let q = rho * rho * at.k22 - 4.0 * b * rho * at.k12 + 4.0 * b * b * at.k11 + 2.0 * s2 * determinant;
        let v = n.sqrt() * s1 * q.sqrt() / (2.0 * b);
        let normal = w + (v / w).ln() / w;
        (normal.is_finite() && w.abs() > 1e-3).then_some(Point { normal, rho })
    }

    /// The `s_2` at which `2 s_2 K_2 + s_1 K_1` is 0: Newton's method, by halves where it would leave the bracket.
    fn on_the_ray(&self, s1: f64) -> Option<(f64, Tilted)> {
        let value = |s2: f64, at: &Tilted| 2.0 * s2 * at.k2 + s1 * at.k1;
        let (mut low, mut high) = (-1.0, 0.0);
        while value(low, &self.tilted(s1, low)) > 0.0 {
            (low, high) = (2.0 * low, low);
            if low < -1e6 {
                return None;
            }
        }
        let mut s2 = (-s1 * s1 / 2.0).clamp(low, high);
        for _ in 0..STEPS {
            let at = self.tilted(s1, s2);
            let g = value(s2, &at);
            let next = s2 - g / (2.0 * at.k2 + 2.0 * s2 * at.k22 + s1 * at.k12);
            if (next - s2).abs() < 1e-12 * (1.0 + s2.abs()) {
                return Some((s2, at));
            }
            if g > 0.0 {
                high = s2;
            } else {
                low = s2;
            }
            s2 = if low < next && next < high { next } else { low.midpoint(high) };
        }
        None
    }

    fn tilted(&self, s1: f64, s2: f64) -> Tilted {
        let exponent = |y: f64| y * (s1 + s2 * y);
        let greatest = self.values.iter().map(|y| exponent(*y)).fold(f64::NEG_INFINITY, f64::max);
        let mut sums = [0.0; 5];
        for y in self.values {
            let mut term = (exponent(*y) - greatest).exp();
            for sum in &mut sums {
                *sum += term;
                term *= y;
            }
        }
        let mean = |power: usize| sums[power] / sums[0];
        Tilted {
            k: greatest + (sums[0] / self.values.len() as f64).ln(),
            k1: mean(1),
            k2: mean(2),
            k11: mean(2) - mean(1) * mean(1),
            k12: mean(3) - mean(1) * mean(2),
            k22: mean(4) - mean(2) * mean(2),
        }
    }
}
