//! `duet compare --on`: built here, measured on a fleet.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use duetbench_core::fleet::{CallLength, Ended, FleetTerms, Forecast, forecast};
use duetbench_core::plan::{Excluded, Plan, PlannedBenchmark, instance_capacity};
use duetbench_core::spec::{FleetSpec, defaults};
use duetbench_core::{Role, Schedule, Spec};
use duetbench_run::adapter::Build;
use duetbench_run::engine::RunSummary;
use duetbench_run::fleet::campaign::{FleetJob, FleetSummary, measure};
use duetbench_run::fleet::here::Here;
use duetbench_run::fleet::package::{Cargo, Package, Recipes};
use duetbench_run::fleet::rehearsal::rehearse;
use duetbench_run::fleet::{Deployed, Deployment, Engine, FleetError, Limits};
use duetbench_run::prepare::Prepared;
use duetbench_run::scratch::Scratch;
use duetbench_run::store::{Origin, RunHead, RunId, Store};

use super::material::Material;
use super::{prepare, same_builds, unfinished};
use crate::assemble;
use crate::commands::{Context, nothing_selected};
use crate::dry_run;
use crate::failure::{Failure, code, exit_code};
use crate::fleet::{self, FleetRecorder, Prices};
use crate::planned::Planned;
use crate::session;

/// A call may take so many times what it is predicted to take, and a minute.
const CALL_PATIENCE: u32 = 4;
/// Longest call that any provider offers.
const CALL_MAX: Duration = Duration::from_secs(900);
/// Shortest limit of a call.
const CALL_MIN: Duration = Duration::from_secs(60);
/// How long after its time is up something that was left behind may be swept away.
const LEFTOVER_GRACE: Duration = Duration::from_secs(3600);

/// What is needed to send anything anywhere.
struct Outfit {
    spec: FleetSpec,
    engine: Box<dyn Engine>,
    limits: Limits,
    prices: Prices,
    worker: PathBuf,
    scratch: Scratch,
}

impl Outfit {
    fn new(context: &Context, spec: FleetSpec) -> Result<Outfit, Failure> {
        let account = context.settings.account();
        if !context.settings.pass_env().is_empty() {
            return Err(Failure::usage("`--pass-env` ends here: what a fleet runs sees no variable of yours"));
        }
        let engine = fleet::engine(&spec, &account)?;
        let worker = fleet::worker(&account, spec.arch)?;
        let prices = fleet::prices_of(&account)?;
        let limits = engine.limits()?;
        Ok(Outfit { spec, engine, limits, prices, worker, scratch: Scratch::new()? })
    }

    fn cargo<'a>(&'a self, prepared: &'a Prepared, builds: &'a [Build; 2]) -> Result<Cargo<'a>, Failure> {
        let [baseline, candidate] = &prepared.sources[..] else {
            return Err(Failure::usage("a comparison needs two versions"));
        };
        let sources = [baseline, candidate];
        Ok(Cargo { adapter: &*prepared.adapter, builds, sources, worker: &self.worker, arch: self.spec.arch })
    }

    /// Links and packs up to so many build pairs.
    fn pack(&self, context: &Context, (cargo, plan): (&Cargo<'_>, &Plan), builds: u32) -> Result<Package, Failure> {
        context.printer.note(&format!("linking up to {builds} build pairs of each package, and packing them"));
        let schedule = Schedule::new(plan);
        let layout_seeds: Vec<[u32; 2]> = (0..builds).map(|build| schedule.layout_seeds(build)).collect();
        let room = (self.limits.package_bytes, self.scratch.path());
        let package = cargo.pack(&plan.benchmarks, &layout_seeds, room)?;
        for file in &package.left_out {
            context.printer.note(&format!("`{}` is too large to travel", file.display()));
        }
        Ok(package)
    }

    fn sweep(&self, context: &Context) -> Result<(), Failure> {
        for name in self.engine.sweep(SystemTime::now())? {
            context.printer.note(&format!("swept away `{name}`, which a run that died had left behind"));
        }
        Ok(())
    }
}

/// Builds, packs, rehearses, sends, judges and reports; gives the exit code.
pub(super) fn compare(
    context: &Context,
    (spec, fleet): (&Spec, FleetSpec),
    origin: Origin,
    planned: Option<&Planned>,
) -> Result<u8, Failure> {
    let outfit = Outfit::new(context, fleet)?;
    let prepared = prepare(context, spec, &origin)?;
    let (material, builds) = Material::prepared(&prepared, origin)?;
    let capacity = instance_capacity(fleet.memory_mb, prepared.adapter.processors_asked());
    let mut plan = material.plan(context, spec, capacity)?;
    material.follow(&mut plan, planned, (context, spec));
    if plan.benchmarks.is_empty() {
        return without_calls(context, spec, (plan, material));
    }
    let cargo = outfit.cargo(&prepared, &builds)?;
    let wanted = if prepared.adapter.relinks() { spec.effort.builds.unwrap_or(defaults::FLEET_BUILDS) } else { 1 };
    let package = outfit.pack(context, (&cargo, &plan), wanted)?;
    let staying = rehearsed(context, &outfit, (&cargo, &package, &plan))?;
    leave_out(&mut plan, staying);
    if plan.benchmarks.is_empty() {
        return without_calls(context, spec, (plan, material));
    }
    plan.spread_over_calls(&fleet, spec.effort, package.builds);
    let parallel = outfit.limits.parallel.min(fleet.parallel);
    let forecast = forecast(&plan, &fleet, parallel, (outfit.prices.rate, CallLength::default()));
    announce(context, (&outfit, &package), &forecast);
    if context.settings.dry_run() {
        context.printer.data(&dry_run::render(&plan, &material.subjects.info))?;
        return Ok(code::CLEAN);
    }
    let terms = FleetTerms {
        rate: outfit.prices.rate,
        price_date: outfit.prices.date.clone(),
        builds: package.builds,
        package_bytes: package.bytes,
        call_max_ns: u64::try_from(call_max(&plan, &fleet).as_nanos()).unwrap_or(u64::MAX),
    };
    let head = RunHead { fleet: Some(terms), ..session::head(spec, plan, material.subjects) };
    let mut store = Store::open(&context.db())?;
    let run = store.begin(&head)?;
    Expedition { context, outfit: &outfit, cargo: &cargo, package: &package, head: &head, run }.carry_out(&mut store)
}

/// A report where nothing is left to measure: all code is identical, or nothing runs.
fn without_calls(context: &Context, spec: &Spec, (plan, material): (Plan, Material)) -> Result<u8, Failure> {
    if plan.excluded.is_empty() {
        return Err(nothing_selected(context).into());
    }
    if context.settings.dry_run() {
        context.printer.data(&dry_run::render(&plan, &material.subjects.info))?;
        return Ok(code::CLEAN);
    }
    let head = session::head(spec, plan, material.subjects);
    let mut store = Store::open(&context.db())?;
    let run = store.begin(&head)?;
    store.end(run, &RunSummary { measured: Duration::ZERO, complete: true }, None)?;
    report(context, &store, run, true)
}

/// Goes on with a run that did not come to its end.
pub(super) fn resume(context: &Context, (name, spec, terms): (&str, FleetSpec, FleetTerms)) -> Result<u8, Failure> {
    let mut store = Store::open_existing(&context.db())?;
    let head = unfinished(&store, name)?.head;
    let Some(origin) = &head.origin else {
        return Err(Failure::usage(format!("run `{name}` does not say what it compares")));
    };
    let outfit = Outfit::new(context, context.settings.capped(spec))?;
    let prepared = prepare(context, &head.spec, origin)?;
    let builds = same_builds(&prepared, &head)?;
    let cargo = outfit.cargo(&prepared, &builds)?;
    let package = outfit.pack(context, (&cargo, &head.plan), terms.builds)?;
    if package.builds != terms.builds {
        let what = format!("only {} of the run's {} build pairs fit into a package", package.builds, terms.builds);
        return Err(FleetError::new(what).hint("name the bucket that the run was begun with: `--bucket`").into());
    }
    let run = store.reopen(name)?;
    Expedition { context, outfit: &outfit, cargo: &cargo, package: &package, head: &head, run }.carry_out(&mut store)
}

/// Runs every benchmark once from the package, without tools and environment. What fails so would fail there.
fn rehearsed(
    context: &Context,
    outfit: &Outfit,
    (cargo, package, plan): (&Cargo<'_>, &Package, &Plan),
) -> Result<Vec<Excluded>, Failure> {
    if outfit.spec.arch != fleet::this_arch() {
        context.printer.note("the instances have another processor, so that nothing is rehearsed here");
        return Ok(Vec::new());
    }
    context.printer.note(&format!("rehearsing {} benchmarks with what travels alone", plan.benchmarks.len()));
    let here = Here::new(u32::MAX);
    let deployed = here.deploy(&deployment(outfit, package, ("rehearsal", CALL_MIN)))?;
    let recipes = |planned: &PlannedBenchmark, build| package.recipes(cargo, planned, build);
    let limits = (&*deployed, context.settings.timeout());
    let staying = rehearse(&plan.benchmarks, &recipes, limits, &context.interrupted)?;
    deployed.remove()?;
    let excluded = staying.into_iter().map(|one| {
        let id = plan.benchmarks[one.benchmark].id.clone();
        let words = format!("does not run on a fleet, compare it without `--on`: {}", one.reason);
        Excluded::Failed(id, one.role.unwrap_or(Role::Candidate), words)
    });
    Ok(excluded.collect())
}

/// Takes benchmarks out of the plan.
fn leave_out(plan: &mut Plan, excluded: Vec<Excluded>) {
    plan.benchmarks.retain(|planned| excluded.iter().all(|e| e.id() != &planned.id));
    plan.excluded.extend(excluded);
    plan.excluded.sort_by(|a, b| a.id().cmp(b.id()));
}

fn announce(context: &Context, (outfit, package): (&Outfit, &Package), forecast: &Forecast) {
    let (engine, memory) = (outfit.engine.name(), outfit.spec.memory_mb);
    let megabytes = package.bytes as f64 * 1e-6;
    context.printer.note(&format!(
        "on {engine}: {} calls at most, {} at once, {memory} MB each; package {megabytes:.1} MB with {} build pairs",
        forecast.calls, forecast.parallel, package.builds
    ));
    context.printer.note(&format!(
        "predicted: at most about {} and ${:.2} (prices of {}); capped at {} and ${:.2}",
        humantime::format_duration(Duration::from_secs(forecast.wall.as_secs() + 1)),
        forecast.cost_usd,
        outfit.prices.date,
        humantime::format_duration(outfit.spec.max_time),
        outfit.spec.max_cost_usd,
    ));
}

/// What a call may take at most.
fn call_max(plan: &Plan, spec: &FleetSpec) -> Duration {
    let longest = plan.benchmarks.iter().map(|b| b.trial_predicted_ns).max().unwrap_or(0);
    let call = Duration::from_nanos(longest).saturating_mul(spec.forks_per_call).saturating_mul(CALL_PATIENCE);
    call.saturating_add(CALL_MIN).min(CALL_MAX)
}

fn deployment<'a>(outfit: &Outfit, package: &'a Package, (run, call_max): (&'a str, Duration)) -> Deployment<'a> {
    Deployment {
        package: &package.file,
        run,
        memory_mb: outfit.spec.memory_mb,
        disk_mb: package.unpacked_mb,
        arch: outfit.spec.arch,
        call_max,
        parallel: outfit.spec.parallel.min(outfit.limits.parallel),
        expires: SystemTime::now() + outfit.spec.max_time + LEFTOVER_GRACE,
    }
}

/// A run with all that it takes along.
struct Expedition<'a> {
    context: &'a Context,
    outfit: &'a Outfit,
    cargo: &'a Cargo<'a>,
    package: &'a Package,
    head: &'a RunHead,
    run: RunId,
}

impl Expedition<'_> {
    /// Deploys, measures, removes what was deployed, and reports.
    fn carry_out(&self, store: &mut Store) -> Result<u8, Failure> {
        self.outfit.sweep(self.context)?;
        let call_max = call_max(&self.head.plan, &self.outfit.spec);
        // Two runs of two stores may have the same number.
        let name = format!("{}-{:08x}", self.run, self.head.plan.seed & 0xffff_ffff);
        let deployed = self.outfit.engine.deploy(&deployment(self.outfit, self.package, (&name, call_max)))?;
        let summary = self.measure(store, (&*deployed, call_max));
        // In every case, and whatever came of the measuring is told first.
        let removed = deployed.remove().map_err(|e| {
            let hint = "`duet fleet sweep` removes it once its time is up";
            FleetError::new(format!("`{}` could not be removed: {e}", deployed.name())).hint(hint)
        });
        let summary = summary?;
        removed?;
        store.end(self.run, &RunSummary { measured: summary.measured, complete: summary.is_complete() }, None)?;
        self.say_how_it_ended(&summary);
        let exit = report(self.context, store, self.run, self.was_judged(&summary))?;
        Ok(if summary.ended == Ended::Interrupted { code::INTERRUPTED } else { exit })
    }

    fn measure(
        &self,
        store: &mut Store,
        (deployed, call_max): (&dyn Deployed, Duration),
    ) -> Result<FleetSummary, Failure> {
        let stored = store.load(&self.run.to_string())?.comparison()?;
        let terms = self.head.fleet.as_ref();
        let recipes =
            |planned: &PlannedBenchmark, build| -> Option<Recipes> { self.package.recipes(self.cargo, planned, build) };
        let job = FleetJob {
            plan: &self.head.plan,
            decision: &self.head.spec.decision,
            spec: &self.outfit.spec,
            deployed,
            limits: self.outfit.limits,
            call_max,
            timeout: self.context.settings.timeout(),
            recipes: &recipes,
            rate: self.outfit.prices.rate,
            past: &stored.trials,
            spent_usd: terms.map_or(0.0, |terms| terms.cost_usd(&stored.calls, &self.outfit.spec)),
        };
        let benchmarks = self.head.plan.benchmarks.iter().map(|b| &b.id).collect();
        let mut recorder = FleetRecorder::new(store, self.run, benchmarks, &self.context.printer);
        let summary = measure(&job, &mut recorder, &self.context.interrupted);
        recorder.finish();
        summary.map_err(|e| {
            let run = self.run;
            let what = format!("what was measured until then is stored: `duet compare --resume {run}` goes on");
            self.context.printer.note(&what);
            e.into()
        })
    }

    fn say_how_it_ended(&self, summary: &FleetSummary) {
        let why = match summary.ended {
            Ended::Done => return,
            Ended::Cost => "`--max-cost` is spent",
            Ended::Time => "`--max-time` is up",
            Ended::Broken => "too many calls failed for reasons of the fleet",
            Ended::Refused => "the provider refuses calls",
            Ended::Interrupted => "interrupted",
        };
        let run = self.run;
        self.context.printer.note(&format!("{why}; `duet compare --resume {run}` goes on from here"));
    }

    /// Whether what was measured is all that was to be had under the caps.
    fn was_judged(&self, summary: &FleetSummary) -> bool {
        matches!(summary.ended, Ended::Done | Ended::Cost | Ended::Time)
    }
}

/// Prints what is stored; a run that broke off is a failure unless it found a regression.
fn report(context: &Context, store: &Store, run: RunId, judged: bool) -> Result<u8, Failure> {
    let stored = store.load(&run.to_string())?.comparison()?;
    let decision = stored.head.spec.decision;
    let report = assemble::report(stored, decision);
    let exit = exit_code(report.outcome(), context.settings.strict());
    let exit = if judged || exit == code::REGRESSION { exit } else { code::FAILED };
    context.printer.report(&report, exit)?;
    Ok(exit)
}
