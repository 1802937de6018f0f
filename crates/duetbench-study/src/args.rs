//! Arguments of `duet-study`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use duetbench_cli::args::MetricArg;
use duetbench_cli::options::{Setting, ShowArgs};

use crate::papers::cloud;
use crate::papers::uoptime::Compat;

/// Tables and figures of the papers behind duet, on your data.
///
/// Runs are those that `duet` stored. What is shown, how, and from which store is set as for `duet`.
#[derive(Debug, Parser)]
#[command(name = "duet-study", version, max_term_width = 110, args_override_self = true)]
pub struct Cli {
    /// The study.
    #[command(subcommand)]
    pub study: Study,
    /// Output.
    #[command(flatten)]
    pub show: ShowArgs,
}

/// The studies.
#[derive(Debug, Subcommand)]
pub enum Study {
    /// The four research questions of the µOpTime paper, on a folder of result files.
    #[command(after_help = UOPTIME_EXAMPLES)]
    Uoptime(UoptimeArgs),
    /// The configurations that µOpTime chooses for every benchmark by every metric, on result files.
    #[command(after_help = CHOICES_HELP)]
    Choices(ChoicesArgs),
    /// ElastiBench's own statistics, on stored comparisons.
    #[command(after_help = ELASTIBENCH_HELP)]
    Elastibench(ElastibenchArgs),
    /// The duet paper's interval widths, on stored comparisons: what pairing is worth on this machine.
    #[command(after_help = DUET_HELP)]
    Duet(DuetStudyArgs),
    /// "How bad is it really": variability, false alarms and detectable regressions by environment, after Laaber's study of clouds.
    #[command(after_help = CLOUD_HELP)]
    Cloud(CloudArgs),
}

const UOPTIME_EXAMPLES: &str = "\
Files are found in all folders below DIR. Their names are `project-version.csv`; files of one project in one folder are its versions,
in natural order. A leading `laaber_` and a trailing `-jmh121` belong to neither.
Examples:
  duet-study uoptime results/
  duet-study uoptime results/ --out tables/
                                     also rq1.csv to rq4.csv, and figures
  duet-study uoptime results/ --rq rq4 --compat paper-code
                                     what the published code finds";

/// `duet-study uoptime`. Typed only.
#[derive(Debug, Args)]
pub struct UoptimeArgs {
    /// Folder with result files, one per version: `project-version.csv`
    pub dir: PathBuf,
    /// Only these questions, may be repeated [default: all]
    #[arg(long, value_enum, value_name = "RQ", value_delimiter = ',')]
    pub rq: Vec<Question>,
    /// Also write tables as CSV and figures as SVG into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Iterations at the start of every fork that are removed as warm-up for the third question
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub warmup: u32,
    /// Largest value of a metric that is stable
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = f64::parse)]
    pub threshold: f64,
    /// Confidence of the intervals
    #[arg(long, value_name = "PERCENT", default_value = "99%", value_parser = f64::parse)]
    pub confidence: f64,
    /// Smallest relevant performance change
    #[arg(long, value_name = "PERCENT", default_value = "3%", value_parser = f64::parse)]
    pub relevant: f64,
    /// Source of the random baseline; `paper-code` has its own
    #[arg(long, value_name = "N", default_value_t = 42)]
    pub seed: u64,
    /// Author of the rules, where the paper and its published code differ
    #[arg(long, value_enum, default_value = "paper")]
    pub compat: CompatArg,
}

/// `--compat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompatArg {
    /// The paper's
    Paper,
    /// Those of its published code
    PaperCode,
}

impl From<CompatArg> for Compat {
    fn from(compat: CompatArg) -> Self {
        match compat {
            CompatArg::Paper => Compat::Paper,
            CompatArg::PaperCode => Compat::PaperCode,
        }
    }
}

const CHOICES_HELP: &str = "\
`duet tune` chooses by the rules of the paper. This is the same by those of its code, as CSV.
Exit codes: 0 done, 1 a file cannot be read, 2 usage.
Examples:
  duet-study choices zap-v1.22.0.csv
  duet-study choices --compat paper *.csv
  duet-study choices --answers answers.csv *.csv
                                     also in the form of the published results";

/// `duet-study choices`. Typed only.
#[derive(Debug, Args)]
pub struct ChoicesArgs {
    /// Result files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Author of the rules, where the paper and its published code differ
    #[arg(long, value_enum, default_value = "paper-code")]
    pub compat: CompatArg,
    /// The measure that has to be small
    #[arg(long, value_enum, value_name = "METRIC", default_value = "all")]
    pub metric: MetricArg,
    /// Largest value of a metric that is stable
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = f64::parse)]
    pub threshold: f64,
    /// Confidence of the intervals
    #[arg(long, value_name = "PERCENT", default_value = "99%", value_parser = f64::parse)]
    pub confidence: f64,
    /// Iterations at the start of every fork that are taken for warm-up
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub warmup: usize,
    /// Write what every metric chooses also in the form of the published results, which cut the warm-up themselves
    #[arg(long, value_name = "FILE", conflicts_with = "warmup")]
    pub answers: Option<PathBuf>,
}

/// The research questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Question {
    /// Time saved, and accuracy
    Rq1,
    /// Differences between metrics
    Rq2,
    /// Warm-up removed
    Rq3,
    /// Performance changes found
    Rq4,
}

impl UoptimeArgs {
    /// Whether a question is to be answered.
    pub fn asks(&self, question: Question) -> bool {
        self.rq.is_empty() || self.rq.contains(&question)
    }
}

const ELASTIBENCH_HELP: &str = "\
A stored comparison is an experiment: every fork pair gives one result, the relative difference of
its mean times. With at least ten results a benchmark has changed if the 99 % bootstrap interval of
their median does not hold 0. All results are pooled, so what a machine or a build does to several
of them at once is not in the interval; the verdicts of `duet compare` know it.
Benchmarks that are settled end early and then have few results: `duet compare --forks 45 --fixed`
gives each as many as the paper.
Exit codes: 0 done, 1 no such run or no benchmark with enough results, 2 usage or no comparison.
Examples:
  duet-study elastibench changes r12         the paper's procedure beside duet's verdicts
  duet-study elastibench agreement r12 r13   whether two experiments agree
  duet-study elastibench repetitions r12 --reference r13
                                             results until intervals are as narrow as in r13
  duet-study elastibench repetitions r12 --width 5%
  duet-study elastibench aa r14              what is called changed where nothing is";

/// `duet-study elastibench`. Typed only.
#[derive(Debug, Args)]
pub struct ElastibenchArgs {
    /// The question.
    #[command(subcommand)]
    pub question: ElastibenchQuestion,
    /// Confidence of the intervals
    #[arg(long, value_name = "PERCENT", default_value = "99%", value_parser = f64::parse, global = true)]
    pub confidence: f64,
}

/// Questions to stored comparisons.
#[derive(Debug, Subcommand)]
pub enum ElastibenchQuestion {
    /// Whether two experiments agree: agree, disagree or possible change, and whose medians lie in the other's intervals (6.2.2, Fig. 6)
    Agreement(AgreementArgs),
    /// After how many results an interval is narrow enough (6.2.7, Fig. 7)
    Repetitions(RepetitionsArgs),
    /// Benchmarks that are called changed in a run of one version against itself (6.2.1, Fig. 4)
    Aa(ExperimentArgs),
    /// Findings of the paper's procedure, beside duet's verdicts (6.2.2, Fig. 5)
    Changes(ExperimentArgs),
}

/// A single experiment.
#[derive(Debug, Args)]
pub struct ExperimentArgs {
    /// The run, as `r12`
    #[arg(default_value = "latest")]
    pub run: String,
}

/// `duet-study elastibench agreement`.
#[derive(Debug, Args)]
pub struct AgreementArgs {
    /// The first run, as `r12`
    pub first: String,
    /// The second run
    pub second: String,
}

/// `duet-study elastibench repetitions`.
#[derive(Debug, Args)]
#[group(skip)]
#[command(group(ArgGroup::new("target").required(true)))]
pub struct RepetitionsArgs {
    /// The run, as `r12`
    pub run: String,
    /// No wider than the same benchmark's interval in this run; only benchmarks whose two intervals have a value in common
    #[arg(long, value_name = "RUN", group = "target")]
    pub reference: Option<String>,
    /// No wider than this
    #[arg(long, value_name = "PERCENT", value_parser = f64::parse, group = "target")]
    pub width: Option<f64>,
}

const DUET_HELP: &str = "\
Of every benchmark four intervals are compared, by their relative width:
  paired    the paper's: geometric mean of ratios of paired iterations, resampled over fork pairs
  shuffled  the same, but each candidate's fork meets the baseline's of any fork pair
  standard  of the difference of means, each side for itself, by the mean of all times
  own       the interval of `duet show`, at the same confidence
How many times wider than paired ones the shuffled are is what interference that hits both sides
at once is worth here: about 1 on an idle machine. With few fork pairs the paper's interval misses
the truth much more often than it says; how often stands beside it.
Any comparison will do. One of a version against itself shows how often intervals really miss 1.
Iterations have no partner in sequential mode; such benchmarks are left out, and named.
Exit codes: 0 done, 1 no such run or nothing to study, 2 usage or no comparison.
Examples:
  duet-study duet                    the last run
  duet-study duet r12 r13            say, an idle machine and a busy one (Fig. 5)
  duet-study duet r12 --forks all    of all fork pairs instead of ten drawn ones
  duet-study duet r12 --out study/   also tables as CSV and figures as SVG
  duet-study duet r12 --out study/ --samples Encode
                                     also single iterations of one benchmark, both sides (Fig. 3)
  duet compare HEAD HEAD --measure-identical --mode duet --forks 20 --fixed
                                     makes a run of one version against itself";

/// `duet-study duet`. Typed only.
#[derive(Debug, Args)]
pub struct DuetStudyArgs {
    /// Stored comparisons, as `r12`
    #[arg(value_name = "RUN", default_value = "latest")]
    pub runs: Vec<String>,
    /// Fork pairs to draw of each benchmark's, what the paper calls runs; `all` takes all
    #[arg(long, visible_alias = "runs", value_name = "N", default_value = "10", value_parser = parse_forks)]
    pub forks: DrawnForks,
    /// Confidence of the intervals
    #[arg(long, value_name = "PERCENT", default_value = "99%", value_parser = f64::parse)]
    pub confidence: f64,
    /// Keep outliers; the paper replaces at most one in a fork, where it lies a fifth of the others' range outside
    #[arg(long)]
    pub no_winsorise: bool,
    /// Draws and shuffles
    #[arg(long, value_name = "N", default_value_t = 42)]
    pub seed: u64,
    /// Also write tables as CSV and figures as SVG into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Also write all iterations of this benchmark, and a figure of them
    #[arg(long, value_name = "BENCHMARK", requires = "out")]
    pub samples: Option<String>,
}

/// Number of fork pairs that are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawnForks {
    /// All that there are.
    All,
    /// So many.
    Number(usize),
}

/// Fork pairs to draw, as they are typed.
fn parse_forks(text: &str) -> Result<DrawnForks, String> {
    match (text, text.parse()) {
        ("all", _) => Ok(DrawnForks::All),
        (_, Ok(number)) if number >= 3 => Ok(DrawnForks::Number(number)),
        _ => Err("neither `all` nor a number from 3 on".to_owned()),
    }
}

const CLOUD_HELP: &str = "\
An environment is what the paper calls an instance type: machines that are meant to be alike. Each
is a result file, or several of the same name: CSV of `pa` says which instance every value is of; a
file or a stored run (`r12`) without instances is one instance. Trials are suite runs.
What is asked of each benchmark and environment: how much it varies, and by which source
(instances, trials, values); how often a test finds a change where there is none, by number of
instances; which regression is the smallest that is found. Then environments are held against each
other.
Exit codes: 0 done, 1 a file cannot be read or holds nothing, 2 usage.
Examples:
  duet-study cloud m4.csv f2s.csv            two environments, named as their files
  duet-study cloud aws=m4-1.csv aws=m4-2.csv gce=n1.csv
                                             the first two are instances of one environment
  duet-study cloud ci=r12 ci=r13 ci=r14      three stored runs as three instances
  duet-study cloud m4.csv --out tables/      also every table as CSV, and figures";

/// `duet-study cloud`. Typed only.
#[derive(Debug, Args)]
pub struct CloudArgs {
    /// Environments: result files or stored runs, with a name in front if need be: `NAME=FILE`. Those of one name are joined
    #[arg(required = true, value_name = "[NAME=]FILE_OR_RUN")]
    pub environments: Vec<PathBuf>,
    /// Also write tables as CSV and figures as SVG into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Source of the random choices of instances and trials
    #[arg(long, value_name = "N", default_value_t = cloud::Settings::PAPER.seed)]
    pub seed: u64,
    /// Repetitions of every experiment
    #[arg(long, value_name = "N", default_value_t = cloud::Settings::PAPER.draws, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub draws: u32,
    /// Trials of each instance in the test group and as many in the control group, where both have the same instances
    #[arg(long, value_name = "N", default_value_t = cloud::Settings::PAPER.trials as u32, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub trials: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fork_pairs_are_a_number_or_all() {
        let check = |text: &str, want: Option<DrawnForks>| assert_eq!(parse_forks(text).ok(), want, "{text}");
        check("all", Some(DrawnForks::All));
        check("3", Some(DrawnForks::Number(3)));
        check("2", None);
        check("-1", None);
        check("many", None);
    }
}
