//! `duet waive`: accept a slowdown.

use duetbench_core::Report;
use duetbench_core::gate::{Breach, Found, Gate, Waiver};
use duetbench_core::report::BenchmarkReport;
use duetbench_core::reported::ReportedMetric;
use duetbench_core::spec::Metric;
use duetbench_run::store::Store;

use super::Context;
use crate::args::WaiveArgs;
use crate::assemble;
use crate::failure::{Failure, code};
use crate::gate::{WaiverFile, percent, today};
use crate::project::policy_dir;

/// Writes a waiver for what a stored run found.
///
/// # Errors
/// When the run did not find it, the day is over, or the file cannot be understood or written.
pub fn run(args: &WaiveArgs, context: &Context) -> Result<u8, Failure> {
    if args.expires < today() {
        return Err(Failure::usage(format!("`--expires {}` is over already: it is {}", args.expires, today())));
    }
    let stored = Store::open_to_read(&context.db())?.load(&args.run)?.comparison()?;
    let report = assemble::report(stored);
    let breach = found(&report, args)?;
    let ceiling = args.ceiling.unwrap_or_else(|| possible(&report, &breach));
    if breach.change > ceiling {
        let (change, ceiling) = (percent(breach.change), percent(ceiling));
        return Err(Failure::usage(format!(
            "it got worse by {change} in `{}`, more than `--ceiling {ceiling}`",
            report.run
        )));
    }
    let waiver = Waiver {
        benchmark: breach.id.to_string(),
        metric: breach.metric.clone(),
        ceiling,
        expires: args.expires,
        reason: args.reason.clone(),
        link: args.link.clone(),
    };
    let file = WaiverFile::read(&policy_dir(&context.cwd))?;
    file.add(&waiver)?;
    let (path, up_to) = (file.path.display(), percent(ceiling));
    context.printer.note(&format!("`{}` may be worse by {up_to} until {}: `{path}`", waiver.benchmark, waiver.expires));
    Ok(code::CLEAN)
}

/// The breach that the arguments name: the benchmark's metric that got worse.
fn found(report: &Report, args: &WaiveArgs) -> Result<Breach, Failure> {
    let metric = args.unit.clone().map_or_else(|| Metric::from(args.metric), Metric::Reported);
    let gate = Gate::decide(Found::of(report), report.spec.thresholds(), &[], today());
    let named = |breach: &&Breach| args.benchmark == breach.id.name || args.benchmark == breach.id.to_string();
    let mut all = gate.breaches.iter().filter(named).filter(|breach| breach.metric == metric);
    match (all.next(), all.next()) {
        (Some(breach), None) => Ok(breach.clone()),
        (Some(one), Some(other)) => Err(Failure::usage(format!(
            "`{}` is in several packages: name `{}` or `{}`",
            args.benchmark, one.id, other.id
        ))),
        (None, _) => Err(Failure::usage(format!(
            "the {} of `{}` did not get worse in `{}`, so there is nothing to accept; `--run` names another run",
            metric.word(),
            args.benchmark,
            report.run
        ))),
    }
}

/// The most by which it may really be worse, rounded up to a whole percent: the end of the interval of a time or unit, a count as it is.
fn possible(report: &Report, breach: &Breach) -> f64 {
    let judged = || report.benchmarks.iter().find(|one| one.id == breach.id).and_then(BenchmarkReport::judged);
    let reported = |unit: &String| report.reported.iter().find(|one| one.id == breach.id && one.unit == *unit);
    let end: Option<f64> = match &breach.metric {
        Metric::Time => judged().map(|judged| judged.interval.high - 1.0),
        Metric::Reported(unit) => reported(unit).and_then(ReportedMetric::worse_by_at_most),
        Metric::Allocs | Metric::Bytes => None,
    };
    // Fresh trials may show more than the first ones did.
    let most = end.unwrap_or(breach.change).max(breach.change);
    // A hair less, so that 8 % computed as 8.000000001 % stays 8 %.
    (100.0 * most - 1e-9).ceil() / 100.0
}
