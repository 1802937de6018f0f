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
    let store = Store::open_existing(&context.db())?;
    let mut stored = store.load(&args.run)?.comparison()?;
    if args.decide.threshold.is_some() {
        // What was typed holds for all, as when measuring.
        stored.head.plan.benchmarks.iter_mut().for_each(|planned| planned.threshold = None);
    }
    let decision = context.settings.typed_only().decision(stored.head.spec.decision)?;
    let report = assemble::with_calibration(assemble::report(stored, decision), &store)?;
    let report = gate::decided(report, context)?;
    let exit = exit_code(&report, context.settings.strict());
    context.printer.report(&report, exit)?;
    Ok(exit)
}
