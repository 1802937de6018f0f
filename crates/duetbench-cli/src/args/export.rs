//! `duet export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use duetbench_formats::export::Form;

pub(super) const EXAMPLES: &str = "\
What the form cannot hold is named on standard error, as a warning. Exit codes: 0 written, 1 nothing that the form can hold, or unreadable,
2 usage.
Examples:
  duet export latest --as bmf | bencher run --adapter json …
  duet export r12 --as parquet -o r12.parquet
                                     every sample with all that is known of it, for notebooks
  duet export r12 --as benchstat-csv --side both
  duet export jmh-result.json --as pyperf -o result.json
  duet export r12 --as criterion -o target/criterion";

/// `duet export`. Typed only: what is written is never the same twice.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The data to write: a run, as `r12` or `latest`, or a result file of another tool
    pub source: PathBuf,
    /// The form
    #[arg(long = "as", value_name = "FORM", value_enum)]
    pub form: FormArg,
    /// The version of a comparison [default: candidate; of parquet both]
    #[arg(long, value_enum)]
    pub side: Option<SideArg>,
}

/// `--as`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormArg {
    /// Go benchmark text, a line for each value
    Go,
    /// As `benchstat -format csv`: one value for each benchmark, with an interval
    BenchstatCsv,
    /// JMH's JSON
    Jmh,
    /// Google Benchmark's JSON
    GoogleBenchmark,
    /// criterion's folder; needs `--output DIR`
    Criterion,
    /// pytest-benchmark's JSON
    PytestBenchmark,
    /// pyperf's JSON
    Pyperf,
    /// hyperfine's JSON
    Hyperfine,
    /// CSV of `pa`
    Pa,
    /// CSV of the µOpTime study
    Papers,
    /// Bencher Metric Format: one value for each benchmark, with an interval
    Bmf,
    /// github-action-benchmark's own JSON, likewise
    GithubActionBenchmark,
    /// Parquet: of stored runs every sample
    Parquet,
}

impl From<FormArg> for Form {
    fn from(form: FormArg) -> Form {
        match form {
            FormArg::Go => Form::Go,
            FormArg::BenchstatCsv => Form::BenchstatCsv,
            FormArg::Jmh => Form::Jmh,
            FormArg::GoogleBenchmark => Form::GoogleBenchmark,
            FormArg::Criterion => Form::Criterion,
            FormArg::PytestBenchmark => Form::PytestBenchmark,
            FormArg::Pyperf => Form::Pyperf,
            FormArg::Hyperfine => Form::Hyperfine,
            FormArg::Pa => Form::Pa,
            FormArg::Papers => Form::Papers,
            FormArg::Bmf => Form::Bmf,
            FormArg::GithubActionBenchmark => Form::GithubActionBenchmark,
            FormArg::Parquet => Form::Parquet,
        }
    }
}

/// `--side`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SideArg {
    /// The version compared against
    Baseline,
    /// The version under test
    Candidate,
    /// Both beside each other
    Both,
}
