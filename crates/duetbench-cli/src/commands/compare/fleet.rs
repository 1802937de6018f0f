//! `duet compare --on`: built here, measured on a fleet.

use std::time::Duration;

use duetbench_core::fleet::{CallLength, FleetTerms, Forecast, forecast};
use duetbench_core::instructions::Countable;
use duetbench_core::plan::{Excluded, Plan, PlannedBenchmark, instance_capacity};
use duetbench_core::spec::{Effort, FleetSpec, defaults};
use duetbench_core::{Role, Spec};
use duetbench_run::engine::RunSummary;
use duetbench_run::fleet::FleetError;
use duetbench_run::fleet::convoy::Convoy;
use duetbench_run::fleet::here::Here;
use duetbench_run::fleet::package::{Cargo, Package, builds_of};
use duetbench_run::fleet::rehearsal::rehearse;
use duetbench_run::prepare::Prepared;
use duetbench_run::store::{Origin, RunHead, Sitting, Store};

use super::errand::{Errand, Purpose};
use super::expedition::{Expedition, is_being_measured};
use super::material::Material;
use super::outfit::{Outfit, call_max, deployment};
use super::profiling::none_here;
use super::versions::{prepare, same_builds, unfinished};
use crate::commands::{Context, nothing_selected};
use crate::failure::{Failure, code};
use crate::fleet;
use crate::render::fleet::dollars;
use crate::render::format::benchmarks;
use crate::session::{self, Kept};

/// Builds, packs, rehearses, sends and concludes; gives the exit code.
pub(super) fn begin(errand: &Errand<'_>, fleet: FleetSpec, origin: Origin) -> Result<u8, Failure> {
    let (context, spec, purpose) = (errand.context, &errand.spec, errand.purpose);
    can_answer(&fleet, spec.effort)?;
    let outfit = Outfit::new(context, fleet)?;
    if spec.effort.budget.is_some() {
        context.printer.note("`--budget` has no effect on a fleet: `--max-time` and `--max-cost` are its limits");
    }
    let prepared = prepare(context, spec, &origin)?;
    prepared.adapter.travels()?;
    let (mut material, builds) = Material::prepared(context, &prepared, origin)?;
    if purpose.profiles(context) {
        material.subjects.warnings.push(none_here("--profile", "regressions are profiled without `--on` only"));
    }
    if purpose.counts(context).is_some_and(|countable| countable != Countable::Ruled) || spec.rules.names_instructions()
    {
        material.subjects.warnings.push(none_here("--count", "instructions are counted without `--on` only"));
    }
    let capacity = instance_capacity(fleet.memory_mb, prepared.adapter.processors_asked());
    let Some(mut plan) = material.unsettled(errand, capacity)? else { return Ok(code::CLEAN) };
    if plan.benchmarks.is_empty() {
        return without_calls(errand, plan, material);
    }
    let cargo = outfit.cargo(&prepared, &builds)?;
    let packages = outfit.pack(context, &cargo, &plan, builds_wanted(spec, &prepared))?;
    let staying = rehearsed(context, &outfit, &cargo, &packages, &plan)?;
    leave_out(&mut plan, staying);
    if plan.benchmarks.is_empty() {
        return without_calls(errand, plan, material);
    }
    plan.spread_over_calls(&fleet, spec.effort, |id| builds_of(&packages, id));
    let parallel = outfit.limits.parallel.min(fleet.parallel);
    let forecast = forecast(&plan, &fleet, parallel, outfit.prices.rate, CallLength::default());
    announce(context, &outfit, &packages, &forecast);
    if context.ends_dry() {
        return errand.show_plan(&plan, &material.subjects, &[]);
    }
    let terms = FleetTerms {
        rate: outfit.prices.rate,
        price_date: outfit.prices.date.clone(),
        builds: packages.iter().map(|package| package.builds).max().unwrap_or(0),
        package_bytes: packages.iter().map(|package| package.bytes).sum(),
        call_max_ns: u64::try_from(call_max(&plan, &fleet, context.settings.timeout()).as_nanos()).unwrap_or(u64::MAX),
        region: outfit.engine.region().map(str::to_owned),
    };
    let head = RunHead { fleet: Some(terms), ..session::head(spec, plan, material.subjects) };
    let mut store = Store::open(&context.db_to_write()?)?;
    let run = store.begin(&head)?;
    let (outfit, cargo, packages, head) = (&outfit, &cargo, &packages[..], &head);
    Expedition { context, purpose, outfit, cargo, packages, head, run }.carry_out(&mut store)
}

/// Refuses fewer calls than an interval needs units.
fn can_answer(fleet: &FleetSpec, effort: Effort) -> Result<(), Failure> {
    let (each, least) = (fleet.forks_per_call, defaults::UNITS_MIN * fleet.forks_per_call);
    let Some(forks) = effort.forks.filter(|forks| *forks < least) else { return Ok(()) };
    let fewer = if each > 1 && forks >= defaults::UNITS_MIN { ", or `--forks-per-call 1`" } else { "" };
    let calls = defaults::UNITS_MIN;
    Err(Failure::usage(format!(
        "`--forks {forks}` can never answer: an interval needs {calls} calls of {each} fork pairs"
    ))
    .hint(format!("`--forks {least}` is the least{fewer}")))
}

/// Build pairs that are linked, if there is room for them.
fn builds_wanted(spec: &Spec, prepared: &Prepared) -> u32 {
    if prepared.adapter.relinks() { spec.effort.builds.unwrap_or(defaults::FLEET_BUILDS) } else { 1 }
}

/// A report where nothing is left to measure: all code is identical, or nothing runs.
fn without_calls(errand: &Errand<'_>, plan: Plan, material: Material) -> Result<u8, Failure> {
    let (context, spec) = (errand.context, &errand.spec);
    if plan.excluded.is_empty() {
        return Err(nothing_selected(context).into());
    }
    if context.ends_dry() {
        return errand.show_plan(&plan, &material.subjects, &[]);
    }
    let head = session::head(spec, plan, material.subjects);
    let mut store = Store::open(&context.db_to_write()?)?;
    let run = store.begin(&head)?;
    store.end(run, &RunSummary { measured: Duration::ZERO, complete: true }, None)?;
    errand.purpose.conclude(context, Kept { store: &mut store, run }, &|judged| judged)
}

/// Goes on with a run that did not come to its end.
pub(super) fn resume(context: &Context, purpose: &dyn Purpose, name: &str, spec: FleetSpec) -> Result<u8, Failure> {
    let mut store = Store::open_existing(&context.db_to_write()?)?;
    let head = unfinished(context, &store, name)?.head;
    let run = store.reopen(name)?;
    let left = store.sittings_left(run)?;
    if left.iter().any(Sitting::goes_on) {
        return Err(is_being_measured(run));
    }
    let Some(origin) = &head.origin else {
        return Err(Failure::usage(format!("run `{name}` does not say what it compares")));
    };
    let outfit = Outfit::new(context, context.settings.capped(spec))?;
    let terms = head.fleet.as_ref();
    if let Some(region) = terms.and_then(|terms| terms.region.as_deref()).filter(|r| Some(*r) != outfit.engine.region())
    {
        return Err(Failure::usage(format!(
            "run `{run}` was measured in {region}, where its prices hold and what it left behind lies"
        ))
        .hint(format!(
            "`duet {}{} --region {region}` goes on there",
            purpose.goes_on(run),
            context.settings.db_typed()
        )));
    }
    // First, since with other sources it cannot be gone on with, and could not be removed either.
    outfit.tidy_up(context, &mut store, run, &left)?;
    let prepared = prepare(context, &head.spec, origin)?;
    let builds = same_builds(&prepared, &head)?;
    let cargo = outfit.cargo(&prepared, &builds)?;
    let planned = &head.plan.benchmarks;
    let several = planned.iter().any(|b| b.configuration.design.by_build);
    let builds_at_most = if several { builds_wanted(&head.spec, &prepared) } else { 1 };
    let packages = outfit.pack(context, &cargo, &head.plan, builds_at_most)?;
    if let Some(other) = planned.iter().find(|b| !goes_on_with(b, builds_of(&packages, &b.id))) {
        let what = format!("the packages do not hold the build pairs that the run began with, of {}", other.id);
        let hint = "name the bucket that the run was begun with, `--bucket`, or none where it had none";
        return Err(FleetError::new(what).hint(hint).into());
    }
    let (outfit, cargo, packages, head) = (&outfit, &cargo, &packages[..], &head);
    Expedition { context, purpose, outfit, cargo, packages, head, run }.carry_out(&mut store)
}

/// Whether so many build pairs in a package are those that a benchmark was measured with: a single one has the linker's own order,
/// that the first of several does not have.
fn goes_on_with(planned: &PlannedBenchmark, builds: u32) -> bool {
    let design = &planned.configuration.design;
    if design.by_build { builds >= design.units } else { builds == 1 }
}

/// Runs every benchmark once from the package, without tools and environment. What fails so would fail there.
fn rehearsed(
    context: &Context,
    outfit: &Outfit,
    cargo: &Cargo<'_>,
    packages: &[Package],
    plan: &Plan,
) -> Result<Vec<Excluded>, Failure> {
    if outfit.spec.arch != fleet::this_arch() {
        context.printer.note("the instances have another processor, so that nothing is rehearsed here");
        return Ok(Vec::new());
    }
    context.printer.note(&format!("rehearsing {} with what travels alone", benchmarks(plan.benchmarks.len())));
    let here = Here::new(u32::MAX);
    let timeout = context.settings.timeout();
    let usual = deployment(outfit, packages.len(), "rehearsal", call_max(plan, &outfit.spec, timeout));
    let deployed = Convoy::deploy(&here, packages, &usual)?;
    let recipes = |planned: &PlannedBenchmark, build| cargo.recipes(packages, planned, build);
    let staying = rehearse(&plan.benchmarks, &recipes, &deployed.each(), timeout, &context.interrupted)?;
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

fn announce(context: &Context, outfit: &Outfit, packages: &[Package], forecast: &Forecast) {
    let (engine, memory) = (outfit.engine.name(), outfit.spec.memory_mb);
    let contents = |p: &Package| format!("{:.1} MB with {} build pairs", p.bytes as f64 * 1e-6, p.builds);
    let contents = packages.iter().map(contents).collect::<Vec<_>>().join(", ");
    context.printer.note(&format!(
        "on {engine}: about {} calls, {} at once, {memory} MB each; to send: {contents}",
        forecast.calls, forecast.parallel
    ));
    context.printer.note(&format!(
        "predicted: about {} and {} (prices of {}); at most {} and {}, by `--max-time` and `--max-cost`",
        humantime::format_duration(Duration::from_secs(forecast.wall.as_secs() + 1)),
        dollars(forecast.cost_usd),
        outfit.prices.date,
        humantime::format_duration(outfit.spec.max_time),
        dollars(outfit.spec.max_cost_usd),
    ));
}
