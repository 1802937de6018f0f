//! Input and output of a dispatcher.

use std::time::Duration;

use crate::fleet::{Rate, Task, Usage};
use crate::spec::{Arch, FleetSpec};

/// Limits that a sitting must not exceed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Caps {
    /// Calls at once.
    pub parallel: u32,
    /// US dollars, what earlier sittings spent included. It is never exceeded if `call_max_ns` is not.
    pub cost_usd: f64,
    /// Wall time of this sitting after which nothing is sent; what is in flight then takes `call_max_ns` more at most.
    pub time: Duration,
    /// Prices.
    pub rate: Rate,
    /// Memory of an instance.
    pub memory_mb: u32,
    /// Its processor.
    pub arch: Arch,
    /// Longest time that one call is billed for, nanoseconds, the start of its instance included; calls in flight are reckoned with it.
    pub call_max_ns: u64,
}

impl Caps {
    /// The caps of a request.
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

/// News of a call.
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

/// The fate of a call, and with it of its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Its result counts.
    Count,
    /// Another call brought this task's result before: it is kept aside.
    Duplicate,
    /// It is going to be sent again, in this sitting or a later one.
    Again,
    /// The task is given up.
    GivenUp,
}

/// A call: a task that is sent for the so-manieth time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sending {
    /// The task.
    pub task: Task,
    /// From 1, with the times that it was throttled.
    pub number: u32,
}

/// The next step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Next {
    /// Send this.
    Send(Sending),
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
    /// One more call could cost more than may be spent.
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

impl Ended {
    /// Why, for people.
    pub fn words(self) -> &'static str {
        match self {
            Ended::Done => "calls of some benchmarks keep being lost",
            Ended::Cost => "`--max-cost` is spent, or too little for one more call at its longest",
            Ended::Time => "`--max-time` is up",
            Ended::Broken => "too many calls failed for reasons of the fleet",
            Ended::Refused => "the provider refuses calls",
            Ended::Interrupted => "interrupted",
        }
    }
}

/// A task without a result, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GaveUp {
    /// The task.
    pub task: Task,
    /// In words; those of its last call.
    pub reason: String,
    /// Whether calls were lost or crashed; else its benchmark fails.
    pub by_fleet: bool,
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
    /// US dollars that this sitting spent; of calls that were lost or crashed, what they cost at most.
    pub cost_usd: f64,
}
