//! `duet report`: a stored run as a page, judged as it was then.

use duetbench_run::store::Store;

use super::Context;
use crate::args::ReportArgs;
use crate::assemble;
use crate::failure::{Failure, code};
use crate::gate;
use crate::render::html;

/// Writes the page of a stored run.
///
/// # Errors
/// When there is no such run, it compared nothing, or the file cannot be written.
pub fn run(args: &ReportArgs, context: &Context) -> Result<u8, Failure> {
    let store = Store::open_to_read(&context.db())?;
    let stored = store.load(&args.run)?.comparison()?;
    let (report, pictures) = assemble::with_pictures(stored);
    let report = gate::decided(assemble::with_calibration(report, &store)?, context)?;
    context.printer.page(&html::render(&report, &pictures))?;
    Ok(code::CLEAN)
}
