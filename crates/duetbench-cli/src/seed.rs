//! Seeds, where none was given.

use std::hash::{BuildHasher, Hasher, RandomState};

/// A seed from the system's randomness, short enough to be typed.
pub fn draw() -> u64 {
    RandomState::new().build_hasher().finish() & 0xffff_ffff
}
