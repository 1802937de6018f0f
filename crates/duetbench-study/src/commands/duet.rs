//! `duet-study duet`: the duet paper's widths, on stored comparisons.

use duetbench_cli::assemble;
use duetbench_cli::commands::{Context, check_fractions};
use duetbench_cli::failure::{Failure, code};
use duetbench_core::Report;
use duetbench_core::report::VersionInfo;
use duetbench_core::stats::Interval;
use duetbench_run::RunError;
use duetbench_run::store::{RunHead, Store, StoredRun};

use super::elastibench::is_same;
use super::files;
use crate::args::{DrawnForks, DuetStudyArgs};
use crate::papers::duet::{PairedRun, Procedure, RunWidths};
use crate::render::duet::{DuetStudy, Samples, StudiedRun, document, figures, tables};
use crate::stored;

/// Studies stored comparisons and prints what their pairs are worth.
///
/// # Errors
/// When there is no such run, it is no comparison, has no benchmark with enough pairs, or something cannot be written.
pub fn run(args: &DuetStudyArgs, context: &Context) -> Result<u8, Failure> {
    check(args, context)?;
    let procedure = Procedure {
        confidence: args.confidence,
        forks: match args.forks {
            DrawnForks::All => None,
            DrawnForks::Number(number) => Some(number),
        },
        winsorise: Procedure::PAPER.winsorise.filter(|_| !args.no_winsorise),
        seed: args.seed,
    };
    let store = Store::open_to_read(&context.db())?;
    let mut making = Making { procedure, samples: args.samples.as_deref(), warnings: Vec::new(), drawn: Vec::new() };
    let runs = args.runs.iter().map(|name| making.studied(store.load(name)?.comparison()?));
    let runs: Vec<StudiedRun> = runs.collect::<Result<_, Failure>>()?;
    let Making { warnings, drawn, .. } = making;
    check_samples(args, &drawn)?;
    let study = DuetStudy { duet_version: env!("CARGO_PKG_VERSION").to_owned(), procedure, runs, warnings };
    if let Some(dir) = &args.out {
        let figures = figures(&study, &drawn).map_err(|e| std::io::Error::other(format!("a figure: {e}")))?;
        files::write(dir, context, tables(&study, &drawn).into_iter().chain(figures))?;
    }
    context.printer.document(&document(&study))?;
    Ok(code::CLEAN)
}

fn check(args: &DuetStudyArgs, context: &Context) -> Result<(), Failure> {
    context.check_form("what a study finds")?;
    check_fractions(&[("confidence", args.confidence)])
}

fn check_samples(args: &DuetStudyArgs, drawn: &[Samples]) -> Result<(), Failure> {
    match &args.samples {
        Some(wanted) if drawn.is_empty() => Err(RunError::nothing_to_measure(format!(
            "no run has paired iterations of a benchmark `{wanted}`, as `--samples` asks"
        ))
        .hint(format!("`duet-study duet {}` lists the names", args.runs.join(" ")))
        .into()),
        _ => Ok(()),
    }
}

/// A study that is being made.
struct Making<'a> {
    procedure: Procedure,
    /// Benchmark whose single iterations are wanted.
    samples: Option<&'a str>,
    warnings: Vec<String>,
    drawn: Vec<Samples>,
}

impl Making<'_> {
    fn studied(&mut self, mut run: StoredRun<RunHead>) -> Result<StudiedRun, Failure> {
        let paired = stored::paired(&run);
        let widths = self.procedure.study(&paired);
        if widths.measured.is_empty() {
            return Err(nothing(&widths));
        }
        self.warn(&run);
        self.drawn.extend(self.samples.and_then(|wanted| samples(&paired, wanted)));
        let RunHead { baseline, candidate, .. } = &run.head;
        let same = is_same(baseline, candidate);
        let versions = [baseline, candidate].map(|version: &VersionInfo| version.requested.clone());
        run.head.spec.decision.alpha = 1.0 - self.procedure.confidence;
        let report = assemble::report(run);
        let widths = widths.with_own(|benchmark| own(&report, benchmark));
        let resampled = same.then(|| self.procedure.resampled(&widths)).flatten();
        Ok(StudiedRun { widths, versions, same, resampled })
    }

    /// Says what may be wrong with a run for this.
    fn warn(&mut self, run: &StoredRun<RunHead>) {
        if !run.complete {
            self.warnings.push(format!("`{}` did not come to its end, so benchmarks lack fork pairs", run.name));
        }
        let designs = || run.head.plan.benchmarks.iter().map(|planned| planned.configuration.design);
        if designs().any(|design| design.by_build && design.forks() > design.units) {
            self.warnings.push(format!(
                "in `{}` several fork pairs share a build pair, so they are not as independent as the paper's interval takes them for",
                run.name
            ));
        }
    }
}

/// The interval that duet gives for a benchmark.
fn own(report: &Report, benchmark: &str) -> Option<Interval> {
    let found = report.benchmarks.iter().find(|b| b.id.to_string() == benchmark)?;
    found.estimate.map(|estimate| Interval { low: estimate.ratio_low, high: estimate.ratio_high })
}

/// The single iterations of the benchmark that is called so: with its package, or by its name alone, with or without `Benchmark`.
fn samples(run: &PairedRun, wanted: &str) -> Option<Samples> {
    let called = |name: &str| {
        let rest = name.strip_suffix(wanted)?;
        Some(rest.is_empty() || rest.ends_with('.') || rest.ends_with(".Benchmark"))
    };
    let found = run.benchmarks.iter().find(|b| !b.forks.is_empty() && called(&b.benchmark) == Some(true))?;
    Some(Samples { run: run.name.clone(), benchmark: found.benchmark.clone(), forks: found.forks.clone() })
}

/// Why a run cannot be studied at all.
fn nothing(widths: &RunWidths) -> Failure {
    let reason =
        widths.left_out.first().map_or_else(String::new, |out| format!(" ({}: {})", out.benchmark, out.reason));
    let what = format!("no benchmark of `{}` has three fork pairs of paired iterations{reason}", widths.run);
    let hint = "`duet compare --mode duet --forks 10 --fixed` gives each benchmark ten";
    RunError::nothing_to_measure(what).hint(hint).into()
}
