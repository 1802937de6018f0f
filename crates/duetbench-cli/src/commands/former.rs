//! Commands by the names that they had, for one version more: each does what its successor does, or says where it went.

use super::{Context, detect, propose, show};
use crate::args::{AnalyzeArgs, FormerCommand, StudyArgs};
use crate::failure::{Failure, code};
use crate::render::command_line::quote;

/// Does what was asked for under a former name, and names the present one.
///
/// # Errors
/// Those of the successor; of `duet study` always.
pub fn run(command: &FormerCommand, context: &Context) -> Result<u8, Failure> {
    let moved = |former: &str, now: &str| context.printer.note(&format!("hint: `duet {former}` is now `{now}`"));
    match command {
        FormerCommand::Report(args) => {
            moved("report", "duet show --format html");
            show::run(args, context)?;
            // Whoever asked for the page alone was told of no verdict.
            Ok(code::CLEAN)
        }
        FormerCommand::Plan(args) => {
            moved("plan", "duet calibrate --see");
            propose::run(args.run.as_deref(), &args.propose, context)
        }
        FormerCommand::Detect(args) => {
            moved("detect", "duet analyze --method both");
            detected(args, context)
        }
        FormerCommand::Study(args) => study(args),
    }
}

fn detected(args: &AnalyzeArgs, context: &Context) -> Result<u8, Failure> {
    let head =
        args.head.as_ref().ok_or_else(|| Failure::usage("`duet detect` compares two: `duet detect BASE HEAD`"))?;
    detect::run(args, head, context)
}

/// Names the program that has the studies, with the arguments that were typed.
fn study(args: &StudyArgs) -> Result<u8, Failure> {
    let rest: String = args.rest.iter().map(|word| format!(" {}", quote(word))).collect();
    Err(Failure::usage(format!("the studies of papers are a program of their own: `duet-study{rest}`"))
        .hint(format!("`cargo run --release -p duetbench-study --{rest}` runs it from the sources of duet")))
}
