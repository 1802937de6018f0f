//! `duet export`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use duetbench_formats::{TOOLS, Tool, Writer, named};

use crate::options::Format;

pub(super) const EXAMPLES: &str = "\
What the form cannot hold is named on standard error, as a warning. Exit codes: 0 written, 1 nothing that the form can hold, or unreadable, \
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
    #[arg(long = "as", value_name = "FORM", value_parser = forms())]
    pub form: FormArg,
    /// The version of a comparison [default: head; of criterion and always of parquet both]
    #[arg(long, value_enum)]
    pub side: Option<SideArg>,
}

/// `--as`: a form that is written.
#[derive(Debug, Clone, Copy)]
pub struct FormArg {
    /// Its name.
    pub name: &'static str,
    /// The form and its details.
    pub writer: &'static Writer,
}

impl FormArg {
    fn of(tool: &'static Tool) -> Option<FormArg> {
        tool.writer.as_ref().map(|writer| FormArg { name: tool.name, writer })
    }
}

/// All forms that are written, by their names; who names a form of reports is told where it is.
fn forms() -> impl TypedValueParser<Value = FormArg> {
    let written = TOOLS.iter().filter(|tool| tool.writer.is_some());
    let values = written.map(|tool| PossibleValue::new(tool.name).help(tool.about));
    let of_reports = Format::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let of_reports = of_reports.filter(|form| named(form.get_name()).is_none()).map(|form| form.hide(true));
    let known = values.chain(of_reports).collect::<Vec<_>>();
    PossibleValuesParser::new(known).try_map(|name| {
        named(&name)
            .and_then(FormArg::of)
            .ok_or_else(|| format!("it is a form of reports: `duet show --format {name}` writes it"))
    })
}

/// `--side`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SideArg {
    /// The version compared against
    #[value(name = "base", alias = "baseline")]
    Baseline,
    /// The version under test
    #[value(name = "head", alias = "candidate")]
    Candidate,
    /// Both beside each other
    Both,
}
