//! `duet compare --on`: built here, measured on a fleet.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use duetbench_core::fleet::{CallLength, FleetTerms, Forecast, forecast};
use duetbench_core::plan::{Excluded, Plan, PlannedBenchmark, instance_capacity};
use duetbench_core::spec::{FleetSpec, defaults};
use duetbench_core::{Role, Schedule, Spec};
use duetbench_run::adapter::Build;
use duetbench_run::engine::RunSummary;
use duetbench_run::fleet::convoy::Convoy;
use duetbench_run::fleet::here::Here;
use duetbench_run::fleet::package::{Cargo, Package, builds_of};
use duetbench_run::fleet::rehearsal::rehearse;
use duetbench_run::fleet::{Deployment, Engine, FleetError, Limits};
use duetbench_run::prepare::Prepared;
use duetbench_run::scratch::Scratch;
use duetbench_run::store::{Origin, RunHead, Store};

use super::course::{prepare, same_builds, unfinished};
use super::errand::{Errand, Purpose};
use super::expedition::Expedition;
use super::material::Material;
use super::profiling::none_here;
use crate::commands::{Context, nothing_selected};
use crate::dry_run;
use crate::failure::{Failure, code};
use crate::fleet::{self, Prices};
use crate::render::fleet::dollars;
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
pub(super) struct Outfit {
    pub(super) spec: FleetSpec,
    pub(super) engine: Box<dyn Engine>,
    pub(super) limits: Limits,
    pub(super) prices: Prices,
    worker: PathBuf,
    scratch: Scratch,
}

impl Outfit {
    fn new(context: &Context, spec: FleetSpec) -> Result<Outfit, Failure> {
        let account = context.settings.account();
        if !context.settings.pass_env().is_empty() {
            return Err(Failure::usage(
                "what a fleet runs sees no variable of yours: leave out `--pass-env`, or measure without `--on`",
            ));
        }
        let engine = fleet::engine(spec.engine, spec.parallel, &account)?;
        let worker = fleet::worker(&account, spec.arch)?;
        let prices = fleet::prices_of(&account)?;
        let limits = engine.limits()?;
        engine.caveats().iter().for_each(|caveat| context.printer.note(caveat));
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
    fn pack(
        &self,
        context: &Context,
        (cargo, plan): (&Cargo<'_>, &Plan),
        builds: u32,
    ) -> Result<Vec<Package>, Failure> {
        context.printer.note(&format!("linking up to {builds} build pairs of each package, and packing them"));
        let schedule = Schedule::new(plan);
        let layout_seeds: Vec<[u32; 2]> = (0..builds).map(|build| schedule.layout_seeds(build)).collect();
        let room = (self.limits.package_bytes, self.scratch.path());
        let packages = cargo.pack(&plan.benchmarks, &layout_seeds, room)?;
        for file in packages.first().iter().flat_map(|package| &package.left_out) {
            context.printer.note(&format!("`{}` is too large to travel", file.display()));
        }
        Ok(packages)
    }

    /// Removes what runs that died have left behind.
    pub(super) fn sweep(&self, context: &Context) -> Result<(), Failure> {
        for name in self.engine.sweep(SystemTime::now())? {
            context.printer.note(&format!("swept away `{name}`, which a run that died had left behind"));
        }
        Ok(())
    }
}

/// Builds, packs, rehearses, sends and concludes; gives the exit code.
pub(super) fn begin(errand: &Errand<'_>, fleet: FleetSpec, origin: Origin) -> Result<u8, Failure> {
    let (context, spec, purpose) = (errand.context, &errand.spec, errand.purpose);
    let outfit = Outfit::new(context, fleet)?;
    if spec.effort.budget.is_some() {
        context.printer.note("`--budget` has no effect on a fleet: `--max-time` and `--max-cost` are its limits");
    }
    let prepared = prepare(context, spec, &origin)?;
    prepared.adapter.travels()?;
    let (mut material, builds) = Material::prepared(&prepared, origin)?;
    if purpose.profiles(context) {
        material.subjects.warnings.push(none_here("regressions are profiled without `--on` only"));
    }
    let capacity = instance_capacity(fleet.memory_mb, prepared.adapter.processors_asked());
    let mut plan = material.plan(context, spec, capacity)?;
    material.follow(&mut plan, errand);
    if purpose.is_settled(errand, (&plan, &material.subjects))? {
        return Ok(code::CLEAN);
    }
    if plan.benchmarks.is_empty() {
        return without_calls(errand, (plan, material));
    }
    let cargo = outfit.cargo(&prepared, &builds)?;
    let packages = outfit.pack(context, (&cargo, &plan), builds_wanted(spec, &prepared))?;
    let staying = rehearsed(context, &outfit, (&cargo, &packages, &plan))?;
    leave_out(&mut plan, staying);
    if plan.benchmarks.is_empty() {
        return without_calls(errand, (plan, material));
    }
    plan.spread_over_calls(&fleet, spec.effort, |id| builds_of(&packages, id));
    let parallel = outfit.limits.parallel.min(fleet.parallel);
    let forecast = forecast(&plan, &fleet, parallel, (outfit.prices.rate, CallLength::default()));
    announce(context, (&outfit, &packages), &forecast);
    if context.settings.dry_run() {
        context.printer.data(&dry_run::render(&plan, &material.subjects.info))?;
        return Ok(code::CLEAN);
    }
    let terms = FleetTerms {
        rate: outfit.prices.rate,
        price_date: outfit.prices.date.clone(),
        builds: packages.iter().map(|package| package.builds).max().unwrap_or(0),
        package_bytes: packages.iter().map(|package| package.bytes).sum(),
        call_max_ns: u64::try_from(call_max(&plan, &fleet).as_nanos()).unwrap_or(u64::MAX),
    };
    let head = RunHead { fleet: Some(terms), ..session::head(spec, plan, material.subjects) };
    let mut store = Store::open(&context.db())?;
    let run = store.begin(&head)?;
    let (outfit, cargo, packages, head) = (&outfit, &cargo, &packages[..], &head);
    Expedition { context, purpose, outfit, cargo, packages, head, run }.carry_out(&mut store)
}

/// Build pairs that are linked, if there is room for them.
fn builds_wanted(spec: &Spec, prepared: &Prepared) -> u32 {
    if prepared.adapter.relinks() { spec.effort.builds.unwrap_or(defaults::FLEET_BUILDS) } else { 1 }
}

/// A report where nothing is left to measure: all code is identical, or nothing runs.
fn without_calls(errand: &Errand<'_>, (plan, material): (Plan, Material)) -> Result<u8, Failure> {
    let (context, spec) = (errand.context, &errand.spec);
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
    errand.purpose.conclude(context, (&mut store, run), &|judged| judged)
}

/// Goes on with a run that did not come to its end.
pub(super) fn resume(
    (context, purpose): (&Context, &dyn Purpose),
    (name, spec): (&str, FleetSpec),
) -> Result<u8, Failure> {
    let mut store = Store::open_existing(&context.db())?;
    let head = unfinished(&store, name)?.head;
    let Some(origin) = &head.origin else {
        return Err(Failure::usage(format!("run `{name}` does not say what it compares")));
    };
    let outfit = Outfit::new(context, context.settings.capped(spec))?;
    let prepared = prepare(context, &head.spec, origin)?;
    let builds = same_builds(&prepared, &head)?;
    let cargo = outfit.cargo(&prepared, &builds)?;
    let packages = outfit.pack(context, (&cargo, &head.plan), builds_wanted(&head.spec, &prepared))?;
    let lacks = |b: &&PlannedBenchmark| {
        let design = &b.configuration.design;
        builds_of(&packages, &b.id) < if design.by_build { design.units } else { 1 }
    };
    if let Some(lacking) = head.plan.benchmarks.iter().find(lacks) {
        let what = format!("not all build pairs that the run began with fit into a package, of {}", lacking.id);
        return Err(FleetError::new(what).hint("name the bucket that the run was begun with: `--bucket`").into());
    }
    let run = store.reopen(name)?;
    let (outfit, cargo, packages, head) = (&outfit, &cargo, &packages[..], &head);
    Expedition { context, purpose, outfit, cargo, packages, head, run }.carry_out(&mut store)
}

/// Runs every benchmark once from the package, without tools and environment. What fails so would fail there.
fn rehearsed(
    context: &Context,
    outfit: &Outfit,
    (cargo, packages, plan): (&Cargo<'_>, &[Package], &Plan),
) -> Result<Vec<Excluded>, Failure> {
    if outfit.spec.arch != fleet::this_arch() {
        context.printer.note("the instances have another processor, so that nothing is rehearsed here");
        return Ok(Vec::new());
    }
    context.printer.note(&format!("rehearsing {} benchmarks with what travels alone", plan.benchmarks.len()));
    let here = Here::new(u32::MAX);
    let usual = deployment(outfit, packages.len(), ("rehearsal", CALL_MIN));
    let deployed = Convoy::deploy(&here, packages, &usual)?;
    let recipes = |planned: &PlannedBenchmark, build| cargo.recipes(packages, planned, build);
    let called = (&deployed.each()[..], context.settings.timeout());
    let staying = rehearse(&plan.benchmarks, &recipes, called, &context.interrupted)?;
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

fn announce(context: &Context, (outfit, packages): (&Outfit, &[Package]), forecast: &Forecast) {
    let (engine, memory) = (outfit.engine.name(), outfit.spec.memory_mb);
    let contents = |p: &Package| format!("{:.1} MB with {} build pairs", p.bytes as f64 * 1e-6, p.builds);
    let contents = packages.iter().map(contents).collect::<Vec<_>>().join(", ");
    context.printer.note(&format!(
        "on {engine}: {} calls at most, {} at once, {memory} MB each; to send: {contents}",
        forecast.calls, forecast.parallel
    ));
    context.printer.note(&format!(
        "predicted: at most about {} and {} (prices of {}); capped at {} and {}",
        humantime::format_duration(Duration::from_secs(forecast.wall.as_secs() + 1)),
        dollars(forecast.cost_usd),
        outfit.prices.date,
        humantime::format_duration(outfit.spec.max_time),
        dollars(outfit.spec.max_cost_usd),
    ));
}

/// What a call may take at most.
pub(super) fn call_max(plan: &Plan, spec: &FleetSpec) -> Duration {
    let longest = plan.benchmarks.iter().map(|b| b.trial_predicted_ns).max().unwrap_or(0);
    let call = Duration::from_nanos(longest).saturating_mul(spec.forks_per_call).saturating_mul(CALL_PATIENCE);
    call.saturating_add(CALL_MIN).min(CALL_MAX)
}

/// How one of so many packages is deployed, but for what is its own.
pub(super) fn deployment<'a>(outfit: &Outfit, packages: usize, (run, call_max): (&'a str, Duration)) -> Deployment<'a> {
    // Each function's calls are set aside for it, and all of them must be there.
    let share = outfit.limits.parallel / u32::try_from(packages).unwrap_or(u32::MAX).max(1);
    Deployment {
        package: Path::new(""),
        run,
        memory_mb: outfit.spec.memory_mb,
        disk_mb: 0,
        arch: outfit.spec.arch,
        call_max,
        parallel: outfit.spec.parallel.min(share).max(1),
        expires: SystemTime::now() + outfit.spec.max_time + LEFTOVER_GRACE,
    }
}
