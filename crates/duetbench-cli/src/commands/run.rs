//! `duet run`: one version under a full execution configuration. Nothing is judged; what it gives is there to learn from.

use std::collections::BTreeMap;
use std::time::SystemTime;

use duetbench_core::Role;
use duetbench_core::plan::{Discovered, SoloBenchmark, SoloPlan};
use duetbench_core::report::VersionInfo;
use duetbench_core::spec::SoloSpec;
use duetbench_run::engine::{Executor, Scripted, Watched};
use duetbench_run::prepare::{Prepared, Version};
use duetbench_run::source::check;
use duetbench_run::store::{SoloHead, SoloOrigin, Store};
use duetbench_run::{environment, noise};

use super::{Asked, Context, nothing_selected, selected};
use crate::args::RunArgs;
use crate::dry_run::SoloDryRun;
use crate::failure::{Failure, code, solo_exit_code};
use crate::options::Format;
use crate::planned::Planned;
use crate::render::{format, solo};
use crate::session::{Session, lock_machine, lock_unless_dry, refuse_dry_run, same_machine, same_version, unfinished};
use crate::{assemble, seed};

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
    let errand = Errand { context, spec, planned: Planned::read(&context.settings)? };
    if let Some(script) = &args.sitting.scripted {
        let mut scripted = Scripted::load(script)?;
        let (requested, resolved) = (Role::Candidate.word().into(), "scripted".into());
        let info = VersionInfo { requested, resolved, artifact_digest: String::new() };
        let head = errand.head(info, &scripted.discovered(Role::Candidate), "script")?;
        return measure(context, &head, &mut scripted);
    }
    let version = super::one_version(args.version.as_deref(), &args.program, &context.cwd)?;
    check(&version, &context.cwd)?;
    let _lock = lock_unless_dry(context)?;
    let origin = SoloOrigin { cwd: context.cwd.clone(), version };
    let prepared = prepare(context, &errand.spec, &origin)?;
    let only = only(&prepared)?;
    let digests = only.build.artifacts.iter().map(|(package, a)| (package.clone(), a.digest.clone()));
    let head = SoloHead {
        artifacts: digests.collect(),
        warnings: [prepared.warnings(), context.settings.notes()].concat(),
        origin: Some(SoloOrigin { version: origin.version.pinned(&origin.cwd, &only.info.resolved), ..origin }),
        ..errand.head(only.info.clone(), &only.found, &prepared.toolchain)?
    };
    let mut local = context.local(&prepared, only.build.clone())?;
    measure(context, &head, &mut Watched::new(&mut local))
}

/// The task of a run of one version: its request, and the plan file that it follows.
struct Errand<'a> {
    context: &'a Context,
    spec: SoloSpec,
    planned: Option<Planned>,
}

impl Errand<'_> {
    /// The head of the run of a version in which these benchmarks were found, which is stored before the first trial.
    fn head(&self, version: VersionInfo, found: &[Discovered], toolchain: &str) -> Result<SoloHead, Failure> {
        let nothing = BTreeMap::new();
        let wanted = selected(found, &self.context.settings)?;
        let plan = SoloPlan::new(&self.spec, &wanted, self.planned.as_ref().map_or(&nothing, Planned::repetitions));
        if let Some(planned) = &self.planned {
            planned.note(self.context, found.iter().map(|d| &d.id));
        }
        Ok(SoloHead {
            started: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            spec: self.spec.clone(),
            plan,
            version,
            artifacts: BTreeMap::new(),
            environment: environment::describe(toolchain, env!("CARGO_PKG_VERSION")),
            facts: noise::facts(),
            warnings: Vec::new(),
            origin: None,
        })
    }
}

/// Fetches, builds and lists the version.
fn prepare(context: &Context, spec: &SoloSpec, origin: &SoloOrigin) -> Result<Prepared, Failure> {
    let asked = Asked::of_one(&spec.selection, &spec.harness, &spec.harness_args);
    Ok(context.prepare(std::slice::from_ref(&origin.version), &origin.cwd, asked)?)
}

fn only(prepared: &Prepared) -> Result<&Version, Failure> {
    prepared.versions.first().ok_or_else(|| Failure::usage("there is no version to measure"))
}

/// Measures what was planned, if it is to be measured.
fn measure(context: &Context, head: &SoloHead, executor: &mut dyn Executor<SoloBenchmark>) -> Result<u8, Failure> {
    if head.plan.benchmarks.is_empty() && head.plan.failed.is_empty() {
        return Err(nothing_selected(context).into());
    }
    if context.ends_dry() {
        let SoloHead { plan, version, warnings, .. } = head;
        context.printer.data(&SoloDryRun { plan, version, warnings }.write(context.settings.format()))?;
        return Ok(if plan.benchmarks.is_empty() { code::FAILED } else { code::CLEAN });
    }
    let mut store = Store::open(&context.db_to_write()?)?;
    let session = Session::begin(context, &mut store, head)?;
    carry_out(context, session, head, executor)
}

/// Goes on with a run that did not come to its end.
fn resume(name: &str, args: &RunArgs, context: &Context) -> Result<u8, Failure> {
    refuse_dry_run(context)?;
    let mut store = Store::open_existing(&context.db_to_write()?)?;
    // The last run may be a comparison.
    let name = store.run_of_one_named(name)?;
    let stored = unfinished(context, store.load(&name)?.solo()?)?;
    let (name, head) = (&stored.name, &stored.head);
    if let Some(script) = &args.sitting.scripted {
        let mut scripted = Scripted::load(script)?;
        let session = Session::resume(context, &mut store, &stored)?;
        return carry_out(context, session, head, &mut scripted);
    }
    let Some(origin) = &head.origin else {
        return Err(Failure::usage(format!("run `{name}` was scripted: name its script")));
    };
    let _lock = lock_machine(context)?;
    // Whoever held the machine until now may have measured this very run.
    let stored = unfinished(context, store.load(name)?.solo()?)?;
    let head = &stored.head;
    let prepared = prepare(context, &head.spec, origin)?;
    let only = only(&prepared)?;
    same_version(&only.info, &head.version)?;
    same_machine(&head.environment)?;
    let mut local = context.local(&prepared, only.build.clone())?;
    let session = Session::resume(context, &mut store, &stored)?;
    carry_out(context, session, head, &mut Watched::new(&mut local))
}

/// Measures what is open, and reports.
fn carry_out(
    context: &Context,
    mut session: Session<'_>,
    head: &SoloHead,
    executor: &mut dyn Executor<SoloBenchmark>,
) -> Result<u8, Failure> {
    let SoloHead { spec, plan, version, .. } = head;
    let versions = format!("version {}, seed {}", format::version(version), spec.seed);
    session.announce(&versions, plan.benchmarks.len(), plan.predicted());
    let measured = session.record(head, executor);
    session.tell_how_to_go_on(&format!("run --resume {}", session.run()), &measured);
    let (complete, run) = (measured?.complete, session.run());
    let report = assemble::solo_report(session.into_kept().store.load(&run.to_string())?.solo()?);
    let db = context.settings.db_typed();
    let told = context.printer.document(&solo::document(&report));
    told.map_err(|e| e.hint(format!("`duet show {run}{db} -o FILE` writes it to another file")))?;
    if !complete {
        return Ok(code::INTERRUPTED);
    }
    context.printer.note(&format!("`duet tune {run}{db}` learns from it how few repetitions are enough"));
    Ok(solo_exit_code(&report))
}
