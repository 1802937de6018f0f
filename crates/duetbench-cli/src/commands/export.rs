//! `duet export`: a stored run or another tool's file, in another tool's form.

use std::collections::HashSet;
use std::path::Path;

use duetbench_core::recording::Recorded;
use duetbench_core::{Role, Sample, Trial};
use duetbench_formats::export::{self, About, Form, Origin, StoredSample, Written};
use duetbench_formats::import;
use duetbench_run::engine::TrialOutcome;
use duetbench_run::store::{Head, RunHead, SoloHead, Store, StoredRun};

use super::{Context, source};
use crate::args::{ExportArgs, SideArg};
use crate::assemble;
use crate::failure::{Failure, code};

/// Writes what was asked for in the chosen form, and says what that form could not hold.
///
/// # Errors
/// When there is no such run or file, the form can hold nothing of it, or it cannot be written.
pub fn run(args: &ExportArgs, context: &Context) -> Result<u8, Failure> {
    let form = Form::from(args.form);
    let written = match args.source.to_str().filter(|text| source::is_run(text)) {
        Some(run) => of_run(run, (form, args.side), context)?,
        None => of_file(&args.source, (form, args.side), context)?,
    };
    written.lost.iter().for_each(|lost| context.printer.warning(lost));
    context.printer.written(&written.content)?;
    Ok(code::CLEAN)
}

fn of_file(path: &Path, (form, side): (Form, Option<SideArg>), context: &Context) -> Result<Written, Failure> {
    if side.is_some() {
        return Err(Failure::usage(format!("`--side` is for comparisons, and `{}` is a file", path.display())));
    }
    let import::Imported { mut recording, beside, context: said } = import::read_whole(path)?;
    recording.warnings.iter().for_each(|warning| context.printer.warning(warning));
    let name = |recorded: &Recorded| (recorded.benchmark.clone(), recorded.unit.clone());
    let mut taken: HashSet<(String, String)> = recording.benchmarks.iter().map(name).collect();
    for import::Metric { name: metric, mut recorded } in beside {
        // Two counters of the same unit are told apart by their names.
        if !taken.insert(name(&recorded)) {
            recorded.unit = metric;
        }
        recording.benchmarks.push(recorded);
    }
    Ok(export::write(&recording, &About::of_file(&said), form)?)
}

fn of_run(run: &str, (form, side): (Form, Option<SideArg>), context: &Context) -> Result<Written, Failure> {
    let stored = Store::open_to_read(&context.db())?.load(run)?;
    match stored.head {
        Head::Solo(_) if side.is_some() => {
            Err(Failure::usage(format!("`--side` is for comparisons, and `{}` measured one version", stored.name)))
        }
        Head::Solo(_) if form == Form::Parquet => solo_samples(&stored.solo()?),
        Head::Solo(_) => of_version(&stored, (form, Role::Candidate), context),
        Head::Comparison(_) => of_comparison(stored, (form, side), context),
    }
}

fn of_comparison(
    stored: StoredRun,
    (form, side): (Form, Option<SideArg>),
    context: &Context,
) -> Result<Written, Failure> {
    match (form, side) {
        (Form::Parquet, None | Some(SideArg::Both)) => samples(&stored.comparison()?),
        (Form::Parquet, Some(_)) => Err(Failure::usage("Parquet holds both versions, told apart by the column `side`")),
        (Form::BenchstatCsv, Some(SideArg::Both)) => {
            let about = about(&stored, Role::Candidate);
            let sides = Role::BOTH.map(|role| stored.recording(role));
            Ok(export::both_as_benchstat([&sides[0], &sides[1]], &about)?)
        }
        (Form::Go, Some(SideArg::Both)) => {
            let show = format!("`duet show {} --format go`", stored.name);
            Err(Failure::usage(format!("as a recording Go benchmark text holds one version: {show} writes both")))
        }
        (_, Some(SideArg::Both)) => {
            Err(Failure::usage("the form holds one version: choose `--side baseline` or `--side candidate`"))
        }
        (Form::Bmf | Form::GithubActionBenchmark, None | Some(SideArg::Candidate)) => {
            let run = stored.comparison()?;
            let decision = run.head.spec.decision;
            let report = assemble::report(run, decision);
            Ok(match form {
                Form::Bmf => export::report_as_bmf(&report)?,
                _ => export::report_as_github_action(&report)?,
            })
        }
        (form, Some(SideArg::Baseline)) => of_version(&stored, (form, Role::Baseline), context),
        (form, None | Some(SideArg::Candidate)) => of_version(&stored, (form, Role::Candidate), context),
    }
}

/// One version of a run, as the recording that it is to tuning and detecting.
fn of_version(stored: &StoredRun, (form, role): (Form, Role), context: &Context) -> Result<Written, Failure> {
    let recording = stored.recording(role);
    recording.warnings.iter().for_each(|warning| context.printer.warning(warning));
    if form != Form::Parquet && matches!(stored.head, Head::Comparison(_)) {
        context
            .printer
            .warning("of a comparison a fork is one value, as its report has it: `--as parquet` holds its slices");
    }
    Ok(export::write(&recording, &about(stored, role), form)?)
}

/// Every sample of a comparison.
fn samples(run: &StoredRun<RunHead>) -> Result<Written, Failure> {
    let names: Vec<String> = run.head.plan.benchmarks.iter().map(|planned| planned.id.to_string()).collect();
    let version = |sample: &Sample| match sample.at.role {
        Role::Baseline => run.head.baseline.resolved.as_str(),
        Role::Candidate => run.head.candidate.resolved.as_str(),
    };
    let mut samples = measured(&run.trials).map(|(trial, outcome, sample)| StoredSample {
        run: &run.name,
        benchmark: names.get(trial.benchmark).map_or("", String::as_str),
        version: version(sample),
        mode: Some(outcome.mode),
        sample,
    });
    Ok(export::samples_as_parquet(&mut samples)?)
}

/// Every sample of a run of one version.
fn solo_samples(run: &StoredRun<SoloHead>) -> Result<Written, Failure> {
    let names: Vec<String> = run.head.plan.benchmarks.iter().map(|planned| planned.id.to_string()).collect();
    let mut samples = measured(&run.trials).map(|(trial, _, sample)| StoredSample {
        run: &run.name,
        benchmark: names.get(trial.benchmark).map_or("", String::as_str),
        version: &run.head.version.resolved,
        mode: None,
        sample,
    });
    Ok(export::samples_as_parquet(&mut samples)?)
}

/// All samples with their trials, in the order of measuring.
fn measured(trials: &[(Trial, TrialOutcome)]) -> impl Iterator<Item = (&Trial, &TrialOutcome, &Sample)> {
    trials
        .iter()
        .flat_map(|(trial, outcome)| outcome.result.iter().flatten().map(move |sample| (trial, outcome, sample)))
}

fn about(stored: &StoredRun, role: Role) -> About {
    let started = match &stored.head {
        Head::Comparison(head) => &head.started,
        Head::Solo(head) => &head.started,
    };
    let version = &stored.provenance(role).version;
    About::of_run(&Origin { run: &stored.name, version, started, environment: stored.head.environment() })
}
