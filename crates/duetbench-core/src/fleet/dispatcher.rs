//! Which call next, and what becomes of each: retries, poison, the circuit breaker, and the caps.

use std::time::Duration;

use super::{Rate, Since, Task, Usage};
use crate::spec::{Arch, FleetSpec};

/// What must not be exceeded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Caps {
    /// Calls at once.
    pub parallel: u32,
    /// US dollars, what earlier sittings spent included.
    pub cost_usd: f64,
    /// Wall time of this sitting.
    pub time: Duration,
    /// Prices.
    pub rate: Rate,
    /// Memory of an instance.
    pub memory_mb: u32,
    /// Its processor.
    pub arch: Arch,
    /// What one call takes at most, nanoseconds: what those in flight could still cost.
    pub call_max_ns: u64,
}

impl Caps {
    /// The caps of a request.
    #[must_use]
    pub fn of(spec: &FleetSpec, parallel: u32, rate: Rate, call_max_ns: u64) -> Caps {
        Caps {
            parallel,
            cost_usd: spec.max_cost_usd,
            time: spec.max_time,
            rate,
            memory_mb: spec.memory_mb,
            arch: spec.arch,
            call_max_ns,
        }
    }
}

/// What was heard of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// The worker answered and the benchmark was measured, if only in part.
    Measured(Usage),
    /// The worker answered that the benchmark fails; that is no fault of the fleet.
    BenchmarkFailed(Usage, String),
    /// The provider would not take it now.
    Throttled,
    /// No answer: whether it ran is not known.
    Lost(String),
    /// The instance ended under it, or ran out of time or memory.
    Crashed(String),
    /// The provider will never take it: credentials, permissions, limits.
    Refused(String),
}

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Its result counts.
    Count,
    /// Another call brought this task's result before: it is kept aside.
    Duplicate,
    /// It is going to be sent again.
    Again,
    /// The task is given up.
    GivenUp,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Next {
    /// Send this task, for the so-manieth time (from 1).
    Send(Task, u32),
    /// Wait for what is in flight, at most so long.
    Wait(Duration),
    /// Nothing is left to send or to wait for.
    End(Ended),
}

/// Why there is nothing left to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Every task has its result or was given up.
    Done,
    /// What may be spent is spent.
    Cost,
    /// The time is up.
    Time,
    /// Too many calls failed for reasons of the fleet.
    Broken,
    /// The provider will not take any.
    Refused,
    /// The user wants to stop.
    Interrupted,
}

/// A task without a result, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GaveUp {
    /// Which.
    pub task: Task,
    /// In words; those of its last call.
    pub reason: String,
}

/// Numbers of a sitting.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tallied {
    /// Tasks that were asked for.
    pub tasks: u32,
    /// Tasks with a result.
    pub done: u32,
    /// Tasks that were given up.
    pub given_up: u32,
    /// Calls in flight.
    pub in_flight: u32,
    /// Calls that were sent.
    pub calls: u32,
    /// Calls that the provider throttled.
    pub throttled: u32,
    /// Calls that were lost or whose instance crashed.
    pub lost: u32,
    /// Results that came twice.
    pub duplicates: u32,
    /// Calls that started an instance.
    pub cold: u32,
    /// Time that was billed, seconds.
    pub billed_s: f64,
    /// US dollars; of calls that were lost, what they cost at most.
    pub cost_usd: f64,
}

/// Decides what is sent when. It knows no clock and sends nothing itself: whoever holds it asks for the [`Next`] and says what was
/// [`Heard`].
#[derive(Debug)]
pub struct Dispatcher {
    caps: Caps,
}

impl Dispatcher {
    /// One that has nothing to do yet. `spent` is what earlier sittings of the run used; `seed` spreads waits.
    #[must_use]
    pub fn new(caps: Caps, spent: f64, seed: u64) -> Dispatcher {
        let _ = (spent, seed);
        Dispatcher { caps }
    }

    /// Adds tasks, in the order in which they shall be sent. One that it was given before is not added again.
    pub fn add(&mut self, tasks: &[Task]) {
        let _ = (tasks, self.caps);
        unimplemented!()
    }

    /// What to do now.
    pub fn next(&mut self, now: Since) -> Next {
        let _ = now;
        unimplemented!()
    }

    /// What was heard of a call of this task.
    pub fn heard(&mut self, task: Task, heard: Heard, now: Since) -> Fate {
        let _ = (task, heard, now);
        unimplemented!()
    }

    /// Nothing more is sent; what is in flight is waited for.
    pub fn stop(&mut self) {
        unimplemented!()
    }

    /// Nothing more of this benchmark is sent: its answer is known.
    pub fn drop_benchmark(&mut self, benchmark: u32) {
        let _ = benchmark;
        unimplemented!()
    }

    /// Where it stands.
    #[must_use]
    pub fn tallied(&self) -> Tallied {
        unimplemented!()
    }

    /// Tasks that were given up so far.
    #[must_use]
    pub fn given_up(&self) -> &[GaveUp] {
        unimplemented!()
    }
}
