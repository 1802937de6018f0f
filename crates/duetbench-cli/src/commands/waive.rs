//! `duet waive`: accept a slowdown.

use duetbench_core::gate::{Breach, Gate, Standing, Waiver};
use duetbench_core::report::BenchmarkReport;
use duetbench_core::spec::Metric;
use duetbench_core::{BenchmarkId, Report};
use duetbench_run::store::Store;

use super::Context;
use crate::args::WaiveArgs;
use crate::assemble;
use crate::failure::{Failure, code};
use crate::gate::{WaiverFile, in_days, today};
use crate::project::policy_dir;
use crate::render::command_line::show;
use crate::render::format::{one_line, short_name};
use crate::render::waiver::{exact_percent, percent};

/// Least likeness of a name to the one that was typed to be offered instead, of 1; and most of them that are.
const ALIKE_MIN: f64 = 0.6;
const ALIKE_MAX: usize = 3;

/// Writes a waiver for what a stored run found.
///
/// # Errors
/// When the run did not find it, the day is over, or the file cannot be understood or written.
pub fn run(args: &WaiveArgs, context: &Context) -> Result<u8, Failure> {
    let expires = args.expires.unwrap_or_else(|| in_days(args.days.unwrap_or_default()));
    if expires < today() {
        return Err(Failure::usage(format!("`--expires {expires}` is over already: it is {}", today())));
    }
    let stored = Store::open_to_read(&context.db())?.load(&args.run)?.comparison()?;
    let report = Report { typed: context.settings.typed(), ..assemble::report(stored) };
    let breach = found(&report, args)?;
    if breach.change.is_infinite() {
        let said = format!(
            "the {} of `{}` grew from nothing, or fell to nothing, which no ceiling holds",
            breach.metric.word(),
            args.benchmark
        );
        return Err(Failure::usage(said).hint("a rule in `duet.toml` with `action = \"inform\"` lets it pass"));
    }
    let ceiling = args.ceiling.unwrap_or_else(|| report.ceiling_of(&breach));
    if breach.exceeds(ceiling) {
        let (change, ceiling) = (percent(breach.change), percent(ceiling));
        return Err(Failure::usage(format!(
            "it got worse by up to {change} in `{}`, more than `--ceiling {ceiling}`",
            report.run
        )));
    }
    let waiver = Waiver {
        benchmark: breach.id.to_string(),
        metric: breach.metric.clone(),
        ceiling,
        expires,
        reason: args.reason.clone(),
        link: args.link.clone(),
    };
    let file = WaiverFile::read(&policy_dir(&context.cwd))?;
    file.add(&waiver)?;
    let (path, up_to) = (file.path.display(), exact_percent(ceiling));
    context.printer.note(&format!("`{}` may be worse by {up_to} until {}: `{path}`", waiver.benchmark, waiver.expires));
    Ok(code::CLEAN)
}

/// The breach that the arguments name: the benchmark's metric that got worse, perhaps by an open size.
fn found(report: &Report, args: &WaiveArgs) -> Result<Breach, Failure> {
    let metric = args.unit.clone().map_or_else(|| Metric::from(args.metric), Metric::Reported);
    let gate = Gate::decide(report.found(), report.spec.thresholds(), &[], today());
    let meant = meant(report, &args.benchmark);
    if meant.is_empty() {
        return Err(unknown(report, &args.benchmark, "`--run` names"));
    }
    let of_open_size = report.found().of_open_size().map(|(id, metric, at_most)| Breach {
        id,
        metric,
        change: at_most,
        threshold: 0.0,
        standing: Standing::Fails,
    });
    let is_meant = |breach: &Breach| breach.metric == metric && meant.iter().any(|one| one.id == breach.id);
    let mut all: Vec<Breach> = gate.breaches.into_iter().filter(is_meant).collect();
    if all.is_empty() {
        all.extend(of_open_size.filter(is_meant));
    }
    let mut all = all.into_iter();
    match (all.next(), all.next()) {
        (Some(breach), None) => Ok(breach),
        (Some(one), Some(other)) => Err(ambiguous(&args.benchmark, [&one.id, &other.id])),
        (None, _) => Err(Failure::usage(format!(
            "the {} of `{}` did not get worse in `{}`, so there is nothing to accept; `--run` names another run",
            metric.word(),
            args.benchmark,
            report.run
        ))),
    }
}

/// The benchmarks that a name means.
pub(super) fn meant<'a>(report: &'a Report, name: &str) -> Vec<&'a BenchmarkReport> {
    let all: Vec<&BenchmarkId> = report.benchmarks.iter().map(|one| &one.id).collect();
    let meant = BenchmarkId::meant(name, &all);
    report.benchmarks.iter().filter(|one| meant.contains(&&one.id)).collect()
}

/// The error for a name of several benchmarks.
pub(super) fn ambiguous(name: &str, [one, other]: [&BenchmarkId; 2]) -> Failure {
    Failure::usage(format!("`{name}` may be several benchmarks: name `{one}` or `{other}`"))
}

/// The error for a name that no benchmark of the run has, with those that are like it, or else the words for choosing another run.
pub(super) fn unknown(report: &Report, name: &str, other: &str) -> Failure {
    let alike = |id: &BenchmarkId| {
        let short = short_name(&id.name);
        let [plain, typed] = [&short, &short_name(name)].map(|name| name.to_lowercase());
        let within = !typed.is_empty() && plain.contains(&typed);
        (if within { 1.0 } else { strsim::normalized_damerau_levenshtein(&plain, &typed) }, short)
    };
    let mut near: Vec<(f64, String)> = report.benchmarks.iter().map(|one| alike(&one.id)).collect();
    near.retain(|(likeness, _)| *likeness >= ALIKE_MIN);
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let names: Vec<String> = near.iter().take(ALIKE_MAX).map(|(_, name)| format!("`{}`", one_line(name))).collect();
    Failure::usage(format!("there is no benchmark `{name}` in `{}`", report.run)).hint(match names.as_slice() {
        [] => format!("`{}` has their names, and {other} another run", show(report)),
        _ => format!("did you mean {}?", names.join(" or ")),
    })
}
