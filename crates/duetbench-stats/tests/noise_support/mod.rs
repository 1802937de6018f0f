//! Random numbers of known laws, and limits for shares of them, for several crates' tests.

#![allow(dead_code, unreachable_pub, reason = "several tests include it, and none uses all of it")]

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Noise from a fixed seed, or from numbers that somebody has seeded.
pub struct Noise(pub ChaCha8Rng);

impl Noise {
    pub fn new(seed: u64) -> Noise {
        Noise(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Standard normal, by the polar method of Marsaglia and Bray (SIAM Review 6, 1964).
    pub fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (self.0.random_range(-1.0..1.0f64), self.0.random_range(-1.0..1.0f64));
            let s = x * x + y * y;
            if s > 0.0 && s < 1.0 {
                return x * (-2.0 * s.ln() / s).sqrt();
            }
        }
    }

    /// Student's t with three degrees of freedom: now and then far out.
    pub fn t3(&mut self) -> f64 {
        let chi_square: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
        self.normal() / (chi_square / 3.0).sqrt()
    }
}

/// Asserts that a share is what it should be, up to four standard errors of a binomial share.
#[track_caller]
pub fn assert_share(share: f64, expected: f64, draws: u32) {
    // And one draw more or less, which is a lot where next to nothing is expected.
    let four_errors = 4.0 * (expected * (1.0 - expected) / f64::from(draws)).sqrt() + f64::from(draws).recip();
    assert!((share - expected).abs() <= four_errors, "{share}, expected {expected} +- {four_errors}");
}
