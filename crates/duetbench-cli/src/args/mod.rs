//! The command line: commands, with what can only be typed. All other options are rows in [`options`](crate::options).

use clap::{Args, Id, Parser, Subcommand};

use crate::options::{
    CountArgs, DecideArgs, ExtentArgs, Format, Group, Layer, MeasureArgs, PlanFileArgs, ProfileArgs, SeedArgs, ShowArgs,
};
use crate::printer;

mod analyze;
mod bisect;
mod calibrate;
mod command;
mod detect;
mod export;
mod fleet;
mod foreign;
mod former;
mod gate;
mod groups;
mod init;
mod propose;
mod run;
mod runs;
mod scan;
mod tune;
mod unknown;
mod why;

pub use analyze::AnalyzeArgs;
pub use bisect::BisectArgs;
pub use calibrate::CalibrateArgs;
pub use command::CommandArgs;
pub use detect::{Method, MethodArgs};
pub use export::{ExportArgs, FormArg, SideArg};
pub use fleet::{FleetCommand, PolicyArgs, SmokeArgs, SweepArgs};
pub(crate) use foreign::understood;
pub use former::{FormerCommand, StudyArgs};
pub use gate::{ConfigCommand, ConfigFile, WaiveArgs};
pub use groups::{FleetArgs, JudgeArgs, ProjectArgs, SittingArgs};
use groups::{ids, settled_in_all, settled_in_pairs};
pub use init::InitArgs;
pub use propose::ProposeArgs;
pub use run::RunArgs;
pub use runs::{CompletionsArgs, ManArgs, RemoveArgs};
pub use tune::{MetricArg, TuneArgs, WarmUpArg};
pub(crate) use unknown::of_another_command;
pub use why::WhyArgs;

/// Did this change make the code slower or faster, and how sure is that?
///
/// duet builds two versions, runs their benchmarks side by side so that the machine's noise hits both alike, and says for each:
/// regression, improvement, a change within tolerance, no change, or that it is not known yet.
#[derive(Debug, Parser)]
#[command(name = "duet", version, max_term_width = 110, after_help = EXIT_CODES, args_override_self = true)]
pub struct Cli {
    /// The action.
    #[command(subcommand)]
    pub command: Command,
    /// Output.
    #[command(flatten)]
    pub show: ShowArgs,
}

// Paragraphs are lines here, because they are wrapped to the terminal.
const EXIT_CODES: &str = "\
Exit codes: 0 no regression, 1 something failed or nothing was compared, 2 usage, 3 regression, 4 an open question (only with --strict, \
or where a rule says so), or what `calibrate --see` was asked for cannot be had, 5 a waiver that has to go, 130 interrupted.

What `duet config schema` lists can be set in duet.toml (searched upward to the git root; `no-color` is `no_color`) and by a variable \
(`--bench` is DUET_BENCH); `--command` with its options is a `[[command]]` table there; all else is typed. The command line wins over \
variables, variables win over duet.toml, its rules among it.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure two versions in lock-step and judge every benchmark.
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(Box<CompareArgs>),
    /// Search the commit that made a benchmark slower.
    #[command(after_help = bisect::EXAMPLES)]
    Bisect(Box<BisectArgs>),
    /// Measure a version against itself, to learn which changes can be seen on this machine, and what it takes.
    #[command(after_help = calibrate::EXAMPLES, mut_arg("see", calibrate::measures_nothing))]
    Calibrate(Box<CalibrateArgs>),
    /// List the benchmarks of a version.
    List(ListArgs),
    /// Print a stored run again, in any form, or write it as a page for the browser.
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowRunArgs),
    /// Tell everything that a stored run knows about one change.
    #[command(after_help = why::EXAMPLES)]
    Why(WhyArgs),
    /// List the stored runs.
    Runs,
    /// Remove stored runs.
    #[command(after_help = runs::REMOVE_EXAMPLES)]
    Rm(RemoveArgs),
    /// Judge a stored run again, with other thresholds, or two result files of any tools.
    #[command(after_help = analyze::EXAMPLES)]
    Analyze(AnalyzeArgs),
    /// Write a run or a result file in the form of another tool.
    #[command(after_help = export::EXAMPLES)]
    Export(ExportArgs),
    /// Measure one version under a full execution configuration, to tune from or to keep.
    #[command(after_help = run::EXAMPLES)]
    Run(RunArgs),
    /// Learn from a full run how few repetitions each benchmark needs, and write the plan.
    #[command(after_help = tune::EXAMPLES)]
    Tune(TuneArgs),
    /// Set up, check and tidy the account of a fleet (`compare --on lambda`).
    #[command(subcommand)]
    Fleet(FleetCommand),
    /// Accept a slowdown that a run found, up to a size and until a day.
    #[command(after_help = gate::WAIVE_EXAMPLES)]
    Waive(WaiveArgs),
    /// Look at what the repository's own files say.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Write what a repository needs to be measured: workflows, duet.toml, lines to ignore.
    #[command(after_help = init::EXAMPLES)]
    Init(InitArgs),
    /// See duet at work on a small built-in project.
    Demo(DemoArgs),
    /// Watch this machine for a moment and say what would disturb measuring, and what to do about it.
    #[command(after_help = DOCTOR_EXAMPLES)]
    Doctor(DoctorArgs),
    /// Print a script that completes commands and options in a shell.
    #[command(after_help = runs::COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Write manual pages.
    #[command(after_help = runs::MAN_EXAMPLES)]
    Man(ManArgs),
    /// Former names.
    #[command(flatten)]
    Former(FormerCommand),
}

const SHOW_EXAMPLES: &str = "\
The page of `--format html` is one file, `duet-report.html` where a terminal would have to show it. It loads nothing, so that it can be \
kept, sent or published as it is. The exit code is the run's own, by `strict` as it is set now.
Examples:
  duet show                          the last run
  duet show r12 --format markdown
  duet show --format html            as a page with pictures";

const COMPARE_EXAMPLES: &str = "\
Examples:
  duet compare                       merge base with the default branch against the work tree
  duet compare v1.2.0 HEAD           two revisions
  duet compare ../old ../new         two directories
  duet compare example.com/m@v1.0.0 example.com/m@v1.1.0
                                     two published versions of a module
  duet compare itoa@1.0.18 itoa@1.0.19
                                     or of a crate
  duet compare --bench 'Encode' --budget 2m
  duet compare --plan duet-plan.toml as often as `duet tune` learnt to be enough
  duet compare --builds 1            just these two binaries, not the layouts that they happen to have
  duet compare --profile             with the functions that regressions come from
  duet compare --count               with the instructions that changed benchmarks execute
  git bisect run duet compare --classify v1.2.0
                                     let git search by duet's answers; `duet bisect` needs far fewer measurements
  duet compare --resume latest       go on where Ctrl-C or a crash ended
  duet compare v1.2.0 HEAD --on lambda --role arn:aws:iam::123456789012:role/duet-exec
                                     on hundreds of instances of AWS Lambda, in minutes, for cents
  duet compare -- -tags integration -short
  duet compare --command './old --fast in.txt' './new --fast in.txt'
                                     any two programs, each run as a whole
  duet compare --command 'sort -S {mem} a' 'gsort -S {mem} a' -L mem 1M,64M --prepare 'cp a.orig a'";

const DOCTOR_EXAMPLES: &str = "\
Steal, quotas, other programs, frequency and heat make intervals wider. Nothing of a project is measured or stored; the exit \
code is 0 whatever is found.
Examples:
  duet doctor                        what would disturb a comparison now
  duet doctor --seconds 60           what comes and goes within a minute
  duet doctor --format json          the same for programs (a document in any format but go and sarif)";

/// `duet compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The version compared against [default: merge base with the default branch]
    #[arg(value_parser = version_word)]
    pub base: Option<String>,
    /// The version under test [default: the work tree]
    #[arg(value_parser = version_word)]
    pub head: Option<String>,
    /// With `--command`, further command lines that are compared with the first one
    #[arg(value_name = "HEAD")]
    pub more: Vec<String>,
    /// Benchmarks.
    #[command(flatten)]
    pub project: ProjectArgs,
    /// Extent of the measurement.
    #[command(flatten)]
    pub extent: ExtentArgs,
    /// Repetitions from a file.
    #[command(flatten)]
    pub plan: PlanFileArgs,
    /// Benchmarks that are measured.
    #[command(flatten)]
    pub measure: MeasureArgs,
    /// Profiles.
    #[command(flatten)]
    pub profile: ProfileArgs,
    /// Counts.
    #[command(flatten)]
    pub count: CountArgs,
    /// Judging.
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// This sitting.
    #[command(flatten)]
    pub sitting: SittingArgs,
    /// Exit with 0 where nothing is slower, with 1 where something is, with 125 where that cannot be told, with 128 where it could be told of no commit: what `git bisect run` wants
    #[arg(long)]
    pub classify: bool,
    /// Go on with a run that was interrupted or killed, as `r12` or `latest`; versions and settings are those of that run; `--sandbox`, `--pass-env`, `--timeout` and the like are not kept
    #[arg(long, value_name = "RUN", conflicts_with_all = settled_in_all(), conflicts_with_all = settled_in_pairs(), conflicts_with_all = settled_by_the_run())]
    pub resume: Option<String>,
    /// Whole programs.
    #[command(flatten)]
    pub program: CommandArgs,
    /// Measuring elsewhere.
    #[command(flatten)]
    pub fleet: FleetArgs,
}

/// A version as typed: any word, but one that an unset variable left empty would name the current directory.
fn version_word(text: &str) -> Result<String, String> {
    let is_word = !text.trim().is_empty();
    is_word
        .then(|| text.to_owned())
        .ok_or_else(|| "an empty word names no version; is the variable behind it set?".into())
}

/// Options that a stored comparison has settled as well.
fn settled_by_the_run() -> Vec<Id> {
    let versions = ["base", "head", "more"].map(Id::from).to_vec();
    [versions, ids::<PlanFileArgs>(), ids::<MeasureArgs>(), ids::<DecideArgs>()].concat()
}

/// `duet list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// The version [default: the work tree]
    #[arg(value_parser = version_word)]
    pub version: Option<String>,
    /// Benchmarks.
    #[command(flatten)]
    pub project: ProjectArgs,
    /// Whole programs.
    #[command(flatten)]
    pub program: CommandArgs,
}

/// `duet show`.
#[derive(Debug, Args)]
pub struct ShowRunArgs {
    /// The run, as `r12`
    #[arg(default_value = "latest")]
    pub run: String,
    /// The store is a stranger's: offer no command that runs what it names, unless both versions are revisions
    #[arg(long)]
    pub untrusted: bool,
}

/// `duet demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Randomness.
    #[command(flatten)]
    pub seed: SeedArgs,
}

/// `duet doctor`. Typed only: it is run by hand.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Time to watch
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub seconds: u32,
}

impl Group for Cli {
    fn put(&self, layer: &mut Layer) {
        self.show.put(layer);
        match &self.command {
            Command::Compare(args) => {
                args.put(layer);
                args.put_further(layer);
            }
            Command::Bisect(args) => args.put(layer),
            Command::Calibrate(args) => args.put(layer),
            Command::List(args) => args.put(layer),
            Command::Run(args) => args.put(layer),
            Command::Analyze(args) | Command::Former(FormerCommand::Detect(args)) => args.put(layer),
            // It writes a page and nothing else.
            Command::Former(FormerCommand::Report(_)) => {
                layer.format = Some(Format::Html);
                layer.output.get_or_insert_with(|| printer::PAGE.into());
            }
            Command::Demo(args) => args.put(layer),
            Command::Fleet(FleetCommand::Policy(args)) => args.put(layer),
            Command::Fleet(FleetCommand::Sweep(args)) => args.put(layer),
            Command::Fleet(FleetCommand::Smoke(args)) => args.put(layer),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use duetbench_core::spec::defaults;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn help_is_wrapped_to_the_terminal_alone() {
        // A line that is broken by hand is broken again, in the middle of sentences, where there is less room.
        let broken = |command: &clap::Command| {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines: Vec<&str> = help.lines().collect();
            let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ') && line != "Examples:";
            let goes_on = |pair: &[&str]| is_prose(pair[0]) && is_prose(pair[1]) && !pair[1].starts_with("Exit codes:");
            lines.windows(2).find(|pair| goes_on(pair)).map(|pair| pair.join(" / "))
        };
        let all = Cli::command();
        for command in all.get_subcommands().chain([&all]) {
            assert_eq!(broken(command), None, "{}", command.get_name());
        }
    }

    #[test]
    fn help_states_the_defaults_that_core_has() {
        let mut command = Cli::command();
        let help = command.find_subcommand_mut("compare").unwrap().render_long_help().to_string();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for stated in [
            format!(
                "[default: up to {} with matched layouts, else {}, with one build {}]",
                defaults::BUILDS_MIN * defaults::FORKS_PER_MATCHED_BUILD_MAX,
                defaults::BUILDS + defaults::DOUBLED_UNITS,
                defaults::UNITS
            ),
            format!("at most {}]", defaults::BUILDS),
            format!("[default: {}%]", defaults::THRESHOLD * 100.0),
            format!("[default: {}%]", defaults::ALPHA * 100.0),
            format!("[default: {}%]", defaults::FALSE_DISCOVERY_RATE * 100.0),
            format!("[default: {}]", defaults::PACKAGES),
            format!("at least {} for", defaults::UNITS_MIN),
        ] {
            assert!(help.contains(&stated), "`{stated}` is not in the help");
        }
    }
}
