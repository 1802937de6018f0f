//! Options that several commands have together, and the groups that each command has.

use std::path::PathBuf;

use clap::{Args, Id};
use duetbench_core::spec::CommandSpec;

use super::{
    AnalyzeArgs, BisectArgs, CalibrateArgs, CommandArgs, CompareArgs, DemoArgs, ListArgs, PolicyArgs, RunArgs,
    SmokeArgs, SweepArgs,
};
use crate::options::{
    AccountArgs, BoundArgs, CapArgs, DecideArgs, DryRunArgs, ExtentArgs, Group, HarnessArgs, InstanceArgs, Layer,
    MeasureArgs, SeedArgs, SelectArgs, StrictArgs, WaitArgs,
};

/// A project's benchmarks.
#[derive(Debug, Args)]
pub struct ProjectArgs {
    /// Selection.
    #[command(flatten)]
    pub select: SelectArgs,
    /// Bounds of measured code.
    #[command(flatten)]
    pub bounds: BoundArgs,
    /// Flags for the harness.
    #[command(flatten)]
    pub harness: HarnessArgs,
}

/// One sitting of measuring.
#[derive(Debug, Args)]
pub struct SittingArgs {
    /// Randomness.
    #[command(flatten)]
    pub seed: SeedArgs,
    /// Waiting for another run.
    #[command(flatten)]
    pub wait: WaitArgs,
    /// Looking before measuring.
    #[command(flatten)]
    pub dry_run: DryRunArgs,
    /// Outcomes by script instead of measuring
    #[arg(long, hide = true, value_name = "FILE")]
    pub scripted: Option<PathBuf>,
}

/// Judging.
#[derive(Debug, Args)]
pub struct JudgeArgs {
    /// Rules.
    #[command(flatten)]
    pub decide: DecideArgs,
    /// Severity.
    #[command(flatten)]
    pub strict: StrictArgs,
}

/// Measuring on a fleet instead of here.
#[derive(Debug, Args)]
pub struct FleetArgs {
    /// Instances.
    #[command(flatten, next_help_heading = "Fleet")]
    pub instances: InstanceArgs,
    /// Caps of their use.
    #[command(flatten, next_help_heading = "Fleet")]
    pub caps: CapArgs,
    /// Place and account.
    #[command(flatten, next_help_heading = "Fleet")]
    pub account: AccountArgs,
}

/// Makes of structs groups that consist of their fields.
macro_rules! made_of {
    ($($whole:ident: $($part:ident),+;)+) => {
        $(impl Group for $whole {
            fn put(&self, layer: &mut Layer) {
                $(self.$part.put(layer);)+
            }
        })+
    };
}

made_of! {
    ProjectArgs: select, bounds, harness;
    SittingArgs: seed, wait, dry_run;
    JudgeArgs: decide, strict;
    FleetArgs: instances, caps, account;
    CompareArgs: project, extent, plan, measure, profile, count, judge, sitting, program, fleet;
    BisectArgs: project, extent, measure, decide, seed, wait, dry_run;
    CalibrateArgs: project, extent, sitting, program, fleet;
    RunArgs: project, plan, sitting, program;
    ListArgs: project, program;
    AnalyzeArgs: judge;
    DemoArgs: seed;
    PolicyArgs: account;
    SweepArgs: account;
    SmokeArgs: account;
}

impl CompareArgs {
    /// Adds the further command lines that are compared with the first one.
    pub(super) fn put_further(&self, layer: &mut Layer) {
        if let Some(programs) = &mut layer.command
            && let [first] = &programs[..]
        {
            let first = first.clone();
            let further =
                |line: &String| CommandSpec { head: Some(line.clone()), name: String::new(), ..first.clone() };
            programs.extend(self.more.iter().map(further));
        }
    }
}

/// Options of a group, to name them in conflicts.
pub(super) fn ids<A: Args>() -> Vec<Id> {
    A::augment_args(clap::Command::new("")).get_arguments().map(|arg| arg.get_id().clone()).collect()
}

/// Options that a stored run has settled, whatever it measures.
pub(super) fn settled_in_all() -> Vec<Id> {
    [settled_by_beginning(), ids::<CommandArgs>()].concat()
}

/// Options that were settled when something was begun that can be gone on with.
fn settled_by_beginning() -> Vec<Id> {
    let [select, seed, dry_run] = [ids::<SelectArgs>(), ids::<SeedArgs>(), ids::<DryRunArgs>()];
    [select, seed, dry_run, ids::<HarnessArgs>()].concat()
}

/// Options that a stored search has settled; each of its sittings has a budget of its own.
pub(super) fn settled_in_searches() -> Vec<Id> {
    let [extent, measure, decide] = [ids::<ExtentArgs>(), ids::<MeasureArgs>(), ids::<DecideArgs>()];
    let extent = extent.into_iter().filter(|id| id != "budget").collect();
    [settled_by_beginning(), extent, measure, decide].concat()
}

/// Options that a stored run of two versions has settled as well.
pub(super) fn settled_in_pairs() -> Vec<Id> {
    [ids::<ExtentArgs>(), ids::<InstanceArgs>()].concat()
}
