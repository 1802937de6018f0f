//! Forecasts calls, time and cost of a plan on a fleet, before anything is sent.

use std::time::Duration;

use super::{Pace, Rate, Usage};
use crate::plan::{Plan, PlannedBenchmark};
use crate::spec::FleetSpec;

/// Lengths that are assumed of calls before any was made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CallLength {
    /// Starting an instance and unpacking what it runs, nanoseconds.
    pub cold_ns: u64,
    /// Time of a call besides measuring, nanoseconds.
    pub overhead_ns: u64,
}

impl Default for CallLength {
    fn default() -> Self {
        CallLength { cold_ns: 500_000_000, overhead_ns: 50_000_000 }
    }
}

/// Calls, time and cost of a plan if every benchmark is measured to its end and every call goes as predicted. An estimate in both
/// directions: most benchmarks end earlier, and calls that are lost or slower take more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// Calls.
    pub calls: u32,
    /// Calls at once.
    pub parallel: u32,
    /// Wall time of measuring, without building and uploading.
    pub wall: Duration,
    /// US dollars.
    pub cost_usd: f64,
}

/// Predicts time and cost of a plan. `parallel` is what account and user allow.
///
/// A benchmark of `f` fork pairs takes `⌈f / k⌉` calls of `k` each, the last of what is left. A call of `j` fork pairs takes
/// `j × trial_predicted_ns + overhead_ns`. Of `m` instances, one for each call at once, each is started once, for `cold_ns`. With `W`
/// for all calls and `L` for the longest, the last has then ended after at most `cold_ns + W / m + (1 − 1/m) L`: Graham's bound for
/// handing out independent jobs in any order (Bell System Technical Journal 45, 1966); after `cold_ns + L` where no call waits
/// for another. To this comes the time until [`Pace`] allows `m` at once. That calls of a benchmark wait for the look before them is
/// left out: whoever looks waits a little longer, but needs fewer calls. The cost is that of all calls, and of starting `m` instances.
pub fn forecast(plan: &Plan, spec: &FleetSpec, parallel: u32, rate: Rate, length: CallLength) -> Forecast {
    let kinds: Vec<(u64, u64)> =
        plan.benchmarks.iter().flat_map(|b| calls_of(b, spec.forks_per_call, length)).collect();
    let calls: u64 = kinds.iter().map(|(number, _)| number).sum();
    let parallel = u64::from(parallel.min(spec.parallel)).clamp(1, calls.max(1));
    let instances = calls.min(parallel) as u32;
    let work_ns: f64 = kinds.iter().map(|(number, each_ns)| *number as f64 * *each_ns as f64).sum();
    let longest_ns = kinds.iter().map(|(_, each_ns)| *each_ns).max().unwrap_or(0) as f64;
    let m = parallel as f64;
    let measuring_ns = if calls <= parallel { longest_ns } else { work_ns / m + (1.0 - 1.0 / m) * longest_ns };
    let starting_ns = if calls == 0 { 0 } else { length.cold_ns };
    let wall = Duration::from_nanos(starting_ns.saturating_add(measuring_ns as u64)) + Pace::ramp(instances);
    let price = |billed_ns: u64| rate.of(Usage { billed_ns, cold: false }, spec.memory_mb, spec.arch);
    let measuring_usd: f64 = kinds.iter().map(|(number, each_ns)| *number as f64 * price(*each_ns)).sum();
    let starting_usd = f64::from(instances) * rate.of_time(length.cold_ns, spec.memory_mb, spec.arch);
    Forecast {
        calls: u32::try_from(calls).unwrap_or(u32::MAX),
        parallel: parallel as u32,
        wall,
        cost_usd: measuring_usd + starting_usd,
    }
}

/// The calls of one benchmark: how many of which length, nanoseconds.
fn calls_of(planned: &PlannedBenchmark, forks_per_call: u32, length: CallLength) -> impl Iterator<Item = (u64, u64)> {
    let (forks, each) = (planned.configuration.design.forks(), forks_per_call.max(1));
    let trial_ns = planned.trial_predicted_ns;
    let call_ns = move |forks: u32| trial_ns.saturating_mul(forks.into()).saturating_add(length.overhead_ns);
    let kinds = [(forks / each, each), (u32::from(!forks.is_multiple_of(each)), forks % each)];
    kinds.into_iter().filter(|(number, _)| *number > 0).map(move |(number, forks)| (number.into(), call_ns(forks)))
}
