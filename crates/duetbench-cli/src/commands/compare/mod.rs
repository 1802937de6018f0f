//! `duet compare`: the main job.

use std::path::Path;

use duetbench_core::plan::{Plan, Style};
use duetbench_core::spec::ModeChoice;
use duetbench_core::{BenchmarkId, Spec};
use duetbench_run::RunError;
use duetbench_run::adapter::Build;
use duetbench_run::engine::{Backend, Benches, Local, Scripted, Wanted, Watched, probe, probing_takes};
use duetbench_run::prepare::Prepared;
use duetbench_run::source::{VersionRequest, default_base};
use duetbench_run::store::{Origin, RunHead, Store, StoredRun};

use super::{Asked, Context, nothing_selected};
use crate::args::CompareArgs;
use crate::failure::{Failure, code, exit_code};
use crate::planned::Planned;
use crate::session::{self, Session, Subjects, lock_machine};
use crate::{dry_run, gate, seed};

mod expedition;
mod fleet;
mod material;

use material::{Material, both};

/// Measures, stores, judges and reports; gives the exit code.
///
/// # Errors
/// Whatever keeps the run from being made.
pub fn run(args: &CompareArgs, context: &Context) -> Result<u8, Failure> {
    if let Some(name) = &args.resume {
        return resume(name, args, context);
    }
    let spec = context.settings.spec(seed::draw())?;
    spec.selection.filter()?;
    let planned = Planned::read(&context.settings)?;
    if let Some(fleet) = spec.fleet {
        let origin = Origin { cwd: context.cwd.clone(), versions: requests(args, &context.cwd)? };
        return fleet::compare(context, (&spec, fleet), origin, planned.as_ref());
    }
    if let Some(script) = &args.measure.scripted {
        let mut scripted = Scripted::load(script)?;
        let material = Material::scripted(&scripted);
        let mut plan = material.plan(context, &spec, material.capacity())?;
        material.follow(&mut plan, planned.as_ref(), (context, &spec));
        return compare(context, &spec, (plan, material.subjects), &mut scripted);
    }
    let _lock = lock_machine(context)?;
    let origin = Origin { cwd: context.cwd.clone(), versions: requests(args, &context.cwd)? };
    let prepared = prepare(context, &spec, &origin)?;
    let (material, builds) = Material::prepared(&prepared, origin)?;
    let mut plan = material.plan(context, &spec, material.capacity())?;
    material.follow(&mut plan, planned.as_ref(), (context, &spec));
    let mut versions = local(context, &prepared, builds.clone())?;
    let iterates = plan.benchmarks.iter().any(|b| b.style == Style::Iteration);
    let tells = (spec.mode != ModeChoice::Sequential && !plan.benchmarks.is_empty()) || iterates;
    if tells && !context.settings.dry_run() {
        let [baseline, _] = builds;
        let mut baseline_alone = local(context, &prepared, [baseline.clone(), baseline])?;
        let benches = Benches { versions: &mut versions, baseline_alone: &mut baseline_alone };
        let warm_up = |id: &BenchmarkId| {
            spec.harness.warmup.is_none() && !planned.as_ref().is_some_and(|planned| planned.knows(id))
        };
        let wanted = Wanted { mode: spec.mode == ModeChoice::Auto, warm_up: &warm_up };
        announce_first_trials(context, &plan, &wanted);
        let learnt = probe(&plan, benches, &wanted, &context.interrupted)?;
        plan.learn(learnt, &spec, material.capacity());
        if let Some(planned) = &planned {
            plan.follow(&planned.starts(), &spec, material.capacity());
        }
    }
    compare(context, &spec, (plan, material.subjects), &mut Watched::new(&mut versions))
}

/// Says what happens before measuring, and how long it takes where somebody would wonder.
fn announce_first_trials(context: &Context, plan: &Plan, wanted: &Wanted<'_>) {
    let takes = probing_takes(plan, wanted).as_secs();
    let long = humantime::format_duration(std::time::Duration::from_secs(takes));
    let how_long = if takes > 2 { format!(" (about {long})") } else { String::new() };
    context.printer.note(&format!("looking at each benchmark for a moment, to see how it is best measured{how_long}"));
}

/// The two versions, defaults filled in.
fn requests(args: &CompareArgs, cwd: &Path) -> Result<[VersionRequest; 2], Failure> {
    if args.program.command {
        return match (&args.base, &args.head) {
            (Some(base), Some(head)) => Ok([base, head].map(|line| VersionRequest::Command(line.clone()))),
            _ => Err(Failure::usage("`--command` needs two command lines, the baseline's and the candidate's")),
        };
    }
    let base = match &args.base {
        Some(text) => VersionRequest::parse(text, cwd),
        None => VersionRequest::Revision(default_base(cwd)?),
    };
    let head = args.head.as_ref().map_or(VersionRequest::WorkTree, |text| VersionRequest::parse(text, cwd));
    Ok([base, head])
}

/// Fetches, builds and lists the two versions.
fn prepare(context: &Context, spec: &Spec, origin: &Origin) -> Result<Prepared, RunError> {
    let asked = Asked { packages: &spec.selection.packages, harness: &spec.harness, arguments: &spec.harness_args };
    context.prepare(&origin.versions, &origin.cwd, asked)
}

fn local<'a>(context: &Context, prepared: &'a Prepared, builds: [Build; 2]) -> Result<Local<'a>, RunError> {
    Local::new(&*prepared.adapter, builds, context.settings.timeout(), context.interrupted.clone())
}

/// From a plan to the exit code: measure, judge, report.
fn compare(
    context: &Context,
    spec: &Spec,
    (plan, subjects): (Plan, Subjects),
    backend: &mut dyn Backend,
) -> Result<u8, Failure> {
    if context.settings.dry_run() {
        context.printer.data(&dry_run::render(&plan, &subjects.info))?;
        return Ok(code::CLEAN);
    }
    if plan.benchmarks.is_empty() && plan.excluded.is_empty() {
        return Err(nothing_selected(context).into());
    }
    let head = session::head(spec, plan, subjects);
    let mut store = Store::open(&context.db())?;
    let session = Session::begin(context, &mut store, &head)?;
    carry_out(context, session, &head, backend)
}

/// Goes on with a run that did not come to its end.
fn resume(name: &str, args: &CompareArgs, context: &Context) -> Result<u8, Failure> {
    let mut store = Store::open_existing(&context.db())?;
    let StoredRun { name, head, trials, .. } = unfinished(&store, name)?;
    if let Some(script) = &args.measure.scripted {
        let mut scripted = Scripted::load(script)?;
        let session = Session::resume(context, &mut store, &name, (&head, &trials))?;
        return carry_out(context, session, &head, &mut scripted);
    }
    if let Some(spec) = head.spec.fleet {
        return fleet::resume(context, (&name, spec));
    }
    let Some(origin) = &head.origin else {
        return Err(Failure::usage(format!("run `{name}` was scripted: name its script")));
    };
    let _lock = lock_machine(context)?;
    // Whoever held the machine until now may have measured this very run.
    let trials = unfinished(&store, &name)?.trials;
    let prepared = prepare(context, &head.spec, origin)?;
    let builds = same_builds(&prepared, &head)?;
    let mut local = local(context, &prepared, builds)?;
    let session = Session::resume(context, &mut store, &name, (&head, &trials))?;
    carry_out(context, session, &head, &mut Watched::new(&mut local))
}

/// A stored run that can be gone on with.
fn unfinished(store: &Store, name: &str) -> Result<StoredRun<RunHead>, Failure> {
    let stored = store.load(name)?.comparison()?;
    if stored.complete {
        let run = &stored.name;
        return Err(Failure::usage(format!("run `{run}` came to its end: `duet show {run}` prints its report")));
    }
    Ok(stored)
}

/// The builds of the two versions, if they are what was measured before.
fn same_builds(prepared: &Prepared, head: &RunHead) -> Result<[Build; 2], Failure> {
    let [baseline, candidate] = both(prepared)?;
    for (now, then) in [(baseline, &head.baseline), (candidate, &head.candidate)] {
        if now.info.artifact_digest != then.artifact_digest {
            return Err(Failure::usage(format!(
                "`{}` is not what it was when the run began (its binaries differ): the run cannot go on, begin a new one",
                then.requested
            )));
        }
    }
    Ok([baseline.build.clone(), candidate.build.clone()])
}

/// Measures what is open, and reports.
fn carry_out(
    context: &Context,
    mut session: Session<'_>,
    head: &RunHead,
    backend: &mut dyn Backend,
) -> Result<u8, Failure> {
    let run = session.run();
    announce(context, head, &session);
    let summary = session.measure(backend).inspect_err(|_| {
        context.printer.note(&format!(
            "what was measured until then is stored: `duet show {run}`; `duet compare --resume {run}` goes on"
        ));
    })?;
    let report = gate::decided(session.report()?, context)?;
    let judged = exit_code(report.outcome(), context.settings.strict());
    let exit = if summary.complete { judged } else { code::INTERRUPTED };
    if !summary.complete {
        context.printer.note(&format!("interrupted; `duet compare --resume {run}` goes on from here"));
    }
    context.printer.report(&report, exit)?;
    context.printer.annotate(&report);
    Ok(exit)
}

fn announce(context: &Context, head: &RunHead, session: &Session<'_>) {
    let predicted = humantime::format_duration(std::time::Duration::from_secs(head.plan.predicted().as_secs() + 1));
    let [baseline, candidate] = [&head.baseline, &head.candidate].map(|v| format!("{} ({})", v.requested, v.resolved));
    context.printer.note(&format!("base {baseline}, head {candidate}, seed {}", head.spec.seed));
    let run = session.run();
    let past = session.trials_done();
    let so_far = if past > 0 { format!(", going on after {past} trials") } else { String::new() };
    let benchmarks = head.plan.benchmarks.len();
    context.printer.note(&format!("run {run}: measuring {benchmarks} benchmarks, at most about {predicted}{so_far}"));
}
