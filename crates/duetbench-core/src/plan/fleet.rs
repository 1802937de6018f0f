//! Changes a plan that is measured on a fleet.

use super::{Capacity, Design, Plan};
use crate::sample::BenchmarkId;
use crate::spec::{Effort, FleetSpec, defaults};

/// Memory from which on an instance is paid for two whole processors, megabytes: 1,769 for each of them.
const TWO_PROCESSORS_MB: u32 = 3538;

/// Capacity of an instance of so much memory. Processors that it shows but that are not paid for are left out: on them the
/// provider stops a process for a while whenever its share is used up.
pub fn instance_capacity(memory_mb: u32, asked: Option<u32>) -> Capacity {
    let paid_for = if memory_mb < TWO_PROCESSORS_MB { 1 } else { memory_mb * 2 / TWO_PROCESSORS_MB };
    Capacity { cpus: paid_for, cores_physical: paid_for, asked, relinks: None }
}

impl Plan {
    /// Spreads the fork pairs of every benchmark over calls: so many at a time in one instance, with one of the
    /// build pairs, of which `builds_of` says how many there are.
    ///
    /// The unit of inference stays what is drawn independently. With a single build pair that is the call (its forks share the
    /// instance); with several it is the build pair, because calls with the same one share its layout. Fewer build pairs than a test
    /// needs units would never give an answer, so then only the first one is used. Fork pairs that were asked for are never exceeded.
    pub fn spread_over_calls(&mut self, fleet: &FleetSpec, effort: Effort, builds_of: impl Fn(&BenchmarkId) -> u32) {
        let each = fleet.forks_per_call.max(1);
        let calls = effort.forks.map_or(defaults::FLEET_CALLS, |forks| forks / each).max(1);
        for planned in &mut self.benchmarks {
            let builds = builds_of(&planned.id);
            let by_build = builds >= defaults::UNITS_MIN;
            let units = if by_build { builds.min(calls) } else { calls };
            let calls_per_unit = if effort.forks.is_some() { calls / units } else { calls.div_ceil(units) };
            let forks_per_unit = each * calls_per_unit;
            planned.configuration.design =
                Design { units, forks_per_unit, doubled: 0, places: 1, by_build, sequential: !effort.fixed };
        }
        self.budget_ns = None;
        self.confirm_rounds = 0;
        self.spread = false;
    }
}
