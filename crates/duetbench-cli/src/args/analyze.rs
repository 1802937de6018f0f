//! `duet analyze`.

use clap::Args;

use super::{JudgeArgs, MethodArgs};

pub(super) const EXAMPLES: &str = "\
With one argument, a stored run is judged again. With two, files are judged that were measured apart from each other: nothing in them is \
paired, so what the machine did between them counts as change too, and values of one process never count as several. A tool that \
measures in one process has to be run at least three times for each version.
Exit codes: those of the comparison; of two files 0 no regression, 3 regression, 4 undecided or not comparable (only with --strict), 1 nothing in common, \
too few processes for any verdict, or unreadable, 2 usage.
Examples:
  duet analyze --threshold 5%        the last run, with another threshold
  duet analyze base.json head.json   two result files of any tools that `duet` reads
  duet analyze base1.json,base2.json,base3.json head1.json,head2.json,head3.json
                                     files of as many processes each
  duet analyze base/ head/           all files in two folders, likewise
  duet analyze r12 head.json         a stored run and a file
  duet analyze base.json head.json --format html -o page.html
                                     the same as a page for the browser
  duet analyze zap-v1.22.0.csv zap-v1.23.0.csv --method both
                                     by the papers' rule beside duet's
  duet analyze base.json head.json --method paper --plan duet-plan.toml
                                     and what the plan's repetitions would have found of it";

/// `duet analyze`.
#[derive(Debug, Args)]
pub struct AnalyzeArgs {
    /// A run, as `r12`; before HEAD the version compared against: a run, a file, several files with commas between them, or a folder of them
    #[arg(value_name = "RUN or BASE", default_value = "latest")]
    pub base: String,
    /// The version under test, likewise
    pub head: Option<String>,
    /// Judging.
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// The papers' rule.
    #[command(flatten)]
    pub method: MethodArgs,
}
