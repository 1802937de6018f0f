//! Reads metrics that benchmarks report under units of their own, where rules name them, once everything is judged by time.
//!
//! Unlike a profile this is part of the answer. What could not be read is kept as a failure, so that a rule about it is never kept by silence,
//! and the run is at its end when everything was read.

use duetbench_core::plan::PlannedBenchmark;
use duetbench_core::report::BenchmarkReport;
use duetbench_core::reported::{Readings, ReadingsOutcome};
use duetbench_core::spec::Policy;
use duetbench_core::{Plan, Report, Verdict};
use duetbench_run::engine::{Obstacle, UnitReader};

use super::versions::Built;
use crate::commands::Context;
use crate::display::Counting;
use crate::failure::Failure;
use crate::render::format::many;
use crate::session::Kept;

/// Reader of units, if rules name any and this harness has any.
pub(super) fn reader<'a>(
    context: &Context,
    built: Built<'a>,
    policy: &Policy,
) -> Result<Option<UnitReader<'a>>, Failure> {
    if policy.units().is_empty() || !built.prepared.adapter.reports_units() {
        return Ok(None);
    }
    let (timeout, interrupted) = (context.settings.timeout(), context.interrupted.clone());
    Ok(Some(UnitReader::new(&*built.prepared.adapter, built.builds, timeout, interrupted)?))
}

/// The benchmarks of a plan of which rules name a unit, with the units.
pub(super) fn asked<'a>(plan: &'a Plan, policy: &Policy) -> Vec<(&'a PlannedBenchmark, Vec<String>)> {
    let units = |b: &PlannedBenchmark| policy.units_of(&b.id).into_iter().map(str::to_owned).collect();
    let all = plan.benchmarks.iter().map(|b| (b, units(b)));
    all.filter(|(_, units): &(_, Vec<String>)| !units.is_empty()).collect()
}

/// Reads the units of a run that came to its end; whether it got to its own end.
///
/// # Errors
/// When the run cannot be read, or what was read not be kept.
pub(super) fn read(context: &Context, kept: &mut Kept<'_>, reader: &mut UnitReader<'_>) -> Result<bool, Failure> {
    let report = kept.report()?;
    let known = kept.store.readings(kept.run)?;
    let asked = asked(&report.plan, &report.spec.rules).into_iter().filter(|(b, _)| known.iter().all(|k| k.id != b.id));
    let measured: Vec<_> = asked.filter_map(|(b, units)| Some((b, units, slower_ns(&report, b)?))).collect();
    if measured.is_empty() {
        return Ok(true);
    }
    context.printer.note(&format!(
        "reading what {} under units that rules name",
        many(measured.len(), "benchmark reports", "benchmarks report")
    ));
    let mut display = Counting::new(&context.printer, "reading", measured.len());
    for (planned, units, slower_ns) in &measured {
        display.begins(&planned.id.name);
        let outcome = match reader.read(&report.plan, planned, units, *slower_ns) {
            // Nothing of what rules name, as of most benchmarks, is kept too: it need not be asked again.
            Ok(read) => ReadingsOutcome::Read(read),
            Err(Obstacle::Failed(reason)) => ReadingsOutcome::Failed { reason },
            Err(Obstacle::Interrupted) => return Ok(false),
        };
        kept.store.add_readings(kept.run, &Readings { id: planned.id.clone(), outcome })?;
    }
    display.finish();
    Ok(true)
}

/// Time per operation of the slower version, nanoseconds, where the benchmark did not fail. One for which a budget had no time is read too,
/// or nobody would hear that a rule about it is not kept.
fn slower_ns(report: &Report, planned: &PlannedBenchmark) -> Option<f64> {
    let works = |b: &&BenchmarkReport| b.id == planned.id && !matches!(b.verdict, Verdict::Failed { .. });
    report.benchmarks.iter().find(works).map(|benchmark| benchmark.slower_ns(planned))
}
