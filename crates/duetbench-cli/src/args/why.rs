//! `duet why`.

use clap::Args;

pub(super) const EXAMPLES: &str = "\
Nothing is measured: what a run has not got is named with the command that makes it.
Examples:
  duet why                           the largest slowdown of the latest run that stops the change
  duet why r12 Encode/json           one benchmark of a run
  duet why r12 --format markdown     for a pull request (also: html, json, csv)";

/// `duet why`.
#[derive(Debug, Args)]
pub struct WhyArgs {
    /// The run, as `r12`
    #[arg(default_value = "latest")]
    pub run: String,
    /// The benchmark, as a report prints it [default: the largest change that stops it, else the largest change]
    pub bench: Option<String>,
}
