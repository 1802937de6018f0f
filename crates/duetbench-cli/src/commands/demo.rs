//! `duet demo`: placeholder until the example project is built in.

use super::Context;
use crate::args::DemoArgs;
use crate::failure::Failure;

/// Not yet.
///
/// # Errors
/// Always.
pub fn run(_args: &DemoArgs, _context: &Context) -> Result<u8, Failure> {
    Err(Failure::usage("not yet"))
}
