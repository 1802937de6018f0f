//! `duet analyze`: a stored run under other thresholds.

use duetbench_run::store::Store;

use super::Context;
use crate::args::AnalyzeArgs;
use crate::assemble;
use crate::failure::{Failure, exit_code};
use crate::gate;

/// Judges a stored run again by what is set now, and prints it.
///
/// # Errors
/// When there is no such run, or a number is out of range.
pub fn run(args: &AnalyzeArgs, context: &Context) -> Result<u8, Failure> {
    let mut stored = Store::open_existing(&context.db())?.load(&args.run)?.comparison()?;
    if args.decide.threshold.is_some() {
        // What was typed holds for all, as when measuring.
        stored.head.plan.benchmarks.iter_mut().for_each(|planned| planned.threshold = None);
    }
    let decision = context.settings.typed_only().decision(stored.head.spec.decision)?;
    let report = gate::decided(assemble::report(stored, decision), context)?;
    let exit = exit_code(report.outcome(), context.settings.strict());
    context.printer.report(&report, exit)?;
    Ok(exit)
}
