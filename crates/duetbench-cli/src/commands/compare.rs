//! `duet compare`: the main job.

use std::path::Path;
use std::time::SystemTime;

use duetbench_core::plan::{Discovered, Found, Plan};
use duetbench_core::report::VersionInfo;
use duetbench_core::{Role, Spec};
use duetbench_run::RunError;
use duetbench_run::adapter::Conditions;
use duetbench_run::engine::{Backend, Local, RunSummary, Scripted, measure};
use duetbench_run::environment::{self, CpuTimes};
use duetbench_run::lock::{self, MachineLock};
use duetbench_run::prepare::{Prepared, Request};
use duetbench_run::source::{VersionRequest, default_base};
use duetbench_run::store::{RunHead, RunId, Store};

use super::{Context, selected};
use crate::args::CompareArgs;
use crate::failure::{Failure, code, exit_code};
use crate::progress::Recorder;
use crate::{assemble, dry_run, seed};

/// Two versions that can be measured, wherever their outcomes come from.
pub(super) struct Subjects {
    found: [Vec<Discovered>; 2],
    info: [VersionInfo; 2],
    toolchain: String,
    processors_asked: Option<u32>,
    warnings: Vec<String>,
}

/// Measures, stores, judges and reports; gives the exit code.
///
/// # Errors
/// Whatever keeps the run from being made.
pub fn run(args: &CompareArgs, context: &Context) -> Result<u8, Failure> {
    let spec = context.settings.spec(seed::draw())?;
    spec.selection.filter()?;
    if let Some(script) = &args.measure.scripted {
        let mut scripted = Scripted::load(script)?;
        let subjects = Subjects::scripted(&scripted);
        return carry_out(context, &spec, subjects, &mut scripted);
    }
    let _lock = lock_machine(context)?;
    let versions = requests(args, &context.cwd)?;
    let request = Request {
        cwd: &context.cwd,
        packages: &spec.selection.packages,
        harness_args: &spec.harness_args,
        conditions: Conditions { timeout: context.settings.timeout(), pass_env: &context.settings.pass_env() },
    };
    let prepared = Prepared::new(&versions, &request, &mut |stage| context.stage(stage), &context.interrupted)?;
    let (subjects, builds) = Subjects::prepared(&prepared)?;
    let mut local = Local::new(&prepared.adapter, builds, request.conditions.timeout, context.interrupted.clone())?;
    carry_out(context, &spec, subjects, &mut local)
}

/// One run per machine: waits for the holder, or refuses with `--no-wait`.
pub(super) fn lock_machine(context: &Context) -> Result<MachineLock, RunError> {
    let holder = format!("process {} in `{}`", std::process::id(), context.cwd.display());
    let path = std::env::var_os("DUET_LOCK").map_or_else(lock::default_path, Into::into);
    MachineLock::acquire(&path, &holder, &context.interrupted, |present| {
        let wait = !context.settings.no_wait();
        if wait {
            context.printer.note(&format!("waiting: another run is measuring on this machine ({present})"));
        }
        wait
    })
}

/// The two versions, defaults filled in.
fn requests(args: &CompareArgs, cwd: &Path) -> Result<[VersionRequest; 2], RunError> {
    let base = match &args.base {
        Some(text) => VersionRequest::parse(text, cwd),
        None => VersionRequest::Revision(default_base(cwd)?),
    };
    let head = args.head.as_ref().map_or(VersionRequest::WorkTree, |text| VersionRequest::parse(text, cwd));
    Ok([base, head])
}

impl Subjects {
    fn prepared(prepared: &Prepared) -> Result<(Subjects, [duetbench_run::adapter::Build; 2]), Failure> {
        let [baseline, candidate] = &prepared.versions[..] else {
            return Err(Failure::usage("a comparison needs two versions"));
        };
        let subjects = Subjects {
            found: [baseline.found.clone(), candidate.found.clone()],
            info: [baseline.info.clone(), candidate.info.clone()],
            toolchain: prepared.toolchain.clone(),
            processors_asked: prepared.adapter.processors_asked(),
            warnings: prepared.warnings(),
        };
        Ok((subjects, [baseline.build.clone(), candidate.build.clone()]))
    }

    fn scripted(script: &Scripted) -> Subjects {
        let info = |role: Role| VersionInfo {
            requested: role.word().into(),
            resolved: format!("scripted {}", role.word()),
            artifact_digest: String::new(),
        };
        Subjects {
            found: Role::BOTH.map(|role| script.discovered(role)),
            info: Role::BOTH.map(info),
            toolchain: "script".into(),
            processors_asked: None,
            warnings: Vec::new(),
        }
    }
}

/// From subjects to exit code: plan, measure, store, judge, report.
fn carry_out(context: &Context, spec: &Spec, subjects: Subjects, backend: &mut dyn Backend) -> Result<u8, Failure> {
    let [baseline, candidate] = &subjects.found;
    let (baseline, candidate) = (selected(baseline, &context.settings)?, selected(candidate, &context.settings)?);
    let plan = Plan::new(
        spec,
        &Found { baseline: &baseline, candidate: &candidate },
        environment::capacity(subjects.processors_asked),
    );
    if context.settings.dry_run() {
        context.printer.data(&dry_run::render(&plan, &subjects.info))?;
        return Ok(code::CLEAN);
    }
    if plan.benchmarks.is_empty() && plan.excluded.is_empty() {
        return Err(nothing_selected(context).into());
    }
    let [baseline, candidate] = subjects.info;
    let head = RunHead {
        started: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        spec: spec.clone(),
        plan,
        baseline,
        candidate,
        environment: environment::describe(&subjects.toolchain, env!("CARGO_PKG_VERSION")),
        warnings: subjects.warnings,
    };
    let mut store = Store::open(&context.db())?;
    let run = store.begin(&head)?;
    announce(context, &head, run);
    let mut recorder = Recorder::new(&mut store, run, &head.plan, &context.printer);
    let measured = measure_all(&head.plan, backend, &mut recorder, context);
    recorder.finish();
    let (summary, steal_share) = measured.inspect_err(|_| {
        context.printer.note(&format!("what was measured until then is stored: `duet show {run}`"));
    })?;
    store.end(run, &summary, steal_share)?;
    report(context, &store, run, summary.complete)
}

fn nothing_selected(context: &Context) -> RunError {
    let selection = context.settings.selection();
    let filter = [("--bench", selection.bench), ("--exclude", selection.exclude)];
    let typed: Vec<String> = filter.iter().filter_map(|(k, v)| Some(format!("`{k} {}`", v.as_ref()?))).collect();
    let what = if typed.is_empty() {
        "every benchmark skips itself".to_owned()
    } else {
        format!("no benchmark is left after {}", typed.join(" and "))
    };
    RunError::NothingToMeasure { what, hint: Some("`duet list` shows their names".into()) }
}

fn announce(context: &Context, head: &RunHead, run: RunId) {
    let predicted = humantime::format_duration(std::time::Duration::from_secs(head.plan.predicted().as_secs() + 1));
    context.printer.note(&format!(
        "base {} ({}), head {} ({}), seed {}",
        head.baseline.requested,
        head.baseline.resolved,
        head.candidate.requested,
        head.candidate.resolved,
        head.spec.seed
    ));
    context.printer.note(&format!("run {run}: measuring {} benchmarks, about {predicted}", head.plan.benchmarks.len()));
}

/// Measures everything; also tells how much time the hypervisor took meanwhile.
fn measure_all(
    plan: &Plan,
    backend: &mut dyn Backend,
    recorder: &mut Recorder<'_>,
    context: &Context,
) -> Result<(RunSummary, Option<f64>), RunError> {
    let before = CpuTimes::now();
    let summary = measure(plan, backend, recorder, &context.interrupted)?;
    let steal_share = before.zip(CpuTimes::now()).map(|(before, after)| after.steal_share_since(before));
    Ok((summary, steal_share))
}

fn report(context: &Context, store: &Store, run: RunId, complete: bool) -> Result<u8, Failure> {
    let stored = store.load(&run.to_string())?;
    let decision = stored.head.spec.decision;
    let report = assemble::report(stored, decision);
    let judged = exit_code(report.outcome(), context.settings.strict());
    let exit = if complete { judged } else { code::INTERRUPTED };
    context.printer.report(&report, exit)?;
    Ok(exit)
}
