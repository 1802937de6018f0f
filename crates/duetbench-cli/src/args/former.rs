//! Commands that are options of others now. They answer for one version more, and say where they went.

use clap::{Args, Subcommand};

use super::{AnalyzeArgs, ProposeArgs, ShowRunArgs};

/// Commands by the names that they had.
#[derive(Debug, Subcommand)]
pub enum FormerCommand {
    /// Now `duet show --format html`.
    #[command(hide = true)]
    Report(ShowRunArgs),
    /// Now `duet calibrate --see`.
    #[command(hide = true)]
    Plan(FormerPlanArgs),
    /// Now `duet analyze --method`.
    #[command(hide = true)]
    Detect(AnalyzeArgs),
    /// Now `duet-study`.
    #[command(hide = true, disable_help_flag = true)]
    Study(StudyArgs),
}

/// `duet plan`.
#[derive(Debug, Args)]
pub struct FormerPlanArgs {
    /// The run whose calibration to plan from [default: the last one that was calibrated]
    pub run: Option<String>,
    /// The design that is asked for.
    #[command(flatten)]
    pub propose: ProposeArgs,
}

/// `duet study`.
#[derive(Debug, Args)]
pub struct StudyArgs {
    /// Whatever is typed behind it
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub rest: Vec<String>,
}
