//! The work of `benches/small`, for criterion; what duet's hook costs is measured with it.

/// Takes some tens of nanoseconds and allocates nothing.
#[inline(never)]
pub fn work(x: u64) -> u64 {
    (0..32).fold(x, |x, _| x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407))
}
