//! `duet export`: a stored run or another tool's file, in another tool's form.

use std::collections::HashSet;

use duetbench_core::recording::Recorded;
use duetbench_core::spec::CommandSpec;
use duetbench_core::{BenchmarkId, Recording, Role, Sample, Trial};
use duetbench_formats::{About, Imported, Metric, Origin, StoredSample, WriteSamples, Writer, Written};
use duetbench_run::engine::TrialOutcome;
use duetbench_run::store::{Head, Store, StoredRun};

use super::{Context, source};
use crate::args::{ExportArgs, FormArg, SideArg};
use crate::assemble;
use crate::failure::{Failure, code};

/// Writes what was asked for in the chosen form, and says what that form could not hold.
///
/// # Errors
/// When there is no such run or file, the form can hold nothing of it, or it cannot be written.
pub fn run(args: &ExportArgs, context: &Context) -> Result<u8, Failure> {
    let written = match args.source.to_str().filter(|text| source::is_run(text)) {
        Some(run) => of_run(run, args, context)?,
        None => of_file(args, context)?,
    };
    written.lost.iter().for_each(|lost| context.printer.warning(lost));
    context.printer.written(&written.content)?;
    Ok(code::CLEAN)
}

fn of_file(args: &ExportArgs, context: &Context) -> Result<Written, Failure> {
    if args.side.is_some() {
        let path = args.source.display();
        return Err(Failure::usage(format!("`--side` is for comparisons, and `{path}` is a file")));
    }
    let Imported { mut recording, beside, context: said, .. } = duetbench_formats::read(&args.source)?;
    recording.warnings.iter().for_each(|warning| context.printer.warning(warning));
    let name = |recorded: &Recorded| (recorded.benchmark.clone(), recorded.unit.clone());
    let mut taken: HashSet<(String, String)> = recording.benchmarks.iter().map(name).collect();
    for Metric { name: metric, mut recorded } in beside {
        // Two counters of the same unit are told apart by their names.
        if !taken.insert(name(&recorded)) {
            recorded.unit = metric;
        }
        recording.benchmarks.push(recorded);
    }
    Ok((args.form.writer.recording)(&recording, &About::of_file(&said))?)
}

fn of_run(run: &str, args: &ExportArgs, context: &Context) -> Result<Written, Failure> {
    let stored = Store::open_to_read(&context.db())?.load(run)?;
    match (&stored.head, args.form.writer.samples) {
        (Head::Solo(_), _) if args.side.is_some() => {
            Err(Failure::usage(format!("`--side` is for comparisons, and `{}` measured one version", stored.name)))
        }
        (Head::Solo(_), Some(write)) => {
            warn_of_gaps(&stored, context);
            samples(&stored, write)
        }
        (Head::Solo(_), None) => of_version(&stored, args.form.writer, Role::Candidate, context),
        (Head::Comparison(_), _) => of_comparison(stored, args, context),
    }
}

fn of_comparison(stored: StoredRun, args: &ExportArgs, context: &Context) -> Result<Written, Failure> {
    let FormArg { name, writer } = args.form;
    let of = |role| of_version(&stored, writer, role, context);
    match (args.side, writer) {
        (None | Some(SideArg::Both), Writer { samples: Some(write), .. }) => {
            warn_of_gaps(&stored, context);
            samples(&stored, *write)
        }
        (Some(_), Writer { samples: Some(_), .. }) => {
            Err(Failure::usage("Parquet holds both versions, told apart by the column `side`"))
        }
        (side, Writer { both: Some(write), pairs, .. })
            if side == Some(SideArg::Both) || (side.is_none() && *pairs) =>
        {
            warn_of_gaps(&stored, context);
            let about = about(&stored, Role::Candidate);
            let [baseline, candidate] = Role::BOTH.map(|role| stored.recording(role));
            Ok(write([&baseline, &candidate], &about)?)
        }
        (Some(SideArg::Both), _) if name == "go" => {
            let show = format!("`duet show {} --format go{}`", stored.name, context.settings.db_typed());
            Err(Failure::usage(format!("as a recording Go benchmark text holds one version: {show} writes both")))
        }
        (Some(SideArg::Both), _) => {
            Err(Failure::usage("the form holds one version: choose `--side base` or `--side head`"))
        }
        (Some(SideArg::Baseline), _) => of(Role::Baseline),
        (None | Some(SideArg::Candidate), Writer { report: Some(write), .. }) => {
            warn_of_gaps(&stored, context);
            let run = stored.comparison()?;
            Ok(write(&assemble::report(run))?)
        }
        (None | Some(SideArg::Candidate), _) => of(Role::Candidate),
    }
}

/// Tells of a run that was stopped, as its recordings do.
fn warn_of_gaps(stored: &StoredRun, context: &Context) {
    stored.gaps().iter().for_each(|words| context.printer.warning(words));
}

/// One version of a run, as the recording that it is to tuning and detecting.
fn of_version(stored: &StoredRun, writer: &Writer, role: Role, context: &Context) -> Result<Written, Failure> {
    let mut recording = stored.recording(role);
    name_by_command(&mut recording, stored, role);
    recording.warnings.iter().for_each(|warning| context.printer.warning(warning));
    if cfg!(feature = "parquet") && matches!(stored.head, Head::Comparison(_)) {
        context
            .printer
            .warning("of a comparison a fork is one value, as its report has it: `--as parquet` holds its slices");
    }
    Ok((writer.recording)(&recording, &about(stored, role))?)
}

/// Calls whole programs by their command lines, as other tools do, and a typed one by that of its own side.
fn name_by_command(recording: &mut Recording, stored: &StoredRun, role: Role) {
    let (commands, typed) = match &stored.head {
        Head::Comparison(head) if role == Role::Baseline => (&head.spec.harness.commands, &head.baseline),
        Head::Comparison(head) => (&head.spec.harness.commands, &head.candidate),
        Head::Solo(head) => (&head.spec.harness.commands, &head.version),
    };
    if commands.is_empty() {
        return;
    }
    let plain =
        |program: &CommandSpec| program.command.is_none() && program.name.is_empty() && program.parameters.is_empty();
    let ids = ids(&stored.head);
    let one = matches!(&commands[..], [program] if plain(program));
    for recorded in &mut recording.benchmarks {
        let Some(id) = ids.iter().find(|id| id.to_string() == recorded.benchmark) else { continue };
        recorded.benchmark = if one { typed.requested.clone() } else { id.name.clone() };
    }
}

/// Every sample of a run. Where it measured one version, it had no mode.
fn samples(run: &StoredRun, write: WriteSamples) -> Result<Written, Failure> {
    let names: Vec<String> = ids(&run.head).into_iter().map(ToString::to_string).collect();
    let [baseline, candidate] = Role::BOTH.map(|role| run.provenance(role).version);
    let version = |sample: &Sample| if sample.at.role == Role::Baseline { &*baseline } else { &*candidate };
    let of_two = matches!(run.head, Head::Comparison(_));
    let mut samples = measured(&run.trials).map(|(trial, outcome, sample)| StoredSample {
        run: &run.name,
        benchmark: names.get(trial.benchmark).map_or("", String::as_str),
        version: version(sample),
        mode: of_two.then_some(outcome.mode),
        sample,
    });
    Ok(write(&mut samples)?)
}

/// The benchmarks that a run measured.
fn ids(head: &Head) -> Vec<&BenchmarkId> {
    match head {
        Head::Comparison(head) => head.plan.benchmarks.iter().map(|planned| &planned.id).collect(),
        Head::Solo(head) => head.plan.benchmarks.iter().map(|planned| &planned.id).collect(),
    }
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
