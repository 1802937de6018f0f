//! The text of `/proc` as counters.

use duetbench_core::noise::{CpuCounters, QuotaCounters};

/// Nanoseconds of a tick of `/proc/stat`: `USER_HZ`, which is 100 wherever Linux runs.
const TICK_NS: u64 = 10_000_000;

/// Contents of `/proc/stat`.
#[derive(Debug, Default)]
pub(super) struct Stat {
    /// The processors that were asked for.
    pub(super) cpus: Vec<CpuCounters>,
    /// Threads that run or could.
    pub(super) runnable: Option<u32>,
}

/// Reads `/proc/stat`, for these processors in ascending order.
pub(super) fn stat(text: &str, wanted: &[u32]) -> Stat {
    let mut cpus = Vec::with_capacity(wanted.len());
    for line in text.lines().skip_while(|line| line.starts_with("cpu ")) {
        let Some(rest) = line.strip_prefix("cpu") else { break };
        cpus.extend(cpu_line(rest).filter(|counters| wanted.binary_search(&counters.cpu).is_ok()));
    }
    // Searched for from the end: the line of interrupts before it is very long.
    let runnable = text.rfind("\nprocs_running ").and_then(|at| number_after(&text[at + 1..]));
    Stat { cpus, runnable: runnable.and_then(|n| u32::try_from(n).ok()) }
}

/// Number of processors that `/proc/stat` lists.
pub(super) fn cpus_listed(text: &str) -> usize {
    text.lines().take_while(|line| line.starts_with("cpu")).filter(|line| !line.starts_with("cpu ")).count()
}

/// `0 user nice system idle iowait irq softirq steal guest guest_nice`; guest time is contained in user time.
fn cpu_line(rest: &str) -> Option<CpuCounters> {
    let mut words = rest.split_ascii_whitespace();
    let cpu = words.next()?.parse().ok()?;
    let mut ticks = [0u64; 8];
    let mut given = 0;
    for (slot, word) in ticks.iter_mut().zip(words) {
        *slot = word.parse().ok()?;
        given += 1;
    }
    let [user, nice, system, idle, iowait, irq, softirq, steal] = ticks;
    let sum = |parts: &[u64]| parts.iter().fold(0u64, |sum, n| sum.saturating_add(*n)).saturating_mul(TICK_NS);
    (given >= 4).then(|| CpuCounters {
        cpu,
        busy_ns: sum(&[user, nice, system]),
        idle_ns: sum(&[idle, iowait]),
        irq_ns: sum(&[irq, softirq]),
        steal_ns: sum(&[steal]),
    })
}

/// Processor time of the children that have ended, from `/proc/PID/stat`.
pub(super) fn children_ns(text: &str) -> Option<u64> {
    times_ns(text, 13, 2)
}

/// Processor time of a process and of its children that have ended, from `/proc/PID/stat`.
pub(super) fn process_ns(text: &str) -> Option<u64> {
    times_ns(text, 11, 4)
}

/// The sum of so many fields after the first ones behind the name.
fn times_ns(text: &str, first: usize, number: usize) -> Option<u64> {
    // The name may hold anything, closing brackets included.
    let (_, fields) = text.rsplit_once(')')?;
    let fields = fields.split_ascii_whitespace().skip(first).take(number);
    let ticks: Vec<u64> = fields.map(|field| field.parse().ok()).collect::<Option<_>>()?;
    (ticks.len() == number).then(|| ticks.iter().fold(0, |sum: u64, n| sum.saturating_add(*n)).saturating_mul(TICK_NS))
}

/// `cpu.stat` of a control group of either version.
pub(super) fn quota(text: &str) -> Option<QuotaCounters> {
    let value = |key: &str| {
        let line = text.lines().find(|line| line.split_ascii_whitespace().next() == Some(key))?;
        number_after(line)
    };
    let throttled_ns = value("throttled_usec").map(|us| us.saturating_mul(1000)).or_else(|| value("throttled_time"));
    Some(QuotaCounters {
        periods: value("nr_periods")?,
        throttled_periods: value("nr_throttled")?,
        throttled_ns: throttled_ns.unwrap_or(0),
    })
}

/// The line `some` of `/proc/pressure/cpu`.
pub(super) fn pressure_ns(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    let total = line.split_ascii_whitespace().find_map(|word| word.strip_prefix("total="))?;
    total.parse::<u64>().ok().map(|us| us.saturating_mul(1000))
}

/// The first number after a word.
fn number_after(line: &str) -> Option<u64> {
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// The value of the first line of `/proc/cpuinfo` with one of these keys.
pub(super) fn cpuinfo<'a>(text: &'a str, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| {
        let values = text.lines().filter_map(|line| line.split_once(':'));
        values.into_iter().find(|(name, _)| name.trim() == *key).map(|(_, value)| value.trim())
    })
}

/// The processor's model in `/proc/cpuinfo`. Virtual machines call many processors by one name without a number, as `AMD EPYC` or
/// `Intel(R) Xeon(R) CPU @ 2.20GHz`: then family and model, which x86 tells by number, stand behind it.
pub(super) fn cpu_model(text: &str) -> Option<String> {
    let name = cpuinfo(text, &["model name", "CPU part", "cpu", "uarch"])?;
    let before_frequency = name.split('@').next().unwrap_or(name);
    match (cpuinfo(text, &["cpu family"]), cpuinfo(text, &["model"])) {
        (Some(family), Some(model)) if !before_frequency.contains(|c: char| c.is_ascii_digit()) => {
            Some(format!("{name}, family {family}, model {model}"))
        }
        _ => Some(name.to_owned()),
    }
}

/// Frequencies in `/proc/cpuinfo`, for these processors in ascending order.
pub(super) fn cpuinfo_khz(text: &str, wanted: &[u32]) -> Vec<u64> {
    let mut found = Vec::new();
    let mut wants = false;
    for (key, value) in text.lines().filter_map(|line| line.split_once(':')) {
        match key.trim() {
            "processor" => wants = value.trim().parse().is_ok_and(|cpu: u32| wanted.binary_search(&cpu).is_ok()),
            "cpu MHz" if wants => found.extend(value.trim().parse::<f64>().ok().and_then(khz)),
            _ => {}
        }
    }
    found
}

fn khz(mhz: f64) -> Option<u64> {
    // The bounds keep the cast exact: no processor is slower or faster.
    (1.0..1e6).contains(&mhz).then(|| (mhz * 1000.0).round() as u64)
}
