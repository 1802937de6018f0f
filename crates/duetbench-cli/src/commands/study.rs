//! `duet study`, for one version more: says where the studies of papers went.

use crate::args::StudyArgs;
use crate::failure::Failure;
use crate::render::command_line::quote;

/// Names the program that has the studies, with the arguments that were typed.
///
/// # Errors
/// Always.
pub fn run(args: &StudyArgs) -> Result<u8, Failure> {
    let rest: String = args.rest.iter().map(|word| format!(" {}", quote(word))).collect();
    Err(Failure::Refused {
        what: format!("the studies of papers are a program of their own: `duet-study{rest}`"),
        hint: format!("`cargo run --release -p duetbench-study --{rest}` runs it from the sources of duet"),
    })
}
