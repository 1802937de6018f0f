//! `duet tune`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use duetbench_core::recording::Level;
use duetbench_core::tune::Metric;

use crate::options::Setting;

pub(super) const EXAMPLES: &str = "\
Exit codes: 0 tuned, also where some benchmarks are not stable even in full; 1 nothing could be read or tuned; 2 usage.
Examples:
  duet tune                          how few repetitions the last `duet run` would have needed; writes duet-plan.toml
  duet tune r12 --metric cv --threshold 2%
  duet tune results.json --warmup 10
                                     JMH's JSON, its first ten iterations of every fork left out
  duet tune old.txt --plan-file duet-plan.toml
                                     from the output of `go test -bench . -count 20`
  duet tune prometheus-v0.39.0.csv --metric all";

/// `duet tune`. Typed only: what it learns is in the plan it writes.
#[derive(Debug, Args)]
pub struct TuneArgs {
    /// A run, as `r12` or `latest`, or result files of other tools: Go benchmark text, JSON of JMH, hyperfine, pyperf, pytest-benchmark or
    /// Google Benchmark, a folder of criterion, CSV of benchstat, µOpTime or pa
    #[arg(default_value = "latest", value_name = "RUN|FILE")]
    pub from: Vec<PathBuf>,
    /// The measure that has to be small: CV, RMAD, or the width of the interval of the mean (rciw1, rciw2) or the median (rciw3)
    #[arg(long, value_enum, default_value = "rciw3")]
    pub metric: MetricArg,
    /// Largest value of it that is stable
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = f64::parse)]
    pub threshold: f64,
    /// Confidence of the intervals behind rciw1, rciw2, rciw3
    #[arg(long, value_name = "PERCENT", default_value = "99%", value_parser = f64::parse)]
    pub confidence: f64,
    /// Levels to reduce, and no others: instance, suite_run, fork, iteration, second
    #[arg(long, value_name = "LEVEL", value_delimiter = ',', value_parser = parse_level, conflicts_with = "keep")]
    pub levels: Vec<Level>,
    /// Level that is not reduced, may be repeated
    #[arg(long, value_name = "LEVEL", value_delimiter = ',', default_value = "instance", value_parser = parse_level)]
    pub keep: Vec<Level>,
    /// Take the first N iterations of every fork for warm-up: left out of the values, paid for in the times; `auto` finds N for each
    /// benchmark [default: auto where a harness warms up, as JMH does; else 0]
    #[arg(long, value_name = "N|auto", value_parser = parse_warm_up)]
    pub warmup: Option<WarmUpArg>,
    /// Write the plan here [default: duet-plan.toml when tuning from a run, none when from files]
    #[arg(long, value_name = "FILE")]
    pub plan_file: Option<PathBuf>,
    /// Say which benchmarks of the plan the run shows to be stale, and tune only those again, by the rules that it was learnt by
    #[arg(long, conflicts_with_all = ["metric", "threshold", "confidence", "levels", "keep", "warmup"])]
    pub check: bool,
    /// With `--check`, leave the plan as it is; the exit code is 1 where something is stale
    #[arg(long, requires = "check")]
    pub no_write: bool,
}

impl TuneArgs {
    /// The levels that are not reduced.
    pub fn kept(&self) -> Vec<Level> {
        if self.levels.is_empty() {
            return self.keep.clone();
        }
        Level::ALL.into_iter().filter(|level| !self.levels.contains(level)).collect()
    }
}

/// `--warmup`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarmUpArg {
    /// The finding for each benchmark.
    Auto,
    /// So many iterations of every fork.
    Iterations(usize),
}

/// Reads a number of iterations or `auto`.
fn parse_warm_up(text: &str) -> Result<WarmUpArg, String> {
    match text.trim() {
        "auto" => Ok(WarmUpArg::Auto),
        number => number.parse().map(WarmUpArg::Iterations).map_err(|_| "a number of iterations, or `auto`".into()),
    }
}

/// `--metric`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MetricArg {
    /// Coefficient of variation
    Cv,
    /// Relative median absolute deviation
    Rmad,
    /// Relative width of the percentile interval of the mean
    Rciw1,
    /// Relative width of the t-interval of the mean
    Rciw2,
    /// Relative width of the percentile interval of the median
    Rciw3,
    /// All five beside each other
    All,
}

impl MetricArg {
    /// The metrics that are meant.
    pub fn metrics(self) -> Vec<Metric> {
        match self {
            MetricArg::Cv => vec![Metric::Cv],
            MetricArg::Rmad => vec![Metric::Rmad],
            MetricArg::Rciw1 => vec![Metric::Rciw1],
            MetricArg::Rciw2 => vec![Metric::Rciw2],
            MetricArg::Rciw3 => vec![Metric::Rciw3],
            MetricArg::All => Metric::ALL.to_vec(),
        }
    }
}

/// Reads the word of a level; `suite-run` is as good as `suite_run`.
///
/// # Errors
/// In words, when there is no such level.
fn parse_level(text: &str) -> Result<Level, String> {
    Level::from_word(&text.trim().replace('-', "_"))
        .ok_or_else(|| format!("a level is one of {}", Level::ALL.map(Level::word).join(", ")))
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::args::{Cli, Command};

    #[track_caller]
    fn tune(line: &str) -> TuneArgs {
        let words = ["duet", "tune"].into_iter().chain(line.split_whitespace());
        match Cli::try_parse_from(words).unwrap().command {
            Command::Tune(args) => args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_not_to_be_reduced_is_kept() {
        let check = |line, want: &[Level]| assert_eq!(tune(line).kept(), want, "{line}");
        check("", &[Level::Instance]);
        check("--keep fork", &[Level::Fork]);
        check("--keep instance --keep suite-run", &[Level::Instance, Level::SuiteRun]);
        check("--levels fork,iteration", &[Level::Instance, Level::SuiteRun, Level::Second]);
    }

    #[test]
    fn levels_to_reduce_and_levels_to_keep_exclude_each_other() {
        let words = ["duet", "tune", "--levels", "fork", "--keep", "iteration"];
        assert!(Cli::try_parse_from(words).is_err());
        assert!(Cli::try_parse_from(["duet", "tune", "--levels", "process"]).is_err());
    }

    #[test]
    fn warm_up_is_a_number_or_is_found() {
        assert_eq!(tune("--warmup 10").warmup, Some(WarmUpArg::Iterations(10)));
        assert_eq!(tune("--warmup auto").warmup, Some(WarmUpArg::Auto));
        assert!(Cli::try_parse_from(["duet", "tune", "--warmup", "some"]).is_err());
    }

    #[test]
    fn help_names_every_tool_whose_files_are_read() {
        let written_alone = ["bmf", "github-action-benchmark", "parquet"];
        let mut command = Cli::command();
        let help = command.find_subcommand_mut("tune").unwrap().render_long_help().to_string().to_lowercase();
        for tool in duetbench_formats::TOOLS.iter().filter(|tool| !written_alone.contains(&tool.name)) {
            let words = if tool.name == "papers" { "µoptime" } else { tool.name };
            assert!(words.split('-').all(|word| help.contains(word)), "{}", tool.name);
        }
    }

    #[test]
    fn defaults_are_those_of_the_paper() {
        let args = tune("");
        assert_eq!((args.threshold, args.confidence, args.warmup), (0.01, 0.99, None));
        assert_eq!(args.metric.metrics(), [Metric::Rciw3]);
    }
}
