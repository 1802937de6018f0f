//! The course of a run of two versions, whatever it is made for: from its subject to what is concluded.

use std::path::Path;
use std::time::Instant;

use duetbench_core::BenchmarkId;
use duetbench_core::instructions::Countable;
use duetbench_core::plan::{Plan, PlannedBenchmark, Style};
use duetbench_core::spec::{ModeChoice, Policy};
use duetbench_run::engine::{
    Benches, Counter, Executor, Profiler, Scripted, UnitReader, Wanted, Watched, probe, probing_takes, profiling_takes,
    unit_reading_takes,
};
use duetbench_run::noise::Watch;
use duetbench_run::source::check;
use duetbench_run::store::{Origin, RunHead, Store};

use super::errand::{Errand, Purpose, Subject};
use super::fleet;
use super::material::Material;
use super::versions::{Built, prepare, same_builds, unfinished};
use super::{counting, profiling, reading};
use crate::commands::{Context, nothing_selected};
use crate::dry_run;
use crate::failure::{Failure, code};
use crate::forecast;
use crate::render::format::version;
use crate::session::{self, Session, Subjects, lock_machine, lock_unless_dry, refuse_dry_run, tell_interrupted};
use crate::waiting::Waiting;

/// Means for the steps that follow once everything is judged by time.
#[derive(Default)]
struct Afterwards<'a> {
    /// Reads what benchmarks report themselves.
    reader: Option<UnitReader<'a>>,
    /// Counts instructions, and of which benchmarks.
    counter: Option<(Counter<'a>, Countable)>,
    /// Profiles regressions.
    profiler: Option<Profiler<'a>>,
    /// Reasons why a step that is wanted cannot be taken here.
    untold: Vec<String>,
}

impl Afterwards<'_> {
    /// Whether verdicts rest on one of the steps.
    fn are_judged(&self, rules: &Policy) -> bool {
        self.reader.is_some() || (self.counter.is_some() && rules.names_instructions())
    }
}

/// The executor of the trials, and the steps after them.
struct Means<'a, 'b> {
    executor: &'a mut dyn Executor,
    afterwards: Afterwards<'b>,
}

impl<'a> Means<'a, '_> {
    /// Nothing follows.
    fn of(executor: &'a mut dyn Executor) -> Self {
        Means { executor, afterwards: Afterwards::default() }
    }
}

/// Measures and concludes; gives the exit code.
pub(in crate::commands) fn begin(errand: &Errand<'_>, subject: Subject<'_>) -> Result<u8, Failure> {
    match (subject, errand.spec.fleet) {
        (Subject::Versions(origin), Some(spec)) => fleet::begin(errand, spec, origin),
        (Subject::Versions(origin), None) => here(errand, origin),
        (Subject::Scripted(script, roles), _) => {
            let mut scripted = Scripted::load(script)?;
            let material = Material::scripted(&scripted, roles);
            let Some(plan) = material.unsettled(errand, material.capacity())? else { return Ok(code::CLEAN) };
            tell_forecast(errand, &plan);
            measure(errand, plan, material.subjects, Means::of(&mut scripted))
        }
    }
}

/// The same on this machine.
fn here(errand: &Errand<'_>, origin: Origin) -> Result<u8, Failure> {
    let (context, spec) = (errand.context, &errand.spec);
    // Whoever mistyped a version need not wait to be told.
    origin.versions.iter().try_for_each(|version| check(version, &origin.cwd))?;
    // One that takes nothing is better known before building; where there is none, nothing is made before there is something to keep.
    if !context.settings.dry_run() {
        let db = context.db_to_write()?;
        if db.exists() {
            Store::open(&db)?;
        }
    }
    let _lock = lock_unless_dry(context)?;
    let prepared = prepare(context, spec, &origin)?;
    let (mut material, builds) = Material::prepared(context, &prepared, origin)?;
    let Some(mut plan) = material.unsettled(errand, material.capacity())? else { return Ok(code::CLEAN) };
    let built = Built { prepared: &prepared, builds: builds.clone() };
    let mut afterwards = afterwards(context, errand.purpose, &built, &spec.rules)?;
    material.subjects.warnings.append(&mut afterwards.untold);
    let mut versions = context.local(&prepared, builds.clone())?;
    let in_pairs = spec.mode != ModeChoice::Sequential;
    let tells = |benchmark: &PlannedBenchmark| in_pairs || benchmark.style != Style::Process;
    if plan.benchmarks.iter().any(tells) && !context.settings.dry_run() {
        let [baseline, _] = builds;
        let mut baseline_alone = context.local(&prepared, [baseline.clone(), baseline])?;
        let benches = Benches { versions: &mut versions, baseline_alone: &mut baseline_alone };
        look(errand, &mut plan, &material, benches)?;
    }
    tell_forecast(errand, &plan);
    measure(errand, plan, material.subjects, Means { executor: &mut Watched::new(&mut versions), afterwards })
}

/// The steps that are wanted once everything is judged by time.
fn afterwards<'a>(
    context: &Context,
    purpose: &dyn Purpose,
    built: &Built<'a>,
    rules: &Policy,
) -> Result<Afterwards<'a>, Failure> {
    let mut steps = Afterwards::default();
    if purpose.judges_units() {
        steps.reader = reading::reader(context, built.clone(), rules)?;
    }
    let ruled = rules.names_instructions();
    if let Some(countable) = purpose.counts(context).filter(|countable| ruled || *countable != Countable::Ruled) {
        let counter = counting::counter(context, built.clone(), ruled, &mut steps.untold)?;
        steps.counter = counter.map(|counter| (counter, countable));
    }
    if purpose.profiles(context) {
        steps.profiler = profiling::profiler(context, built.clone(), &mut steps.untold)?;
    }
    Ok(steps)
}

/// Has first trials tell how each benchmark is best measured.
fn look(errand: &Errand<'_>, plan: &mut Plan, material: &Material, benches: Benches<'_>) -> Result<(), Failure> {
    let (context, spec, planned) = (errand.context, &errand.spec, errand.planned.as_ref());
    let warm_up = |id: &BenchmarkId| spec.harness.warmup.is_none() && !planned.is_some_and(|planned| planned.knows(id));
    let wanted = Wanted { mode: spec.mode == ModeChoice::Auto, warm_up: &warm_up };
    let (began, mut watch) = (Instant::now(), Watch::start());
    let learnt = {
        let _waiting = announce_first_trials(context, plan, &wanted);
        probe(plan, benches, &wanted, &context.interrupted)?
    };
    plan.spend(began.elapsed());
    plan.learn(learnt, spec, material.capacity());
    if watch.lap().is_disturbed() {
        plan.expect_disturbance(spec.effort);
    }
    if let Some(planned) = planned {
        plan.follow(&planned.starts(), spec, material.capacity());
    }
    Ok(())
}

/// Says before anything is measured what the time is enough for that first trials left; a dry run has it in its output.
fn tell_forecast(errand: &Errand<'_>, plan: &Plan) {
    let is_told = errand.purpose.tells_forecast() && !errand.context.settings.dry_run();
    let words = forecast::words(plan, &errand.spec).filter(|_| is_told);
    words.iter().for_each(|words| errand.context.printer.note(words));
}

/// Says what happens before measuring, and how long it takes where somebody would wonder.
fn announce_first_trials<'a>(context: &'a Context, plan: &Plan, wanted: &Wanted<'_>) -> Waiting<'a> {
    let takes = probing_takes(plan, wanted).as_secs();
    let long = humantime::format_duration(std::time::Duration::from_secs(takes));
    let how_long = if takes > 2 { format!(" (about {long})") } else { String::new() };
    let words = format!("looking at each benchmark for a moment, to see how it is best measured{how_long}");
    Waiting::begin(&context.printer, words)
}

/// From a plan to the exit code.
fn measure(errand: &Errand<'_>, plan: Plan, subjects: Subjects, means: Means<'_, '_>) -> Result<u8, Failure> {
    let context = errand.context;
    if plan.benchmarks.is_empty() && plan.excluded.is_empty() {
        // Those that skip themselves say why.
        subjects.warnings.iter().for_each(|words| context.printer.note(words));
        return Err(nothing_selected(context).into());
    }
    if context.ends_dry() {
        let afterwards = more_to_come(&plan, &errand.spec.rules, &means.afterwards);
        return errand.show_plan(&plan, &subjects, &afterwards);
    }
    let head = session::head(&errand.spec, plan, subjects);
    let mut store = Store::open(&context.db_to_write()?)?;
    let session = Session::begin(context, &mut store, &head)?;
    errand.purpose.begins(session.run())?;
    carry_out(errand.purpose, session, &head, means)
}

/// The steps that follow once everything is judged by time, in words.
fn more_to_come(plan: &Plan, rules: &Policy, afterwards: &Afterwards<'_>) -> Vec<String> {
    let asked: Vec<_> = reading::asked(plan, rules).into_iter().map(|(planned, _)| planned).collect();
    let readings = afterwards.reader.as_ref().map(|_| dry_run::readings(unit_reading_takes(&asked)));
    let counts =
        afterwards.counter.as_ref().map(|(counter, countable)| counting::takes(counter, *countable, plan, rules));
    let profiles = afterwards.profiler.as_ref().map(|_| dry_run::profiles(profiling_takes(plan)));
    readings.into_iter().chain(counts).chain(profiles).collect()
}

/// Goes on with a run that did not come to its end; a scripted one needs its script again.
pub(in crate::commands) fn resume(
    name: &str,
    script: Option<&Path>,
    context: &Context,
    purpose: &dyn Purpose,
) -> Result<u8, Failure> {
    refuse_dry_run(context)?;
    let mut store = Store::open_existing(&context.db_to_write()?)?;
    let stored = unfinished(context, &store, name)?;
    let (name, head) = (&stored.name, &stored.head);
    if let Some(script) = script {
        let mut scripted = Scripted::load(script)?;
        let session = Session::resume(context, &mut store, &stored)?;
        return carry_out(purpose, session, head, Means::of(&mut scripted));
    }
    if let Some(spec) = head.spec.fleet {
        return fleet::resume(context, purpose, name, spec);
    }
    let Some(origin) = &head.origin else {
        return Err(Failure::usage(format!("run `{name}` was scripted: name its script")));
    };
    let _lock = lock_machine(context)?;
    // Whoever held the machine until now may have measured this very run.
    let stored = unfinished(context, &store, name)?;
    let head = &stored.head;
    let prepared = prepare(context, &head.spec, origin)?;
    let builds = same_builds(&prepared, head)?;
    session::same_machine(&head.environment)?;
    let built = Built { prepared: &prepared, builds: builds.clone() };
    let afterwards = afterwards(context, purpose, &built, &head.spec.rules)?;
    afterwards.untold.iter().for_each(|words| context.printer.note(words));
    let mut local = context.local(&prepared, builds)?;
    let session = Session::resume(context, &mut store, &stored)?;
    carry_out(purpose, session, head, Means { executor: &mut Watched::new(&mut local), afterwards })
}

/// Measures what is open, and concludes.
fn carry_out(
    purpose: &dyn Purpose,
    mut session: Session<'_>,
    head: &RunHead,
    Means { executor, mut afterwards }: Means<'_, '_>,
) -> Result<u8, Failure> {
    let context = session.context();
    let [baseline, candidate] = [&head.baseline, &head.candidate].map(version);
    let versions = format!("base {baseline}, head {candidate}, seed {}", head.spec.seed);
    session.announce(&versions, head.plan.benchmarks.len(), head.plan.predicted());
    let goes_on = afterwards.are_judged(&head.spec.rules);
    session = session.going_on(goes_on);
    let measured = session.compare(head, executor);
    session.tell_how_to_go_on(&purpose.goes_on(session.run()), &measured);
    let mut complete = measured?.complete;
    let mut kept = session.into_kept();
    let was_measured = complete;
    if let Some(reader) = afterwards.reader.as_mut().filter(|_| complete) {
        complete = reading::read(context, &mut kept, reader)?;
    }
    if let Some((counter, countable)) = afterwards.counter.as_mut().filter(|_| complete) {
        complete = counting::count(context, &mut kept, counter, *countable)?;
    }
    if complete && goes_on {
        kept.ends()?;
    } else if was_measured && !complete {
        tell_interrupted(context, &purpose.goes_on(kept.run));
    }
    if let Some(profiler) = afterwards.profiler.filter(|_| complete) {
        profiling::explain(context, &mut kept, &profiler);
    }
    let exit_of = |judged| if complete { judged } else { code::INTERRUPTED };
    purpose.conclude(context, kept, &exit_of)
}
