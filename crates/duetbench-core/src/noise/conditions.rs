//! Conditions of the machine between two readings.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::reading::{ClockReading, CpuCounters, QuotaCounters, Reading, SlowReading};

/// Sleep shorter than this is none: what clocks differ by may also come from how they are read.
const SUSPENDED_MIN_NS: u64 = 10_000_000;
/// Steps of the time of day up to this are what time servers do every day.
const CLOCK_STEP_MIN_NS: u64 = 50_000_000;
/// Processor time is counted in ticks of 10 ms. Two of them, one for each of the numbers that are subtracted, mean nothing.
const TICKS_NS: u64 = 20_000_000;
/// Share of processor time that others may use in a trial before it counts as disturbed.
const DISTURBING_OTHERS: f64 = 0.05;
/// Share of processor time that may be stolen in a trial before it counts as disturbed.
const DISTURBING_STEAL: f64 = 0.01;

/// Conditions of the machine over a span of time. Sums, so that those of several spans can be [merged](Conditions::merge);
/// the default is a span of no time at all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// The span, without sleep.
    pub wall_ns: u64,
    /// Where the time of the usable processors went.
    pub cpu: Option<CpuTime>,
    /// Most threads that were seen ready to run besides the one that looked.
    pub others_runnable: Option<u32>,
    /// Effect of the processor quota, where there is one.
    pub throttling: Option<Throttling>,
    /// Sleep of the machine that was long enough to be one.
    pub suspended_ns: u64,
    /// Number of times that it slept.
    pub suspensions: u32,
    /// Largest step of the time of day that sleep does not explain.
    pub clock_step_ns: Option<i64>,
    /// Number of times that this was found to be another machine than before.
    pub migrations: u32,
    /// Highest load average over one minute.
    pub load_1min: Option<f64>,
    /// Time that threads waited for a processor.
    pub pressure: Option<Pressure>,
    /// Range of the frequency of the fastest processor.
    pub frequency: Option<Frequency>,
    /// Number of times that processors were slowed down to cool.
    pub thermal_events: Option<u64>,
}

/// Where the time of the usable processors went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTime {
    /// All of it.
    pub capacity_ns: u64,
    /// Running processes, ours included.
    pub busy_ns: u64,
    /// Running ours: duet and the processes it measured. Unknown if it was unknown for any part of the time.
    pub own_ns: Option<u64>,
    /// Handling interrupts.
    pub irq_ns: u64,
    /// Stolen by the hypervisor.
    pub steal_ns: u64,
}

/// Effect of the processor quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Throttling {
    /// Periods in which something ran.
    pub periods: u64,
    /// Those in which the quota ran out.
    pub throttled_periods: u64,
    /// Time that processors stood still for it.
    pub throttled_ns: u64,
}

/// Time that some thread was waiting for a processor, our own included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pressure {
    /// Time with somebody waiting.
    pub waited_ns: u64,
    /// The time that was looked at. Not `wall_ns`: this counter is read more seldom.
    pub watched_ns: u64,
}

/// A range of frequencies. Of every reading the fastest processor counts, because idle ones go slow without harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frequency {
    /// The lowest of these.
    pub lowest_khz: u64,
    /// The highest of these.
    pub highest_khz: u64,
}

/// Why a trial says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spoilt {
    /// The machine slept. Caches, clocks of the processor and everything around are not what they were.
    Suspended {
        /// For how long.
        ns: u64,
    },
    /// It began on one machine and ended on another.
    Migrated,
}

impl fmt::Display for Spoilt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Spoilt::Suspended { ns } if ns < 1_000_000_000 => {
                write!(f, "the machine slept for {} ms during it", ns / 1_000_000)
            }
            Spoilt::Suspended { ns } => write!(f, "the machine slept for {} s during it", ns / 1_000_000_000),
            Spoilt::Migrated => f.write_str("it was moved to another machine"),
        }
    }
}

impl Conditions {
    /// The conditions between two readings.
    pub fn between(before: &Reading, after: &Reading) -> Conditions {
        let suspended_ns = suspended(&before.clocks, &after.clocks);
        Conditions {
            wall_ns: after.clocks.monotonic_ns.saturating_sub(before.clocks.monotonic_ns),
            cpu: CpuTime::between(before, after),
            others_runnable: after.runnable.map(|all| all.saturating_sub(1)),
            throttling: Throttling::between(&before.quotas, &after.quotas),
            suspended_ns,
            suspensions: u32::from(suspended_ns > 0),
            clock_step_ns: clock_step(&before.clocks, &after.clocks),
            ..Conditions::default()
        }
    }

    /// The same, with what two slow readings add.
    #[must_use]
    pub fn with_slow(mut self, before: &SlowReading, after: &SlowReading) -> Conditions {
        let fastest = [before, after].map(|reading| reading.frequencies_khz.iter().copied().max());
        self.frequency = fastest.into_iter().flatten().map(Frequency::of).reduce(Frequency::and);
        self.load_1min = after.load_1min;
        self.pressure = before.pressure_ns.zip(after.pressure_ns).map(|(before_ns, after_ns)| Pressure {
            waited_ns: after_ns.saturating_sub(before_ns),
            watched_ns: after.monotonic_ns.saturating_sub(before.monotonic_ns),
        });
        self.thermal_events = before.thermal_events.zip(after.thermal_events).map(|(b, a)| a.saturating_sub(b));
        let differ = |b: &Option<String>, a: &Option<String>| b.is_some() && a.is_some() && a != b;
        let moved = differ(&before.boot_id, &after.boot_id) || differ(&before.cpu_model, &after.cpu_model);
        self.migrations = u32::from(moved);
        self
    }

    /// Adds what happened in another span of time.
    pub fn merge(&mut self, other: &Conditions) {
        self.wall_ns = self.wall_ns.saturating_add(other.wall_ns);
        self.cpu = joined(self.cpu, other.cpu, CpuTime::and);
        self.others_runnable = joined(self.others_runnable, other.others_runnable, u32::max);
        self.throttling = joined(self.throttling, other.throttling, Throttling::and);
        self.suspended_ns = self.suspended_ns.saturating_add(other.suspended_ns);
        self.suspensions = self.suspensions.saturating_add(other.suspensions);
        let larger = |a: i64, b: i64| if b.unsigned_abs() > a.unsigned_abs() { b } else { a };
        self.clock_step_ns = joined(self.clock_step_ns, other.clock_step_ns, larger);
        self.migrations = self.migrations.saturating_add(other.migrations);
        self.load_1min = joined(self.load_1min, other.load_1min, f64::max);
        self.pressure = joined(self.pressure, other.pressure, Pressure::and);
        self.frequency = joined(self.frequency, other.frequency, Frequency::and);
        self.thermal_events = joined(self.thermal_events, other.thermal_events, u64::saturating_add);
    }

    /// Why a trial under these conditions must be thrown away, if it must. A step of the time of day is no reason: nothing is
    /// measured with it.
    pub fn spoils(&self) -> Option<Spoilt> {
        if self.migrations > 0 {
            return Some(Spoilt::Migrated);
        }
        (self.suspended_ns > 0).then_some(Spoilt::Suspended { ns: self.suspended_ns })
    }

    /// Whether others took so much of the machine that it may have changed what was measured.
    ///
    /// Two ticks of processor time are below what can be told, so that in a trial of 0.1 s on two processors others go
    /// unnoticed up to a tenth.
    pub fn is_disturbed(&self) -> bool {
        let over = |ns: u64, share: Option<f64>, limit: f64| ns > TICKS_NS && share.is_some_and(|share| share > limit);
        let stolen = self.cpu.is_some_and(|cpu| over(cpu.steal_ns, cpu.steal_share(), DISTURBING_STEAL));
        let shared =
            self.cpu.is_some_and(|cpu| over(cpu.others_ns().unwrap_or(0), cpu.others_share(), DISTURBING_OTHERS));
        stolen || shared || self.throttling.is_some_and(|t| t.throttled_periods > 0)
    }

    /// Processors that others kept busy, on average.
    pub fn others_cpus(&self) -> Option<f64> {
        share(self.cpu?.others_ns()?, self.wall_ns)
    }

    /// Processors that we kept busy, on average.
    pub fn own_cpus(&self) -> Option<f64> {
        share(self.cpu?.own_ns?, self.wall_ns)
    }
}

/// Two values that may be unknown: what is known of them.
fn joined<T>(a: Option<T>, b: Option<T>, both: impl FnOnce(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(both(a, b)),
        (a, b) => a.or(b),
    }
}

/// A part of something; unknown of nothing.
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Sleep: what the clock that goes on has gained on the clock that stands still.
fn suspended(before: &ClockReading, after: &ClockReading) -> u64 {
    let slept = advance(before.boottime_ns, after.boottime_ns) - advance(before.monotonic_ns, after.monotonic_ns);
    let certain = i128::from(SUSPENDED_MIN_NS.max(uncertainty(before, after)));
    if slept > certain { u64::try_from(slept).unwrap_or(u64::MAX) } else { 0 }
}

/// Step of the time of day against the clock that only goes on, nanoseconds; absent where it is too small to be certain.
fn clock_step(before: &ClockReading, after: &ClockReading) -> Option<i64> {
    let step = advance(before.realtime_ns, after.realtime_ns) - advance(before.boottime_ns, after.boottime_ns);
    let certain = u128::from(CLOCK_STEP_MIN_NS.max(uncertainty(before, after)));
    (step.unsigned_abs() > certain).then(|| i64::try_from(step).unwrap_or(if step < 0 { i64::MIN } else { i64::MAX }))
}

fn advance(before_ns: u64, after_ns: u64) -> i128 {
    i128::from(after_ns) - i128::from(before_ns)
}

fn uncertainty(before: &ClockReading, after: &ClockReading) -> u64 {
    before.uncertainty_ns.saturating_add(after.uncertainty_ns)
}

impl CpuTime {
    fn between(before: &Reading, after: &Reading) -> Option<CpuTime> {
        // By number and not by position: processors come and go.
        let pairs: Vec<(&CpuCounters, &CpuCounters)> =
            before.cpus.iter().filter_map(|b| Some((b, after.cpus.iter().find(|a| a.cpu == b.cpu)?))).collect();
        // Some counters are known to step back a little.
        let sum = |of: fn(&CpuCounters) -> u64| {
            pairs.iter().map(|(b, a)| of(a).saturating_sub(of(b))).fold(0, u64::saturating_add)
        };
        let (busy_ns, irq_ns, steal_ns) = (sum(|c| c.busy_ns), sum(|c| c.irq_ns), sum(|c| c.steal_ns));
        let capacity_ns = [busy_ns, irq_ns, steal_ns].into_iter().fold(sum(|c| c.idle_ns), u64::saturating_add);
        let own_ns = before.own_ns.zip(after.own_ns).map(|(before, after)| after.saturating_sub(before));
        (!pairs.is_empty()).then_some(CpuTime { capacity_ns, busy_ns, own_ns, irq_ns, steal_ns })
    }

    fn and(self, other: CpuTime) -> CpuTime {
        CpuTime {
            capacity_ns: self.capacity_ns.saturating_add(other.capacity_ns),
            busy_ns: self.busy_ns.saturating_add(other.busy_ns),
            own_ns: self.own_ns.zip(other.own_ns).map(|(a, b)| a.saturating_add(b)),
            irq_ns: self.irq_ns.saturating_add(other.irq_ns),
            steal_ns: self.steal_ns.saturating_add(other.steal_ns),
        }
    }

    /// Time used by processes that are not ours.
    pub fn others_ns(&self) -> Option<u64> {
        Some(self.busy_ns.saturating_sub(self.own_ns?))
    }

    /// Share of processor time used by processes that are not ours.
    pub fn others_share(&self) -> Option<f64> {
        share(self.others_ns()?, self.capacity_ns)
    }

    /// Share of processor time stolen by the hypervisor.
    pub fn steal_share(&self) -> Option<f64> {
        share(self.steal_ns, self.capacity_ns)
    }

    /// Share of processor time spent on interrupts.
    pub fn irq_share(&self) -> Option<f64> {
        share(self.irq_ns, self.capacity_ns)
    }
}

impl Throttling {
    /// The control group that was throttled most; each of those that we lie in can do it.
    fn between(before: &[QuotaCounters], after: &[QuotaCounters]) -> Option<Throttling> {
        let levels = before.iter().zip(after).map(|(b, a)| Throttling {
            periods: a.periods.saturating_sub(b.periods),
            throttled_periods: a.throttled_periods.saturating_sub(b.throttled_periods),
            throttled_ns: a.throttled_ns.saturating_sub(b.throttled_ns),
        });
        levels.reduce(|worst, level| if level.throttled_periods > worst.throttled_periods { level } else { worst })
    }

    fn and(self, other: Throttling) -> Throttling {
        Throttling {
            periods: self.periods.saturating_add(other.periods),
            throttled_periods: self.throttled_periods.saturating_add(other.throttled_periods),
            throttled_ns: self.throttled_ns.saturating_add(other.throttled_ns),
        }
    }

    /// Share of periods in which the quota ran out.
    pub fn share(&self) -> Option<f64> {
        share(self.throttled_periods, self.periods)
    }
}

impl Pressure {
    fn and(self, other: Pressure) -> Pressure {
        Pressure {
            waited_ns: self.waited_ns.saturating_add(other.waited_ns),
            watched_ns: self.watched_ns.saturating_add(other.watched_ns),
        }
    }

    /// Share of the time with somebody waiting.
    pub fn share(&self) -> Option<f64> {
        share(self.waited_ns, self.watched_ns)
    }
}

impl Frequency {
    fn of(khz: u64) -> Frequency {
        Frequency { lowest_khz: khz, highest_khz: khz }
    }

    fn and(self, other: Frequency) -> Frequency {
        Frequency {
            lowest_khz: self.lowest_khz.min(other.lowest_khz),
            highest_khz: self.highest_khz.max(other.highest_khz),
        }
    }
}
