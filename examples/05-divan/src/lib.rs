//! Folds numbers, as a small project whose benchmarks duet measures.

use std::hint::black_box;

/// A number that takes so many rounds to make.
pub fn fold(rounds: u64) -> u64 {
    (0..rounds).fold(black_box(1), |sum: u64, n| black_box(sum.rotate_left(7) ^ n))
}
