//! The example of tango's own description.

use std::hint::black_box;

/// Factors of the product; each percent more is a percent more work.
pub const FACTORS: usize = 500;

pub fn factorial(mut n: usize) -> usize {
    let mut result = 1usize;
    while n > 0 {
        result = result.wrapping_mul(black_box(n));
        n -= 1;
    }
    result
}
