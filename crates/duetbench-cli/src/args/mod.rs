//! The command line. Every option mirrors a `DUET_*` variable and a key of `duet.toml`; the command line wins.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use duetbench_core::spec::{LayoutChoice, ModeChoice};
use duetbench_run::adapter::{KINDS, Kind};

use crate::failure::Failure;

mod analyze;
mod calibrate;
mod command;
mod detect;
mod export;
mod fleet;
mod former;
mod gate;
mod init;
mod propose;
mod run;
mod tune;

pub use analyze::AnalyzeArgs;
pub use calibrate::CalibrateArgs;
pub use command::CommandArgs;
pub use detect::{Method, MethodArgs};
pub use export::{ExportArgs, FormArg, SideArg};
pub use fleet::{
    AccountArgs, ArchArg, EngineArg, FleetArgs, FleetCommand, PolicyArgs, SmokeArgs, SweepArgs, parse_dollars,
};
pub use former::{FormerCommand, StudyArgs};
pub use gate::{ConfigCommand, ConfigFile, WaiveArgs};
pub use init::InitArgs;
pub use propose::ProposeArgs;
pub use run::RunArgs;
pub use tune::{MetricArg, TuneArgs, WarmUpArg};

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

const EXIT_CODES: &str = "\
Exit codes: 0 no regression, 1 something failed or nothing was compared, 2 usage, 3 regression,
4 an open question (only with --strict, or where a rule says so), or what `calibrate --see` was asked for cannot be had, 5 a waiver that has to go, 130 interrupted.
Every option can be set in duet.toml (searched upward to the git root; `no-color` is `no_color`) and by a variable (`--bench` is
DUET_BENCH), but for `--seconds`, what `run` repeats how often, `--command` with its options (there: `[[command]]` tables), what `calibrate`
does besides measuring, `--method` with its options, and the options of `tune`, `export` and `init`. The command line wins over variables, variables win over duet.toml.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure two versions in lock-step and judge every benchmark.
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(Box<CompareArgs>),
    /// Measure a version against itself, to learn which changes can be seen on this machine, and what it takes.
    #[command(after_help = calibrate::EXAMPLES, mut_arg("see", calibrate::measures_nothing))]
    Calibrate(Box<CalibrateArgs>),
    /// List the benchmarks of a version.
    List(ListArgs),
    /// Print a stored run again, in any form, or write it as a page for the browser.
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowRunArgs),
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
    /// Former names.
    #[command(flatten)]
    Former(FormerCommand),
}

const SHOW_EXAMPLES: &str = "\
The page of `--format html` is one file, `duet-report.html` where a terminal would have to show it. It loads nothing, so that it can be
kept, sent or published as it is. The exit code is the run's own.
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
  duet compare --bench 'Encode' --budget 2m
  duet compare --plan duet-plan.toml as often as `duet tune` learnt to be enough
  duet compare --builds 1            just these two binaries, not the layouts that they happen to have
  duet compare --profile             with the functions that regressions come from
  duet compare --resume latest       go on where Ctrl-C or a crash ended
  duet compare v1.2.0 HEAD --on lambda --role arn:aws:iam::123456789012:role/duet-exec
                                     on hundreds of instances of AWS Lambda, in minutes, for cents
  duet compare -- -tags integration -short
  duet compare --command './old --fast in.txt' './new --fast in.txt'
                                     any two programs, each run as a whole
  duet compare --command 'sort -S {mem} a' 'gsort -S {mem} a' -L mem 1M,64M --prepare 'cp a.orig a'";

const DOCTOR_EXAMPLES: &str = "\
Steal, quotas, other programs, frequency and heat make intervals wider. Nothing of a project is measured or stored; the exit
code is 0 whatever is found.
Examples:
  duet doctor                        what would disturb a comparison now
  duet doctor --seconds 60           what comes and goes within a minute
  duet doctor --format json          the same for programs (other formats print text)";

/// `duet compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The version compared against [default: merge base with the default branch]
    pub base: Option<String>,
    /// The version under test [default: the work tree]
    pub head: Option<String>,
    /// Benchmarks and their measurement.
    #[command(flatten)]
    pub measure: MeasureArgs,
    /// Rules of judging.
    #[command(flatten)]
    pub decide: DecideArgs,
    /// Print the plan with its predicted time, and stop
    #[arg(long)]
    pub dry_run: bool,
    /// Go on with a run that was interrupted or killed, as `r12` or `latest`; versions and settings are those of that run
    #[arg(long, value_name = "RUN", conflicts_with_all = SETTLED_IN_ALL, conflicts_with_all = SETTLED_IN_PAIRS, conflicts_with_all = SETTLED_BY_THE_RUN)]
    pub resume: Option<String>,
    /// Flags for the harness: build flags, flags of the test binary, after `-args` the benchmarks' own
    #[arg(last = true, value_name = "FLAGS")]
    pub harness: Vec<String>,
    /// Whole programs.
    #[command(flatten)]
    pub program: CommandArgs,
    /// Measuring elsewhere.
    #[command(flatten)]
    pub fleet: FleetArgs,
}

/// Options that a stored run has settled, whatever it measures.
const SETTLED_IN_ALL: [&str; 17] = [
    "adapter",
    "harness",
    "dry_run",
    "bench",
    "exclude",
    "packages",
    "forks",
    "seed",
    "warmup",
    "command",
    "command_name",
    "prepare",
    "conclude",
    "parameter_list",
    "exit_code",
    "lockstep",
    "refill",
];

/// Options that a stored run of two versions has settled as well.
const SETTLED_IN_PAIRS: [&str; 8] = ["builds", "budget", "mode", "on", "memory", "arch", "parallel", "forks_per_call"];

/// … and what a comparison has.
const SETTLED_BY_THE_RUN: [&str; 10] =
    ["base", "head", "plan", "fixed", "confirm", "measure_identical", "same_benchmarks", "threshold", "alpha", "fdr"];

/// Selection of benchmarks, and the place to look for them.
#[derive(Debug, Args)]
pub struct SelectArgs {
    /// Only benchmarks whose name matches
    #[arg(long, short, value_name = "REGEX")]
    pub bench: Option<String>,
    /// No benchmarks whose name matches
    #[arg(long, value_name = "REGEX")]
    pub exclude: Option<String>,
    /// Packages to look for benchmarks in, may be repeated [default: ./...]
    #[arg(long, value_name = "PATTERN", value_delimiter = ' ')]
    pub packages: Vec<String>,
    /// Time that a benchmark may hang before it counts as failed [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub timeout: Option<Duration>,
    /// Harness that measures the versions [default: told by what they are and what lies in them]
    #[arg(long, value_name = "HARNESS", value_parser = KINDS.map(Kind::name))]
    pub adapter: Option<String>,
    /// Variable that benchmarks need and may see, may be repeated; the rest of the environment is kept from them
    #[arg(long, value_name = "NAME", value_delimiter = ' ')]
    pub pass_env: Vec<String>,
    /// Run benchmarks without network, with all files read-only but those of their directory, and a /tmp of their own (needs bubblewrap)
    #[arg(long)]
    pub sandbox: bool,
}

/// Benchmarks and their measurement.
#[derive(Debug, Args)]
pub struct MeasureArgs {
    /// Selection of benchmarks.
    #[command(flatten)]
    pub select: SelectArgs,
    /// Extent of the measurement.
    #[command(flatten)]
    pub extent: ExtentArgs,
    /// Begin with as many fork pairs of each benchmark, and as long ones, as this plan of `duet tune` says; benchmarks that are not
    /// in it are measured as without it
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Measure all process pairs, even of benchmarks whose answer is known before
    #[arg(long)]
    pub fixed: bool,
    /// Measure regressions again in two rounds of fresh trials before calling them confirmed [default: only where CI is set]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    pub confirm: Option<bool>,
    /// Profile the regressions once all is judged, at most 10, to see which functions they come from; Go only [default: no]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    pub profile: Option<bool>,
    /// Measure benchmarks even where both versions are proven to run the same code
    #[arg(long)]
    pub measure_identical: bool,
    /// Judge benchmarks that themselves differ between the versions like any other
    #[arg(long)]
    pub same_benchmarks: bool,
}

/// Extent of a comparison or a calibration.
#[derive(Debug, Args)]
pub struct ExtentArgs {
    /// At most this many fresh process pairs per benchmark, at least 3 for an interval [default: 36, with one build 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub forks: Option<u32>,
    /// Wall time for measuring and linking, as `90s` or `2m`; what settled benchmarks leave goes to the open ones
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub budget: Option<Duration>,
    /// Link each version so many times, its functions in another order each time, so that a verdict is about the code and not
    /// about where the linker put it; 1 compares just the two binaries [default: as many as are needed, at most 32]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=200))]
    pub builds: Option<u32>,
    /// Layout of the two halves of each such build pair, where the linker can do both [default: matched]
    #[arg(long, value_enum)]
    pub layouts: Option<LayoutsArg>,
    /// Processes of each side in every trial that warm up and are not judged [default: 0]; where iterations are measured, as many of
    /// those [default: as many as each benchmark is found to need]
    #[arg(long, value_name = "N")]
    pub warmup: Option<u32>,
    /// Way in which the two sides are run [default: auto]
    #[arg(long, value_enum)]
    pub mode: Option<ModeArg>,
    /// Source of every random choice [default: drawn, and printed]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Waiting for another run.
    #[command(flatten)]
    pub wait: WaitArgs,
    /// Outcomes by script instead of measuring
    #[arg(long, hide = true, value_name = "FILE")]
    pub scripted: Option<PathBuf>,
}

/// Waiting for a run that holds this machine.
#[derive(Debug, Clone, Copy, Args)]
pub struct WaitArgs {
    /// Fail at once when another run holds this machine, instead of waiting for it
    #[arg(long, conflicts_with = "wait")]
    pub no_wait: bool,
    /// Fail when this run's turn has not come after so long, as `90s` or `10m` [default: wait for as long as it takes]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub wait: Option<Duration>,
}

/// Rules of judging.
#[derive(Debug, Clone, Copy, Args)]
pub struct DecideArgs {
    /// Change that a regression or an improvement exceeds [default: 3%]
    #[arg(long, value_name = "PERCENT", value_parser = parse_fraction)]
    pub threshold: Option<f64>,
    /// Error of calling equal code changed; that of the intervals is 10 times as large, but at most 20% [default: 1%]
    #[arg(long, value_name = "PERCENT", value_parser = parse_fraction)]
    pub alpha: Option<f64>,
    /// Share of false alarms accepted among all changes reported [default: 5%]
    #[arg(long, value_name = "PERCENT", value_parser = parse_fraction)]
    pub fdr: Option<f64>,
    /// Exit with 4 when a benchmark is an open question: inconclusive, or slower or faster by an open size
    #[arg(long)]
    pub strict: bool,
}

/// Output.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Form of the report [default: text]
    #[arg(long, value_enum, global = true)]
    pub format: Option<Format>,
    /// Write the report to a file instead of standard output
    #[arg(long, short, value_name = "FILE", global = true)]
    pub output: Option<PathBuf>,
    /// Database of runs [default: .duet/duet.db at the project's root]
    #[arg(long, value_name = "FILE", global = true)]
    pub db: Option<PathBuf>,
    /// Draw the intervals of all benchmarks below the table of the text [default: of those that changed, on a terminal]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true, global = true)]
    pub plot: Option<bool>,
    /// No progress, nothing but the report and errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// No colour (also: NO_COLOR)
    #[arg(long, global = true)]
    pub no_color: bool,
}

/// `duet list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// The version [default: the work tree]
    pub version: Option<String>,
    /// Selection of benchmarks.
    #[command(flatten)]
    pub select: SelectArgs,
    /// Flags for the harness
    #[arg(last = true, value_name = "FLAGS")]
    pub harness: Vec<String>,
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
    /// Source of every random choice [default: drawn, and printed]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// `duet doctor`. Typed only: it is run by hand.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Time to watch
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub seconds: u32,
}

/// Forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table for people
    Text,
    /// Everything, with a published schema
    Json,
    /// For a pull request
    Markdown,
    /// One row per benchmark
    Csv,
    /// Go benchmark text, for benchstat
    Go,
    /// Results that fail or inform, for code scanning (SARIF 2.1.0)
    Sarif,
    /// A page for the browser, of comparisons with pictures: one file that loads nothing
    Html,
}

impl Format {
    /// Why something cannot be had in this form.
    #[must_use]
    pub fn unfit(self, what: &str) -> Failure {
        let form = match self {
            Format::Text => "text",
            Format::Json => "JSON",
            Format::Markdown => "Markdown",
            Format::Csv => "CSV",
            Format::Go => "Go benchmark text",
            Format::Sarif => "SARIF",
            Format::Html => "HTML",
        };
        Failure::usage(format!("{what} cannot be written as {form}"))
    }
}

/// `--mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModeArg {
    /// Decided per benchmark
    Auto,
    /// Both at once, a core each
    Duet,
    /// One at a time, slices alternating
    Interleaved,
    /// Whole processes one after the other
    Sequential,
}

impl From<ModeArg> for ModeChoice {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Auto => ModeChoice::Auto,
            ModeArg::Duet => ModeChoice::Duet,
            ModeArg::Interleaved => ModeChoice::Interleaved,
            ModeArg::Sequential => ModeChoice::Sequential,
        }
    }
}

/// `--layouts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LayoutsArg {
    /// Whatever both versions have lies at the same address in both
    Matched,
    /// Each in an order of its own
    Random,
}

impl From<LayoutsArg> for LayoutChoice {
    fn from(layouts: LayoutsArg) -> Self {
        match layouts {
            LayoutsArg::Matched => LayoutChoice::Matched,
            LayoutsArg::Random => LayoutChoice::Random,
        }
    }
}

/// Reads `3%` or `0.03`.
///
/// # Errors
/// In words, when it is neither.
pub fn parse_fraction(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let (digits, scale) = text.strip_suffix('%').map_or((text, 1.0), |digits| (digits, 100.0));
    match digits.trim().parse::<f64>() {
        // `3` for `3%` would be 300 % and swallow every change.
        Ok(value) if scale == 1.0 && value >= 1.0 => Err(format!("did you mean `{text}%`?")),
        Ok(value) if value.is_finite() => Ok(value / scale),
        _ => Err("give a percentage like `3%` or a fraction like `0.03`".into()),
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
    fn help_states_the_defaults_that_core_has() {
        let mut command = Cli::command();
        let help = command.find_subcommand_mut("compare").unwrap().render_long_help().to_string();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for stated in [
            format!("[default: {}, with one build {}]", defaults::BUILDS + defaults::DOUBLED_UNITS, defaults::UNITS),
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

    #[test]
    fn fractions_in_both_spellings() {
        assert_eq!(parse_fraction("3%"), Ok(0.03));
        assert_eq!(parse_fraction(" 0.5 % "), Ok(0.005));
        assert_eq!(parse_fraction("0.03"), Ok(0.03));
        assert!(parse_fraction("lots").is_err());
        assert!(parse_fraction("nan").is_err());
        assert_eq!(parse_fraction("3"), Err("did you mean `3%`?".into()));
        assert_eq!(parse_fraction("300%"), Ok(3.0));
    }
}
