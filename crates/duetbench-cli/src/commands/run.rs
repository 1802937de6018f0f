//! `duet run`: one version under a full execution configuration. Nothing is judged; what it gives is there to learn from.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use duetbench_core::plan::{Discovered, SoloBenchmark, SoloPlan};
use duetbench_core::report::VersionInfo;
use duetbench_core::spec::{LayoutChoice, SoloSpec};
use duetbench_core::{BenchmarkId, Role};
use duetbench_run::adapter::Build;
use duetbench_run::engine::{Executor, Job, Local, Observer, OneVersion, Scripted, Watched, measure as carry};
use duetbench_run::prepare::{Prepared, Version};
use duetbench_run::process::told_leftovers;
use duetbench_run::store::{RunId, SoloHead, SoloOrigin, Store, StoredRun};
use duetbench_run::{environment, noise};

use super::{Asked, Context, nothing_selected, selected};
use crate::args::{Format, RunArgs};
use crate::failure::{Failure, code, solo_exit_code};
use crate::planned::Planned;
use crate::render::solo;
use crate::session::{lock_machine, sitting};
use crate::{assemble, dry_run, seed};

/// Measures, stores and reports; gives the exit code.
///
/// # Errors
/// Whatever keeps the run from being made.
pub fn run(args: &RunArgs, context: &Context) -> Result<u8, Failure> {
    if context.settings.format() == Format::Sarif {
        return Err(Format::Sarif.unfit("a run of one version"));
    }
    if let Some(name) = &args.resume {
        return resume(name, args, context);
    }
    let spec = context.settings.solo_spec(args.repeat.repetitions().check()?, seed::draw());
    spec.selection.filter()?;
    let planned = Planned::read(&context.settings)?;
    if let Some(script) = &args.scripted {
        let mut scripted = Scripted::load(script)?;
        let subject = Subject::scripted(&scripted);
        return measure(context, (spec, planned), subject, &mut scripted);
    }
    let _lock = lock_machine(context)?;
    let version = super::one_version(args.version.as_deref(), &args.program, &context.cwd)?;
    let origin = SoloOrigin { cwd: context.cwd.clone(), version };
    let prepared = prepare(context, &spec, &origin)?;
    let only = only(&prepared)?;
    let subject = Subject::prepared(context, only, &prepared, origin);
    let mut local = local(context, &prepared, only.build.clone())?;
    measure(context, (spec, planned), subject, &mut Watched::new(&mut local))
}

/// Facts about a version before it is measured.
struct Subject {
    info: VersionInfo,
    found: Vec<Discovered>,
    artifacts: BTreeMap<String, String>,
    toolchain: String,
    warnings: Vec<String>,
    origin: Option<SoloOrigin>,
}

impl Subject {
    fn prepared(context: &Context, version: &Version, prepared: &Prepared, origin: SoloOrigin) -> Subject {
        let digests = version.build.artifacts.iter().map(|(package, a)| (package.clone(), a.digest.clone()));
        Subject {
            info: version.info.clone(),
            found: version.found.clone(),
            artifacts: digests.collect(),
            toolchain: prepared.toolchain.clone(),
            warnings: [prepared.warnings(), context.settings.notes()].concat(),
            origin: Some(origin),
        }
    }

    fn scripted(script: &Scripted) -> Subject {
        let info = VersionInfo {
            requested: Role::Candidate.word().into(),
            resolved: "scripted".into(),
            artifact_digest: String::new(),
        };
        Subject {
            info,
            found: script.discovered(Role::Candidate),
            artifacts: BTreeMap::new(),
            toolchain: "script".into(),
            warnings: Vec::new(),
            origin: None,
        }
    }

    /// The head of the run, which is stored before the first trial.
    fn head(self, spec: SoloSpec, plan: SoloPlan) -> SoloHead {
        SoloHead {
            started: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            spec,
            plan,
            version: self.info,
            artifacts: self.artifacts,
            environment: environment::describe(&self.toolchain, env!("CARGO_PKG_VERSION")),
            facts: noise::facts(),
            warnings: self.warnings,
            origin: self.origin,
        }
    }
}

/// Fetches, builds and lists the version.
fn prepare(context: &Context, spec: &SoloSpec, origin: &SoloOrigin) -> Result<Prepared, Failure> {
    let (selection, arguments) = (&spec.selection, &spec.harness_args);
    let asked = Asked { selection, harness: &spec.harness, arguments, layouts: LayoutChoice::Random };
    Ok(context.prepare(std::slice::from_ref(&origin.version), &origin.cwd, asked)?)
}

fn only(prepared: &Prepared) -> Result<&Version, Failure> {
    prepared.versions.first().ok_or_else(|| Failure::usage("there is no version to measure"))
}

fn local<'a>(context: &Context, prepared: &'a Prepared, build: Build) -> Result<Local<'a, Build>, Failure> {
    Ok(Local::new(&*prepared.adapter, build, context.settings.timeout(), context.interrupted.clone())?)
}

/// Plans what was found, and measures it.
fn measure(
    context: &Context,
    (spec, planned): (SoloSpec, Option<Planned>),
    subject: Subject,
    executor: &mut dyn Executor<SoloBenchmark>,
) -> Result<u8, Failure> {
    let nothing = BTreeMap::new();
    let found = selected(&subject.found, &context.settings)?;
    let plan = SoloPlan::new(&spec, &found, planned.as_ref().map_or(&nothing, Planned::repetitions));
    if let Some(planned) = &planned {
        planned.note(context, subject.found.iter().map(|d| &d.id));
    }
    if context.settings.dry_run() {
        context.printer.data(&dry_run::render_solo(&plan, &subject.info))?;
        return Ok(code::CLEAN);
    }
    if plan.benchmarks.is_empty() && plan.failed.is_empty() {
        return Err(nothing_selected(context).into());
    }
    let head = subject.head(spec, plan);
    let mut store = Store::open(&context.db())?;
    let run = store.begin(&head)?;
    let stored = StoredRun {
        name: run.to_string(),
        head,
        complete: false,
        measured_s: 0.0,
        trials: Vec::new(),
        calls: Vec::new(),
        abandoned: Vec::new(),
        profiles: Vec::new(),
        readings: Vec::new(),
    };
    carry_out(context, (&mut store, run), &stored, executor)
}

/// Goes on with a run that did not come to its end.
fn resume(name: &str, args: &RunArgs, context: &Context) -> Result<u8, Failure> {
    let mut store = Store::open_existing(&context.db())?;
    let stored = unfinished(&store, name)?;
    let run = store.reopen(&stored.name)?;
    if let Some(script) = &args.scripted {
        let mut scripted = Scripted::load(script)?;
        return carry_out(context, (&mut store, run), &stored, &mut scripted);
    }
    let Some(origin) = &stored.head.origin else {
        return Err(Failure::usage(format!("run `{}` was scripted: name its script", stored.name)));
    };
    let _lock = lock_machine(context)?;
    // Whoever held the machine until now may have measured this very run.
    let stored = StoredRun { head: stored.head.clone(), ..unfinished(&store, &stored.name)? };
    let prepared = prepare(context, &stored.head.spec, origin)?;
    let only = only(&prepared)?;
    let then = &stored.head.version;
    if only.info.artifact_digest != then.artifact_digest {
        return Err(Failure::usage(format!(
            "`{}` is not what it was when the run began (its binaries differ): the run cannot go on, begin a new one",
            then.requested
        )));
    }
    let mut local = local(context, &prepared, only.build.clone())?;
    carry_out(context, (&mut store, run), &stored, &mut Watched::new(&mut local))
}

/// A stored run of one version that can be gone on with.
fn unfinished(store: &Store, name: &str) -> Result<StoredRun<SoloHead>, Failure> {
    let stored = store.load(name)?.solo()?;
    if stored.complete {
        let run = &stored.name;
        return Err(Failure::usage(format!("run `{run}` came to its end: `duet show {run}` prints it")));
    }
    Ok(stored)
}

/// Measures what is open, and reports.
fn carry_out(
    context: &Context,
    (store, run): (&mut Store, RunId),
    stored: &StoredRun<SoloHead>,
    executor: &mut dyn Executor<SoloBenchmark>,
) -> Result<u8, Failure> {
    announce(context, stored);
    let plan = &stored.head.plan;
    let job = Job { strategy: OneVersion::new(plan), past: &stored.trials };
    let benchmarks: Vec<&BenchmarkId> = plan.benchmarks.iter().map(|b| &b.id).collect();
    let go = |observer: &mut dyn Observer| carry(job, executor, observer, &context.interrupted);
    let measured = sitting(context, (&mut *store, run), benchmarks, go);
    let left = told_leftovers();
    if !left.is_empty() {
        let warnings = [stored.head.warnings.clone(), left].concat();
        store.amend(run, &SoloHead { warnings, ..stored.head.clone() })?;
    }
    let summary = measured.inspect_err(|_| {
        context.printer.note(&format!(
            "what was measured until then is stored: `duet show {run}`; `duet run --resume {run}` goes on"
        ));
    })?;
    let report = assemble::solo_report(store.load(&run.to_string())?.solo()?);
    context.printer.document(&solo::document(&report))?;
    if !summary.complete {
        context.printer.note(&format!("interrupted; `duet run --resume {run}` goes on from here"));
        return Ok(code::INTERRUPTED);
    }
    context.printer.note(&format!("`duet tune {run}` learns from it how few repetitions are enough"));
    Ok(solo_exit_code(&report))
}

fn announce(context: &Context, stored: &StoredRun<SoloHead>) {
    let SoloHead { spec, plan, version, .. } = &stored.head;
    let predicted = humantime::format_duration(Duration::from_secs(plan.predicted().as_secs() + 1));
    context.printer.note(&format!("version {} ({}), seed {}", version.requested, version.resolved, spec.seed));
    let past = stored.trials.len();
    let so_far = if past > 0 { format!(", going on after {past} trials") } else { String::new() };
    let (run, benchmarks) = (&stored.name, plan.benchmarks.len());
    context.printer.note(&format!("run {run}: measuring {benchmarks} benchmarks, about {predicted}{so_far}"));
}
