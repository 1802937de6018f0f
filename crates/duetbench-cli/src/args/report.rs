//! `duet report`: a stored run as a page.

use clap::Args;

pub(super) const EXAMPLES: &str = "\
The page is one file, duet-report.html where --output names no other. It loads nothing, so that it can be kept, sent or published as it
is. The exit code is 0 when it is written, whatever the run came to; `duet show` has the run's own.
Examples:
  duet report                        the last run
  duet report r12 -o r12.html";

/// `duet report`. Typed only.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The run, as `r12`
    #[arg(default_value = "latest")]
    pub run: String,
}
