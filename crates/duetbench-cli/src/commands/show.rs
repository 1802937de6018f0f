//! `duet show`: a stored run again, as it was judged then.

use duetbench_run::store::{Head, Store};

use super::Context;
use crate::args::ShowRunArgs;
use crate::assemble;
use crate::failure::{Failure, code, solo_exit_code, stored_exit_code};
use crate::render::solo;

/// Prints a stored run; gives the exit code that it ended with, if open questions counted then as they do now.
///
/// # Errors
/// When there is no such run.
pub fn run(args: &ShowRunArgs, context: &Context) -> Result<u8, Failure> {
    let store = Store::open_to_read(&context.db())?;
    let stored = store.load(&args.run)?;
    if let Head::Solo(_) = stored.head {
        let report = assemble::solo_report(stored.solo()?);
        context.printer.document(&solo::document(&report))?;
        return Ok(if report.complete { solo_exit_code(&report) } else { code::INTERRUPTED });
    }
    let stored = stored.comparison()?;
    let mut report = context.report(&store, stored)?;
    report.untrusted = args.untrusted;
    let exit = stored_exit_code(&report, context.settings.strict());
    context.printer.report(&report, exit)?;
    Ok(exit)
}
