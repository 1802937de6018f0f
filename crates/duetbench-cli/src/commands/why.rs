//! `duet why`: everything that a stored run knows about one change.

use duetbench_core::Report;
use duetbench_core::report::BenchmarkReport;
use duetbench_run::store::Store;

use super::Context;
use super::waive::{ambiguous, meant, unknown};
use crate::args::WhyArgs;
use crate::assemble;
use crate::failure::{Failure, code};
use crate::render::command_line::{quote, show};
use crate::render::why;
use crate::sites;

/// Prints what is known; nothing is measured.
///
/// # Errors
/// When there is no such run or benchmark, or nothing in it changed.
pub fn run(args: &WhyArgs, context: &Context) -> Result<u8, Failure> {
    let store = Store::open_to_read(&context.db())?;
    let report = assemble::with_stacks(context.report(&store, store.load(&args.run)?.comparison()?)?, &store);
    let benchmark = match &args.bench {
        Some(name) => match meant(&report, name)[..] {
            [one] => one,
            [one, other, ..] => return Err(ambiguous(name, [&one.id, &other.id])),
            [] => return Err(unknown(&report, name, "`duet why RUN BENCH` takes")),
        },
        None => largest(&report).ok_or_else(|| nothing(&report))?,
    };
    let site = sites::of(&report).benchmarks.remove(&benchmark.id).filter(|site| site.line.is_some());
    context.printer.document(&why::document(&report, benchmark, site.as_ref()))?;
    Ok(code::CLEAN)
}

/// The benchmark of the largest change that stops the whole, else the one whose time changed most.
fn largest(report: &Report) -> Option<&BenchmarkReport> {
    let stopping = report.stopping();
    let gravest = stopping.iter().max_by(|a, b| a.change.total_cmp(&b.change));
    let size = |b: &BenchmarkReport| b.change().map_or(0.0, |change| change.ln_1p().abs());
    let changed = || {
        let changed = report.benchmarks.iter().filter(|b| b.verdict.of_times().is_change());
        changed.max_by(|a, b| size(a).total_cmp(&size(b)))
    };
    gravest.map_or_else(changed, |breach| report.benchmark(&breach.id))
}

fn nothing(report: &Report) -> Failure {
    let (show, run, db) = (show(report), quote(&report.run), &report.typed.store);
    Failure::usage(format!("no benchmark of `{}` is known to have changed", report.run))
        .hint(format!("name one of those that `{show}` lists: `duet why {run} BENCH{db}`"))
}
