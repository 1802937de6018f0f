//! From conditions to findings.

use serde::{Deserialize, Serialize};

use super::conditions::Conditions;
use super::finding::{Finding, Kind, Severity};
use super::gaps::Gaps;

/// Limits of a share, or of another number, from which on a finding has a severity. What has no limit never has it.
#[derive(Debug, Clone, Copy)]
struct Limits {
    note: f64,
    disturbing: f64,
    severe: f64,
}

const NEVER: f64 = f64::INFINITY;
const STEAL: Limits = Limits { note: 0.005, disturbing: 0.02, severe: 0.1 };
const THROTTLED: Limits = Limits { note: 0.001, disturbing: 0.01, severe: 0.1 };
const NEIGHBOURS: Limits = Limits { note: 0.02, disturbing: 0.1, severe: 0.3 };
const WAITING: Limits = Limits { note: 0.1, disturbing: NEVER, severe: NEVER };
const INTERRUPTS: Limits = Limits { note: 0.02, disturbing: 0.1, severe: NEVER };
const GAPS: Limits = Limits { note: 0.002, disturbing: 0.02, severe: 0.1 };
/// The part of the highest frequency that the lowest one is short of it.
const FREQUENCY: Limits = Limits { note: 0.1, disturbing: 0.4, severe: NEVER };
const COLLECTOR: Limits = Limits { note: 0.25, disturbing: NEVER, severe: NEVER };
const PREEMPTED_PER_S: Limits = Limits { note: 100.0, disturbing: 1000.0, severe: NEVER };
/// Part of the machine's processors that its load may take.
const LOAD: f64 = 0.5;
/// Less processor time than this may be rounding, of one tick in each counter.
const NEIGHBOURS_MIN_NS: u64 = 50_000_000;

impl Limits {
    fn severity(self, value: Option<f64>) -> Option<Severity> {
        match value? {
            v if v >= self.severe => Some(Severity::Severe),
            v if v >= self.disturbing => Some(Severity::Disturbing),
            v if v >= self.note => Some(Severity::Note),
            _ => None,
        }
    }
}

/// Facts about a machine that do not change while it is measured on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// As the system names it.
    pub cpu_model: Option<String>,
    /// Processors that this process may use.
    pub cpus_usable: u32,
    /// Processors of the machine.
    pub cpus_online: u32,
    /// Distinct physical cores among the usable ones.
    pub cores_physical: u32,
    /// Frequency governor of the first usable processor.
    pub governor: Option<String>,
    /// Highest frequency of the first usable processor.
    pub frequency_max_khz: Option<u64>,
    /// The smallest quota among the control groups that we lie in, in processors; absent where nothing limits us.
    pub quota_cpus: Option<f64>,
    /// Whether it is a virtual machine, where that can be told.
    pub virtualised: Option<bool>,
}

/// Measurements besides the machine's own counters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// Share of the measured time that the garbage collector took.
    pub collector_share: Option<f64>,
    /// Involuntary switches of measured processes per second.
    pub involuntary_switches_per_s: Option<f64>,
    /// Gaps, one entry for each processor that was watched.
    pub gaps: Vec<Gaps>,
}

/// Everything that explains spread, the gravest first.
pub fn diagnose(total: &Conditions, facts: &Facts, beside: &Beside) -> Vec<Finding> {
    let all = [
        breaks(total),
        taken_from_outside(total, facts),
        taken_by_others(total, facts),
        gaps(&beside.gaps).into_iter().collect(),
        speed(total, facts),
        inside(beside),
    ];
    let mut findings = all.concat();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

fn finding(severity: Option<Severity>, kind: Kind) -> Option<Finding> {
    severity.map(|severity| Finding { kind, severity })
}

/// Findings that interrupt measuring altogether.
fn breaks(total: &Conditions) -> Vec<Finding> {
    let mut found = Vec::new();
    if total.migrations > 0 {
        found.push(Finding { kind: Kind::Migrated { times: total.migrations }, severity: Severity::Severe });
    }
    if total.suspensions > 0 {
        let kind = Kind::Suspended { times: total.suspensions, total_ns: total.suspended_ns };
        found.push(Finding { kind, severity: Severity::Disturbing });
    }
    if let Some(step_ns) = total.clock_step_ns {
        found.push(Finding { kind: Kind::ClockStepped { step_ns }, severity: Severity::Note });
    }
    found
}

/// Processor time that we cannot have whatever runs in here.
fn taken_from_outside(total: &Conditions, facts: &Facts) -> Vec<Finding> {
    let stolen = total.cpu.and_then(|cpu| cpu.steal_share());
    let steal = stolen.and_then(|share| finding(STEAL.severity(stolen), Kind::Steal { share }));
    let throttled = total.throttling.and_then(|throttling| throttling.share());
    let quota_cpus = facts.quota_cpus;
    let quota = match throttled.filter(|share| THROTTLED.severity(Some(*share)).is_some()) {
        Some(share) => finding(THROTTLED.severity(throttled), Kind::Throttled { share, quota_cpus }),
        None => quota_cpus.filter(|quota| *quota < f64::from(facts.cpus_usable)).map(|quota_cpus| Finding {
            kind: Kind::Quota { quota_cpus, cpus: facts.cpus_usable },
            // With less than one processor every benchmark runs into it sooner or later.
            severity: if quota_cpus < 1.0 { Severity::Disturbing } else { Severity::Note },
        }),
    };
    [steal, quota].into_iter().flatten().collect()
}

/// Processor time that goes to others in here.
fn taken_by_others(total: &Conditions, facts: &Facts) -> Vec<Finding> {
    let measurable = total.cpu.filter(|cpu| cpu.others_ns().is_some_and(|ns| ns >= NEIGHBOURS_MIN_NS));
    let severity = NEIGHBOURS.severity(measurable.and_then(|cpu| cpu.others_share()));
    let neighbours =
        total.others_cpus().and_then(|cpus| finding(severity, Kind::Neighbours { cpus, of: facts.cpus_usable }));
    // The load average is about the last minute: it adds something only if nobody is seen now.
    let load = total.load_1min.filter(|load| {
        let others = load - total.own_cpus().unwrap_or(0.0);
        neighbours.is_none() && others > LOAD * f64::from(facts.cpus_online.max(1))
    });
    let load = load
        .map(|load_1min| Finding { kind: Kind::Load { load_1min, cpus: facts.cpus_online }, severity: Severity::Note });
    // With more than one processor in use the threads that wait may be our own.
    let waiting = total
        .pressure
        .and_then(|pressure| pressure.share())
        .filter(|_| neighbours.is_none() && total.own_cpus().is_some_and(|cpus| cpus <= 1.05));
    let waiting = waiting.and_then(|share| finding(WAITING.severity(Some(share)), Kind::Waiting { share }));
    let interrupted = total.cpu.and_then(|cpu| cpu.irq_share());
    let interrupts =
        interrupted.and_then(|share| finding(INTERRUPTS.severity(interrupted), Kind::Interrupts { share }));
    [neighbours, load, waiting, interrupts].into_iter().flatten().collect()
}

fn gaps(gaps: &[Gaps]) -> Option<Finding> {
    let worst = gaps.iter().max_by_key(|g| g.longest_ns)?;
    let sum = |of: fn(&Gaps) -> u64| gaps.iter().map(of).fold(0, u64::saturating_add) as f64;
    let watched = sum(|g| g.watched_ns);
    let share = (watched > 0.0).then(|| sum(|g| g.taken_ns) / watched)?;
    finding(GAPS.severity(Some(share)), Kind::Gaps { share, longest_ns: worst.longest_ns, cpu: worst.cpu })
}

/// Findings that make processors faster or slower.
fn speed(total: &Conditions, facts: &Facts) -> Vec<Finding> {
    let moved = total.frequency.and_then(|range| {
        let short = 1.0 - range.lowest_khz as f64 / range.highest_khz.max(1) as f64;
        let kind = Kind::FrequencyMoved { lowest_khz: range.lowest_khz, highest_khz: range.highest_khz };
        finding(FREQUENCY.severity(Some(short)), kind)
    });
    let governor = facts
        .governor
        .as_ref()
        .filter(|governor| *governor != "performance")
        .map(|governor| Finding { kind: Kind::Governor { governor: governor.clone() }, severity: Severity::Note });
    let thermal = total.thermal_events.filter(|events| *events > 0);
    let thermal = thermal.map(|events| Finding { kind: Kind::Thermal { events }, severity: Severity::Disturbing });
    let shared = (facts.cores_physical < facts.cpus_usable).then_some(Finding {
        kind: Kind::SharedCores { cpus: facts.cpus_usable, cores: facts.cores_physical },
        severity: Severity::Note,
    });
    [moved, thermal, governor, shared].into_iter().flatten().collect()
}

/// Findings about measured processes: their collector, and processors lost to others.
fn inside(beside: &Beside) -> Vec<Finding> {
    let collector =
        beside.collector_share.and_then(|share| finding(COLLECTOR.severity(Some(share)), Kind::Collector { share }));
    let preempted = beside
        .involuntary_switches_per_s
        .and_then(|per_s| finding(PREEMPTED_PER_S.severity(Some(per_s)), Kind::Preempted { per_s }));
    [collector, preempted].into_iter().flatten().collect()
}
