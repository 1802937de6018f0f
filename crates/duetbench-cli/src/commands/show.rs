//! `duet show`: a stored run again, as it was judged then.

use duetbench_run::store::Store;

use super::Context;
use crate::args::ShowRunArgs;
use crate::assemble;
use crate::failure::{Failure, exit_code};

/// Prints a stored run; gives the exit code its verdicts have.
///
/// # Errors
/// When there is no such run.
pub fn run(args: &ShowRunArgs, context: &Context) -> Result<u8, Failure> {
    let stored = Store::open_existing(&context.db())?.load(&args.run)?;
    let decision = stored.head.spec.decision;
    let report = assemble::report(stored, decision);
    let exit = exit_code(report.outcome(), context.settings.strict());
    context.printer.report(&report, exit)?;
    Ok(exit)
}
