//! `duet completions` and `duet man`: the command line as shells and `man` want it.

use std::fs;

use clap::CommandFactory;
use duetbench_run::RunError;

use super::Context;
use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::failure::{Failure, code};

/// Prints a script that completes commands and options in a shell.
///
/// # Errors
/// When it cannot be written.
pub fn completions(args: &CompletionsArgs, context: &Context) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "duet", &mut script);
    context.printer.data(&String::from_utf8_lossy(&script))?;
    Ok(code::CLEAN)
}

/// Writes a manual page for each command.
///
/// # Errors
/// When the folder cannot be made or written to.
pub fn pages(args: &ManArgs, context: &Context) -> Result<u8, Failure> {
    let written =
        fs::create_dir_all(&args.folder).and_then(|()| clap_mangen::generate_to(Cli::command(), &args.folder));
    written.map_err(|e| RunError::file("write", &args.folder, e))?;
    context.printer.note(&format!("manual pages are in `{}`", args.folder.display()));
    Ok(code::CLEAN)
}
