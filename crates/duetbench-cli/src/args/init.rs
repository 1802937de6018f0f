//! `duet init`: a repository that has duet.

use clap::Args;

pub(super) const EXAMPLES: &str = "\
Written are duet.toml, lines in .gitignore, and what the service needs: for GitHub a workflow that measures pull requests and one that \
comments on them, also on those from forks; for GitLab a job. Files that are there stay as they are. Nothing is asked.
Examples:
  duet init                          a Go module, a Cargo package, a Maven or Gradle project
  duet init --dry-run                print the files instead
  duet init --command './program --fast in.txt'
                                     any program, run in each version's directory
  duet init --gitlab";

/// `duet init`. Typed only.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The command line to measure, where it is no Go module, JMH project or Cargo package
    #[arg(long, value_name = "LINE")]
    pub command: Option<String>,
    /// Write workflows for GitHub [default: where GitLab is not used]
    #[arg(long)]
    pub github: bool,
    /// Write a job for GitLab [default: where .gitlab-ci.yml is]
    #[arg(long)]
    pub gitlab: bool,
    /// Replace files that are there
    #[arg(long)]
    pub force: bool,
    /// Print the files and write nothing
    #[arg(long)]
    pub dry_run: bool,
}
