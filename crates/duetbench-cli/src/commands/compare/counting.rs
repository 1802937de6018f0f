//! Instructions of both versions, counted after everything is judged by time.
//!
//! They explain verdicts, and are themselves judged where a rule names them. What could not be counted is told, and touches no verdict.

use duetbench_core::Plan;
use duetbench_core::instructions::{BENCHMARKS_MAX, BenchmarkInstructions, CountOutcome, Countable};
use duetbench_core::plan::PlannedBenchmark;
use duetbench_core::report::BenchmarkReport;
use duetbench_core::spec::Policy;
use duetbench_run::RunError;
use duetbench_run::engine::{Counter, Obstacle, valgrind_for};

use super::profiling::none_here;
use super::versions::Built;
use crate::commands::Context;
use crate::display::Counting;
use crate::dry_run;
use crate::failure::Failure;
use crate::render::format::many;
use crate::session::Kept;

/// The counter, if this harness and this machine have any; else `untold` is why not, by a rule on instructions or without.
pub(super) fn counter<'a>(
    context: &Context,
    built: Built<'a>,
    ruled: bool,
    untold: &mut Vec<String>,
) -> Result<Option<Counter<'a>>, RunError> {
    let adapter = &*built.prepared.adapter;
    match valgrind_for(adapter) {
        Ok(valgrind) => {
            let (timeout, interrupted) = (context.settings.timeout(), context.interrupted.clone());
            Counter::new(adapter, built.builds, valgrind, timeout, interrupted).map(Some)
        }
        Err(why) => {
            untold.push(if ruled { not_kept(&why) } else { none_here("--count", &why) });
            Ok(None)
        }
    }
}

/// That a rule on instructions was not held against anything, in words.
fn not_kept(why: &str) -> String {
    format!("no rule on `instructions` is kept here: {why}")
}

/// Time that it takes to count, in words: what is counted in any case, and the longest of what is counted if it changed.
pub(super) fn takes(counter: &Counter<'_>, countable: Countable, plan: &Plan, rules: &Policy) -> String {
    let in_any_case =
        |planned: &&PlannedBenchmark| countable == Countable::All || rules.counts_instructions(&planned.id);
    let (certain, others): (Vec<_>, Vec<_>) = plan.benchmarks.iter().partition(in_any_case);
    let each = others.iter().map(|planned| counter.takes(planned)).max();
    dry_run::counts(certain.iter().map(|planned| counter.takes(planned)).sum(), each)
}

/// Counts what is to be counted of a run that came to its end; whether that came to its own end.
///
/// # Errors
/// When the run cannot be read, or the counts not be kept.
pub(super) fn count(
    context: &Context,
    kept: &mut Kept<'_>,
    counter: &mut Counter<'_>,
    countable: Countable,
) -> Result<bool, Failure> {
    let report = kept.report()?;
    let known = |b: &&BenchmarkReport| report.instructions.iter().any(|one| one.id == b.id);
    let wanted: Vec<_> =
        countable.of(&report.benchmarks, &report.spec.rules).into_iter().filter(|b| !known(b)).collect();
    if wanted.is_empty() {
        return Ok(true);
    }
    let printer = &context.printer;
    let largest =
        if countable == Countable::Changed && wanted.len() >= BENCHMARKS_MAX { ", the largest changes" } else { "" };
    let benchmarks = many(wanted.len(), "benchmark", "benchmarks");
    printer.note(&format!("counting the instructions of {benchmarks}{largest}, to see where work was added"));
    let mut display = Counting::new(printer, "counting", wanted.len());
    for benchmark in wanted {
        display.begins(&benchmark.id.name);
        let counted = match report.planned(&benchmark.id) {
            Some(planned) => counter.count(&report.plan, planned, benchmark.slower_ns(planned)),
            None => Err(Obstacle::Failed("it was not planned".into())),
        };
        let outcome = match counted {
            Ok(counts) => CountOutcome::Counted(counts),
            Err(Obstacle::Failed(reason)) => CountOutcome::Failed { reason },
            Err(Obstacle::Interrupted) => {
                // A rule may name what was not reached.
                let is_judged = report.spec.rules.names_instructions();
                let then = if is_judged { "rules name them" } else { "the run itself came to its end" };
                display.tell(&format!("interrupted while counting instructions: {then}"));
                return Ok(!is_judged);
            }
        };
        kept.store.add_instructions(kept.run, &BenchmarkInstructions { id: benchmark.id.clone(), outcome })?;
    }
    display.finish();
    Ok(true)
}
