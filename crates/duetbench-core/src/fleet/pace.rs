//! Limits the calls at once: more while they are taken, half as many when the provider throttles (AIMD).

use std::time::Duration;

use super::Since;

/// Calls at once to begin with: so many are granted by nearly every account.
const START: u32 = 32;

/// Time for which calls must be taken before there may be more, and for which a burst of throttles counts as one.
const SECOND: Duration = Duration::from_secs(1);

/// A limit on calls in flight that adapts.
///
/// It becomes half as much again for every second in which calls were sent or have ended and none was throttled, and half as much
/// when one is throttled, at most once in a second: the calls of one burst are throttled together and tell one thing. Source of the
/// rule: Chiu and Jain, Computer Networks and ISDN Systems 17 (1989), with an increase by a factor because a run is over in minutes.
#[derive(Debug, Clone)]
pub struct Pace {
    most: u32,
    allowed: u32,
    /// When the second began in which nothing was throttled yet; absent while no call is sent and none ends.
    second: Option<Since>,
    halved: Option<Since>,
}

impl Pace {
    /// Begins low and never allows more than `most` at once.
    pub fn new(most: u32) -> Pace {
        let most = most.max(1);
        Pace { most, allowed: START.min(most), second: None, halved: None }
    }

    /// Calls that may be in flight now.
    pub fn allowed(&mut self, now: Since) -> u32 {
        if self.grows_at().is_some_and(|at| now >= at) {
            self.allowed = more(self.allowed).min(self.most);
            self.second = None;
        }
        self.allowed
    }

    /// When more will be allowed, if nothing is throttled until then; absent when no call tells so.
    pub fn grows_at(&self) -> Option<Since> {
        self.second.filter(|_| self.allowed < self.most).map(|began| began.saturating_add(SECOND))
    }

    /// A call was sent.
    pub fn sent(&mut self, now: Since) {
        self.allowed(now);
        self.second.get_or_insert(now);
    }

    /// A call was taken and has ended.
    pub fn taken(&mut self, now: Since) {
        self.sent(now);
    }

    /// A call was throttled.
    pub fn throttled(&mut self, now: Since) {
        self.second = None;
        if self.halved.is_none_or(|at| now >= at.saturating_add(SECOND)) {
            self.allowed = (self.allowed / 2).max(1);
            self.halved = Some(now);
        }
    }

    /// Time until so many are allowed, if nothing is throttled.
    pub fn ramp(calls: u32) -> Duration {
        let steps = std::iter::successors(Some(START), |allowed| Some(more(*allowed)));
        SECOND * u32::try_from(steps.take_while(|allowed| *allowed < calls).count()).unwrap_or(u32::MAX)
    }
}

/// Half as much again, rounded up, so that one becomes two.
fn more(allowed: u32) -> u32 {
    allowed.saturating_add(allowed.div_ceil(2))
}
