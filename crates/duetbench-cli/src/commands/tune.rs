//! `duet tune`: from a full recording to the repetitions that are enough.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use duetbench_core::recording::{Cost, Level, Recording};
use duetbench_core::tune::{Choice, Metric, Rules, tune};
use duetbench_run::plan_file::{self, LearntFrom, PlanFile, PlannedRepetitions};
use duetbench_run::store::Provenance;

use super::source::{self, Source};
use super::{Context, tune_check};
use crate::args::{TuneArgs, WarmUpArg};
use crate::failure::{Failure, code};
use crate::gate::today;
use crate::options::Format;
use crate::planned::feasible;
use crate::render;
use crate::settings::check_link;
use crate::tuning::{TunedMetric, TunedSource, Tuning};
use crate::warm_up::Warm;

/// Tunes every recording, prints what was found, and writes the plan where one is wanted.
///
/// # Errors
/// When a recording cannot be read, the request makes no sense, or something cannot be written.
pub fn run(args: &TuneArgs, context: &Context) -> Result<u8, Failure> {
    if args.check {
        return tune_check::run(args, context);
    }
    let metrics = args.metric.metrics();
    check_request(args, context, &metrics)?;
    let mut found = Found::default();
    for from in &args.from {
        found.add(source::load(from, context)?, args)?;
    }
    if context.settings.format() == Format::Csv {
        // The other formats have room for warnings.
        let warnings = found.sources.iter().flat_map(|source| source.warnings.iter().map(|w| (&source.name, w)));
        warnings.for_each(|(name, words)| context.printer.note(&format!("warning: {name}: {words}")));
    }
    let plan_file = found.write_plan(args, context)?.map(|path| path.display().to_string());
    let tuning = Tuning {
        duet_version: env!("CARGO_PKG_VERSION").into(),
        rules: rules(args, metrics.first().copied().unwrap_or(Metric::Rciw3)),
        metrics,
        warmup: asked_warm_up(args).unwrap_or(0),
        sources: found.sources,
        plan_file,
    };
    context.printer.document(&render::tune::document(&tuning))?;
    Ok(if tuning.is_empty() { code::FAILED } else { code::CLEAN })
}

/// Results so far.
#[derive(Debug, Default)]
struct Found {
    sources: Vec<TunedSource>,
    planned: Vec<PlannedRepetitions>,
    provenances: Vec<Provenance>,
}

impl Found {
    /// Tunes one recording more.
    fn add(&mut self, source: Source, args: &TuneArgs) -> Result<(), Failure> {
        check_levels(&source.recording, args)?;
        let warm = Warm::of(source.recording, args)?;
        let recording = &warm.recording;
        let mut results = Vec::new();
        for metric in args.metric.metrics() {
            let rules = rules(args, metric);
            let tuned = tune(recording, &rules);
            self.planned.extend(planned(&tuned.choices, recording, |name| {
                let in_run = source.provenance.as_ref().and_then(|known| known.warmup.get(name)).copied();
                warm.planned(name).saturating_add(in_run.unwrap_or(0))
            }));
            results.push(TunedMetric::of(tuned, &recording.levels, &rules).with_warm_up(&warm.found));
        }
        let Recording { name, levels, warnings, .. } = warm.recording;
        self.sources.push(TunedSource { name, levels, results, warnings });
        self.provenances.extend(source.provenance);
        Ok(())
    }

    /// Writes the plan where one is wanted and can be made, and says where.
    fn write_plan(&mut self, args: &TuneArgs, context: &Context) -> Result<Option<PathBuf>, Failure> {
        let Some(path) = plan_path(args, context) else { return Ok(None) };
        if let Some(source) = self.sources.iter().find(|source| !source.levels.contains(&Level::Iteration)) {
            let words = without_iterations(&source.name);
            if args.plan_file.is_some() {
                return Err(Failure::usage(words));
            }
            context.printer.note(&format!("no plan was written: {words}"));
            return Ok(None);
        }
        let mut choices = self.sources.iter().flat_map(|source| &source.results).flat_map(|result| &result.choices);
        if !choices.any(|tuned| tuned.choice.stable) {
            context.printer.note("no plan was written: nothing is stable, so that it would repeat what was measured");
            return Ok(None);
        }
        let planned = feasible(std::mem::take(&mut self.planned), context);
        if planned.is_empty() {
            return Ok(None);
        }
        write(&PlanFile::new(self.learnt(args), planned), &path, args, context)?;
        Ok(Some(path))
    }

    /// Where and when this was learnt. What runs say of themselves is that of the last one.
    fn learnt(&self, args: &TuneArgs) -> LearntFrom {
        let source = self.provenances.last();
        let digest = |source: &Provenance| Some(source.artifact_digest.clone()).filter(|digest| !digest.is_empty());
        LearntFrom {
            date: today().to_string(),
            from: args.from.iter().zip(&self.sources).map(|(from, source)| name(from, source)).collect(),
            version: source.map(|source| source.version.clone()),
            artifact_digest: source.and_then(digest),
            machine: source.map(|source| source.machine.clone()),
            toolchain: source.map(|source| source.toolchain.clone()),
            metric: args.metric.metrics().first().map_or_else(String::new, |metric| metric.word().into()),
            threshold: args.threshold,
            confidence: args.confidence,
            // A plan is followed by one machine.
            keep: args.kept().into_iter().filter(|level| *level != Level::Instance).collect(),
            warmup: asked_warm_up(args),
        }
    }
}

/// Writes a plan. Where nobody said where, it must not lead out of the checkout.
pub(super) fn write(plan: &PlanFile, path: &Path, args: &TuneArgs, context: &Context) -> Result<(), Failure> {
    if args.plan_file.is_none() && context.settings.plan().is_none() {
        check_link(path, &context.cwd)?;
    }
    Ok(plan.write(path)?)
}

/// Refuses what contradicts itself before anything is read.
fn check_request(args: &TuneArgs, context: &Context, metrics: &[Metric]) -> Result<(), Failure> {
    context.check_form("what `duet tune` finds")?;
    check_numbers(["`--threshold`", "`--confidence`"], args.threshold, args.confidence)?;
    if metrics.len() > 1 && plan_path(args, context).is_some() {
        return Err(Failure::usage("a plan is learnt by one metric: give one with `--metric` instead of `all`"));
    }
    Ok(())
}

/// Refuses numbers, called so, by which nothing can be stable.
pub(super) fn check_numbers(names: [&str; 2], threshold: f64, confidence: f64) -> Result<(), Failure> {
    let [of_threshold, of_confidence] = names;
    if !(threshold > 0.0 && threshold.is_finite()) {
        return Err(Failure::usage(format!("{of_threshold} must be more than 0%")));
    }
    if !(0.5..1.0).contains(&confidence) {
        return Err(Failure::usage(format!("{of_confidence} must be at least 50% and less than 100%")));
    }
    Ok(())
}

/// The reason for which no plan is made of a recording.
pub(super) fn without_iterations(name: &str) -> String {
    format!("`{name}` has no iterations to plan: a plan is learnt from a `duet run`")
}

/// Where the plan is written: as typed, or where `duet compare` is told to look for it when a run was tuned from.
fn plan_path(args: &TuneArgs, context: &Context) -> Option<PathBuf> {
    let from_run = args.from.iter().any(|from| from.to_str().is_some_and(source::is_run));
    let usual = || context.settings.plan().unwrap_or_else(|| PathBuf::from(plan_file::NAME));
    args.plan_file.clone().or_else(|| (from_run && args.metric.metrics().len() == 1).then(usual))
}

fn rules(args: &TuneArgs, metric: Metric) -> Rules {
    Rules { metric, threshold: args.threshold, confidence: args.confidence, keep: args.kept() }
}

/// Iterations that were asked to be cut of every benchmark; absent where they are to be found.
fn asked_warm_up(args: &TuneArgs) -> Option<usize> {
    match args.warmup {
        Some(WarmUpArg::Iterations(asked)) => Some(asked),
        Some(WarmUpArg::Auto) | None => None,
    }
}

/// Refuses to reduce a level that a recording does not have.
fn check_levels(recording: &Recording, args: &TuneArgs) -> Result<(), Failure> {
    let Some(absent) = args.levels.iter().find(|level| !recording.levels.contains(level)) else { return Ok(()) };
    let has = recording.levels.iter().map(|level| level.word()).collect::<Vec<_>>().join(", ");
    Err(Failure::usage(format!("`{}` has no level `{}`: it has {has}", recording.name, absent.word())))
}

/// Planned repetitions for the choices of a recording, with so many iterations to warm up before.
fn planned(choices: &[Choice], recording: &Recording, warmup: impl Fn(&str) -> u32) -> Vec<PlannedRepetitions> {
    let costs: HashMap<&str, &Cost> =
        recording.benchmarks.iter().map(|recorded| (recorded.benchmark.as_str(), &recorded.cost)).collect();
    let planned = |choice: &Choice| {
        let cost = costs.get(choice.benchmark.as_str())?;
        let repetitions = PlannedRepetitions::of(choice, &recording.levels, cost);
        Some(PlannedRepetitions { warmup: warmup(&choice.benchmark), ..repetitions })
    };
    choices.iter().filter_map(planned).collect()
}

/// A source's name in a plan: a run's own name, or a file's without its folder, which is nobody else's concern.
fn name(from: &Path, source: &TunedSource) -> String {
    match from.file_name() {
        Some(name) if !from.to_str().is_some_and(source::is_run) => name.to_string_lossy().into_owned(),
        _ => source.name.clone(),
    }
}
