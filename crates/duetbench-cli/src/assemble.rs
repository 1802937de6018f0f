//! From a stored run to its report: samples in, verdicts out, nothing measured.

use std::collections::{BTreeMap, BTreeSet};

use duetbench_core::analysis::{IdenticalCode, Warning, analyse, note_out_of_time, suite_change};
use duetbench_core::calibrate::{Calibration, Machine, Made};
use duetbench_core::fleet::{Account, CallEnd, FleetReport, fail_abandoned};
use duetbench_core::hotspot::BENCHMARKS_MAX;
use duetbench_core::noise::{Facts, Witnessed, explain};
use duetbench_core::picture::pictures;
use duetbench_core::plan::instance_capacity;
use duetbench_core::report::{BenchmarkReport, Typed};
use duetbench_core::reported::{self, Readings};
use duetbench_core::solo_report::solo_results;
use duetbench_core::spec::{EngineName, defaults};
use duetbench_core::{BenchmarkId, Plan, Report, SoloReport, Trial};
use duetbench_run::RunError;
use duetbench_run::engine::TrialOutcome;
use duetbench_run::store::{RunHead, RunId, SoloHead, Store, StoredRun};

use crate::{moved, render, self_tests, steadiness, unkept};

/// The report of a run in a store, judged as it was then, with what a calibration says of it.
///
/// # Errors
/// When it cannot be read, or is no comparison.
pub fn stored(store: &Store, run: RunId) -> Result<Report, RunError> {
    let stored = store.load(&run.to_string())?.comparison()?;
    with_calibration(report(stored), store)
}

/// The report with what the newest calibration of its suite says, where there is one.
///
/// # Errors
/// When the store cannot be read.
pub fn with_calibration(mut report: Report, store: &Store) -> Result<Report, RunError> {
    let ids = plan_ids(&report.plan).into_iter().collect();
    let here = Machine::of(&report.environment, report.spec.fleet.as_ref());
    let each_s = measured_s(&report) / report.plan.benchmarks.len().max(1) as f64;
    let all = store.calibrations()?;
    let made = Made::concerning(&all, &ids, &here);
    let calibration = made.map(|made| made.note(&ids, each_s, &here));
    // A calibration of another machine is no measure of layouts here, and one of a fleet is a measure of calls.
    if let Some(made) = made.filter(|made| report.spec.fleet.is_none() && made.machine.is_alike(&here)) {
        for benchmark in &mut report.benchmarks {
            explain_by_layout(benchmark, &made.calibration);
        }
    }
    Ok(Report { calibration, ..report })
}

/// Time for which all benchmarks together were measured, seconds. On a fleet calls overlap, and what their slices took is known alone.
fn measured_s(report: &Report) -> f64 {
    if report.fleet.is_none() {
        return report.measured_s;
    }
    let forks = report.benchmarks.iter().flat_map(|b| &b.forks);
    forks.map(|fork| 1e-9 * (fork.baseline.measured_ns() + fork.candidate.measured_ns())).sum()
}

/// Says of a change between two binaries what a calibration knows of this benchmark's layouts.
fn explain_by_layout(benchmark: &mut BenchmarkReport, calibration: &Calibration) {
    let known = calibration.benchmarks.iter().find(|known| known.id == benchmark.id);
    let layout_sd = known.and_then(|known| known.sources).and_then(|sources| sources.layout);
    let ratio = benchmark.estimate.map_or(1.0, |estimate| estimate.ratio);
    for warning in &mut benchmark.warnings {
        if let (Warning::SingleBuild { relinks, .. }, Some(_)) = (&*warning, layout_sd) {
            *warning = Warning::single_build(ratio, *relinks, layout_sd);
        }
    }
}

/// The report of a stored run, judged as its specification says.
pub fn report(run: StoredRun<RunHead>) -> Report {
    let mut plan = run.plan();
    if !run.complete {
        // Somebody ended it, perhaps for what it showed, and not its budget.
        plan.budget_ns = None;
    }
    let mut benchmarks = analyse(&plan, &run.measured(), run.head.spec.thresholds());
    let abandoned = fail_abandoned(&mut benchmarks, &plan, &run.abandoned);
    if run.complete {
        note_out_of_time(&mut benchmarks, &plan, run.measured_s);
    }
    let elsewhere = run.head.spec.fleet.filter(|fleet| fleet.engine != EngineName::Here);
    let mut trials = witnessed(&run.trials, &plan_ids(&plan));
    if elsewhere.is_some() {
        // Instances differ in it, and none of them changes it.
        trials.iter_mut().for_each(|trial| trial.conditions.frequency = None);
    }
    let facts = elsewhere.map_or_else(|| run.head.facts.clone(), |fleet| facts_of_instance(fleet.memory_mb));
    let noise = explain(&trials, &facts, &benchmarks);
    let StoredRun { name, head, complete, measured_s, calls, profiles, instructions, readings, .. } = run;
    let suite = suite_change(&plan, &benchmarks, &head.spec.decision, IdenticalCode::LeftOut);
    let few_instances = elsewhere.and_then(|_| few_instances(&calls, &plan, &benchmarks));
    let fleet = head.spec.fleet.zip(head.fleet);
    let fleet = fleet
        .map(|(spec, terms)| FleetReport { abandoned, ..FleetReport::of(&calls, &spec, terms, &plan, &benchmarks) });
    let mut report = Report {
        run: name,
        started: head.started,
        complete,
        untrusted: false,
        typed: Typed::default(),
        spec: head.spec,
        plan,
        baseline: head.baseline,
        candidate: head.candidate,
        environment: head.environment,
        layouts: head.layouts,
        measured_s,
        benchmarks,
        suite,
        noise,
        fleet,
        gate: None,
        calibration: None,
        warnings: head.warnings,
        profiles,
        instructions,
        reported: Vec::new(),
        pictures: Vec::new(),
        stacks: Vec::new(),
        history: Vec::new(),
    };
    if report.fleet.is_some() && !report.complete {
        // It is the rest of the run that it lacks, not a longer one.
        report.silence(|warning| matches!(warning, Warning::TooFewUnits { .. }));
    }
    if are_different_programs(&report) {
        report.silence(|warning| matches!(warning, Warning::SingleBuild { .. }));
    }
    steadiness::gather(&mut report);
    report.warnings.extend(self_tests::flagged(&report));
    report.warnings.extend(few_instances);
    report.warnings.extend(moved::said(&report.benchmarks));
    report.warnings.extend(unexplained(&report));
    report.warnings.extend(uncounted(&report));
    report.warnings.extend(render::layouts::fallen_back(&report));
    judge_units(&mut report, &readings);
    report.warnings.extend(unkept::said(&report));
    report
}

/// Facts about an instance of so much memory: those of the machine that built are another's.
fn facts_of_instance(memory_mb: u32) -> Facts {
    let cpus = instance_capacity(memory_mb, None).cpus;
    Facts {
        cpu_model: None,
        cpus_usable: cpus,
        cpus_online: cpus,
        cores_physical: cpus,
        governor: None,
        frequency_max_khz: None,
        quota_cpus: None,
        virtualised: Some(true),
    }
}

/// Benchmarks with an answer from fewer instances than an interval needs units, in words: calls are units, and those in one instance share
/// its speed.
fn few_instances(calls: &[Account], plan: &Plan, benchmarks: &[BenchmarkReport]) -> Option<String> {
    let mut instances: BTreeMap<&BenchmarkId, BTreeSet<&str>> = BTreeMap::new();
    for call in calls.iter().filter(|call| call.end == CallEnd::Counted) {
        if let (Some(planned), Some((name, _))) = (plan.benchmarks.get(call.task.benchmark as usize), &call.instance) {
            instances.entry(&planned.id).or_default().insert(name);
        }
    }
    let is_few = |report: &&BenchmarkReport| {
        let known = instances.get(&report.id).map_or(0, BTreeSet::len);
        report.estimate.is_some() && known < defaults::UNITS_MIN as usize
    };
    let few = benchmarks.iter().filter(is_few).count();
    (few > 0).then(|| {
        let (which, least) = (render::format::many(few, "benchmark was", "benchmarks were"), defaults::UNITS_MIN);
        format!("{which} measured in fewer than {least} instances: how these differ is not in the intervals (`--parallel {least}` or more)")
    })
}

/// Whether both versions are command lines that start programs of different names, which are no two builds of one.
fn are_different_programs(report: &Report) -> bool {
    let typed = report.spec.harness.commands.first().is_some_and(|program| program.command.is_none());
    let name =
        |line: &str| line.split_whitespace().next().map(|word| word.rsplit('/').next().unwrap_or(word).to_owned());
    let further = report.spec.harness.commands.iter().filter_map(|program| program.head.as_deref());
    let mut heads = further.chain([&report.candidate.requested[..]]);
    typed && heads.any(|head| name(head) != name(&report.baseline.requested))
}

/// Judges what benchmarks reported under the units that rules name.
fn judge_units(report: &mut Report, readings: &[Readings]) {
    let thresholds = report.spec.thresholds();
    let telling = report.plan.benchmarks.iter().filter(|b| b.tells_of_the_code()).map(|b| &b.id);
    let telling: BTreeSet<&BenchmarkId> = telling.collect();
    let (wanted, tells) = (|read: &Readings| thresholds.wanted(&read.id), |read: &Readings| telling.contains(&read.id));
    let judged = reported::judge(readings, wanted, tells, thresholds.suite());
    match judged {
        Ok(reported) => report.reported = reported,
        Err(e) => report.warnings.push(format!("what benchmarks report themselves cannot be judged: {e}")),
    }
}

/// Regressions that were to be profiled and have no profile, in words.
fn unexplained(report: &Report) -> Vec<String> {
    let failed = report.profiles.iter().filter_map(|profile| {
        let (name, reason) = (&profile.id.name, profile.failure()?);
        Some(format!("`{name}` could not be profiled, which does not touch its verdict: {reason}"))
    });
    let mut words: Vec<String> = failed.collect();
    let has_none = |b: &&BenchmarkReport| report.profiles.iter().all(|profile| profile.id != b.id);
    let left = report.to_profile().into_iter().filter(has_none).count();
    if left > 0 && !report.profiles.is_empty() {
        let more = render::format::many(left, "more regression has", "more regressions have");
        words.push(format!(
            "{more} no profile: the run made those of the {BENCHMARKS_MAX} largest, unless it was interrupted"
        ));
    }
    words
}

/// Benchmarks whose instructions were to be counted and could not be, in words.
fn uncounted(report: &Report) -> Vec<String> {
    let failed = report.instructions.iter().filter_map(|one| {
        let (name, reason) = (&one.id.name, one.failure()?);
        let rule =
            if report.spec.rules.counts_instructions(&one.id) { "; a rule names them, and is not kept" } else { "" };
        Some(format!(
            "the instructions of `{name}` could not be counted, which does not touch its verdict: {reason}{rule}"
        ))
    });
    failed.collect()
}

/// The same with a picture of each of its benchmarks that was measured.
pub fn illustrated(run: StoredRun<RunHead>) -> Report {
    let measured = run.measured();
    let report = report(run);
    let pictures = pictures(&report.plan, &measured, report.spec.thresholds(), &report.benchmarks);
    Report { pictures, ..report }
}

/// The report with the times of its benchmarks in earlier runs on such a machine.
///
/// # Errors
/// When the store cannot be read.
pub fn with_history(report: Report, store: &Store) -> Result<Report, RunError> {
    let here = Machine::of(&report.environment, report.spec.fleet.as_ref());
    let is_comparable = |head: &RunHead| Machine::of(&head.environment, head.spec.fleet.as_ref()).is_alike(&here);
    let history = store.history(&report.run, &is_comparable)?;
    Ok(Report { history, ..report })
}

/// The report with the call stacks of what was profiled.
pub fn with_stacks(report: Report, store: &Store) -> Report {
    let stacks = report.profiles.iter().filter_map(|profile| store.stacks(&report.run, profile)).collect();
    Report { stacks, ..report }
}

/// The report of a stored run of one version.
pub fn solo_report(run: StoredRun<SoloHead>) -> SoloReport {
    let benchmarks = solo_results(&run.head.plan, &run.measured());
    let ids: Vec<&BenchmarkId> = run.head.plan.benchmarks.iter().map(|b| &b.id).collect();
    let noise = explain(&witnessed(&run.trials, &ids), &run.head.facts, &[]);
    let StoredRun { name, head, complete, measured_s, .. } = run;
    SoloReport {
        run: name,
        started: head.started,
        complete,
        spec: head.spec,
        plan: head.plan,
        version: head.version,
        environment: head.environment,
        measured_s,
        benchmarks,
        noise,
        warnings: head.warnings,
    }
}

fn plan_ids(plan: &Plan) -> Vec<&BenchmarkId> {
    plan.benchmarks.iter().map(|b| &b.id).collect()
}

/// Conditions of a run's trials, as far as the machine was watched.
fn witnessed<'a>(trials: &[(Trial, TrialOutcome)], benchmarks: &[&'a BenchmarkId]) -> Vec<Witnessed<'a>> {
    let one = |(trial, outcome): &(Trial, TrialOutcome)| {
        let benchmark = *benchmarks.get(trial.benchmark)?;
        Some(Witnessed { benchmark, at: (trial.round, trial.suite_run), conditions: outcome.conditions? })
    };
    trials.iter().filter_map(one).collect()
}
