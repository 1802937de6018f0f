//! `duet bisect`.

use clap::Args;

use super::ProjectArgs;
use super::groups::settled_in_searches;
use crate::options::{DecideArgs, DryRunArgs, ExtentArgs, MeasureArgs, SeedArgs, WaitArgs};

pub(super) const EXAMPLES: &str = "\
GOOD is compared with BAD first. Then single commits between them are compared with GOOD, always the one that tells most for its time, \
until one of them is 99 % sure; it is compared with its parent before it is named. Commits are those of `git log --first-parent`; if a merge \
is the one, the search goes on inside it. Other benchmarks that this does not explain are searched next. A commit that does not build is left \
out. Every comparison is a stored run (`duet show`). The same command goes on after Ctrl-C, with all that it had.
Exit codes: 3 the commit (or the range that is left) is named; 4 nothing is slower, or it cannot be told which commit; 1 something failed; \
2 usage; 130 interrupted.
Examples:
  duet bisect v1.2.0                 who made HEAD slower than v1.2.0
  duet bisect v1.2.0 main --bench '^BenchmarkEncode$'
                                     only by this benchmark, which is quicker
  duet bisect v1.2.0 main --budget 10m
  duet bisect v1.2.0 main --dry-run  the commits, and how much would have to be measured
  duet bisect --resume               go on with the last search that did not end
  git bisect run duet compare --classify v1.2.0
                                     git's own search, with duet's answers";

/// `duet bisect`.
#[derive(Debug, Args)]
pub struct BisectArgs {
    /// A commit or a release of a Go module (path@version) from before the slowdown
    #[arg(value_parser = super::version_word)]
    pub good: Option<String>,
    /// A later one that is slower [default: HEAD]
    #[arg(value_parser = super::version_word)]
    pub bad: Option<String>,
    /// Go on with the last search that did not come to its end; commits and settings are those of that search
    #[arg(long, conflicts_with_all = ["good", "bad"], conflicts_with_all = settled_in_searches())]
    pub resume: bool,
    /// Name a merge, and do not search inside
    #[arg(long, conflicts_with = "resume")]
    pub first_parent: bool,
    /// Benchmarks.
    #[command(flatten)]
    pub project: ProjectArgs,
    /// Extent of the search.
    #[command(flatten)]
    pub extent: ExtentArgs,
    /// Benchmarks that are measured.
    #[command(flatten)]
    pub measure: MeasureArgs,
    /// Rules of judging.
    #[command(flatten)]
    pub decide: DecideArgs,
    /// Randomness.
    #[command(flatten)]
    pub seed: SeedArgs,
    /// Waiting for another run.
    #[command(flatten)]
    pub wait: WaitArgs,
    /// Looking before measuring.
    #[command(flatten)]
    pub dry_run: DryRunArgs,
}
