//! `duet analyze`: a stored run under other thresholds, or two recordings that were not measured side by side.

use std::collections::HashSet;
use std::path::Path;

use duetbench_core::detect::{Answer, Detection, Footing, HouseRule, Rules, by_process, detect};
use duetbench_core::spec::Decision;
use duetbench_formats::Tool;
use duetbench_run::RunError;
use duetbench_run::store::Store;

use super::detect::nothing;
use super::{Context, source};
use crate::args::AnalyzeArgs;
use crate::failure::{Failure, code, stored_exit_code};
use crate::render::detect::{self, Answered, Side, Unpaired};

/// A command that gives a stored run enough processes for a verdict.
const MORE_RUNS: &str = "duet run --suite-runs 3";

/// Judges what was asked for by what is set now, and prints it.
///
/// # Errors
/// When there is no such run or file, two have nothing in common, or a number is out of range.
pub fn run(args: &AnalyzeArgs, context: &Context) -> Result<u8, Failure> {
    if let Some(option) = args.method.idle() {
        let remedy = "as in `duet analyze BASE HEAD --method both`";
        return Err(Failure::usage(format!("`{option}` goes with `--method`, {remedy}")));
    }
    match &args.head {
        Some(head) if args.method.method.is_some() => super::detect::run(args, head, context),
        Some(head) => two([&args.base, head], context),
        None if !source::is_run(&args.base) && Path::new(&args.base).exists() => Err(Failure::usage(format!(
            "`{}` is a file, and there is nothing to compare it with: give two, as in `duet analyze BASE HEAD`; \
             `duet tune` learns from one",
            args.base
        ))),
        None => again(args, context),
    }
}

/// A stored run, judged again.
fn again(args: &AnalyzeArgs, context: &Context) -> Result<u8, Failure> {
    let store = Store::open_to_read(&context.db())?;
    let mut stored = store.load(&args.base)?.comparison()?;
    let decision = context.settings.typed_only().decision(stored.head.spec.decision)?;
    let before = stored.head.spec.decision;
    let is_typed_again = stored.head.spec.rules.is_empty() && decision == Decision { typed: decision.typed, ..before };
    if decision != before && !is_typed_again {
        // By another decision it was not the clock that ended them, so that they may not spend what that left.
        stored.head.plan.budget_ns = None;
    }
    stored.head.spec.decision = decision;
    let report = context.report(&store, stored)?;
    let exit = stored_exit_code(&report, context.settings.strict());
    context.printer.report(&report, exit)?;
    Ok(exit)
}

/// Two recordings by duet's rule, with what such data can say. Each process counts once, whatever the levels of the files.
fn two(typed: [&str; 2], context: &Context) -> Result<u8, Failure> {
    let decision = context.settings.decision(Decision::default())?;
    let [base, head] = typed.map(|text| source::several(text, context));
    let (base, head) = (base?, head?);
    if source::is_same_process(&base.recording, &head.recording) {
        let [base, head] = typed;
        let what = format!("`{head}` holds what `{base}` does: nothing was measured anew");
        return Err(RunError::nothing_to_measure(what).hint("measure the head, and give its own results").into());
    }
    let (threshold, fdr) = (decision.threshold, decision.false_discovery_rate);
    let rules = Rules { paper: None, house: Some(HouseRule { threshold, alpha: decision.alpha, fdr }) };
    let mut detection = detect(&by_process(&base.recording), &by_process(&head.recording), &rules);
    if detection.benchmarks.is_empty() {
        return Err(nothing(&detection, base.tool).into());
    }
    detection.warnings.extend(source::other_processors([&base.procs, &head.procs]));
    // Files of one tool mostly warn of the same.
    let mut said = HashSet::new();
    detection.warnings.retain(|warning| said.insert(warning.clone()));
    let side = |given: &source::Several| Side {
        files: given.files.len(),
        footing: Footing::of(&given.recording),
        more: given.tool.map_or_else(|| vec![MORE_RUNS.to_owned()], Tool::more_processes),
    };
    let exit_code = exit_of(&detection, context.settings.strict());
    let duet_version = env!("CARGO_PKG_VERSION").to_owned();
    let unpaired = Some(Unpaired { base: side(&base), head: side(&head) });
    context.printer.document(&detect::document(&Answered { duet_version, rules, detection, unpaired, exit_code }))?;
    Ok(exit_code)
}

/// The exit code by duet's rule, where open questions are tolerated or not (`strict`).
pub(super) fn exit_of(detection: &Detection, strict: bool) -> u8 {
    let mut answers = detection.benchmarks.iter().filter_map(|b| b.house.as_ref()).map(|house| &house.answer);
    let unanswerable = answers.clone().all(|answer| matches!(answer, Answer::TooFew { .. }));
    if detection.has_regression() {
        code::REGRESSION
    } else if unanswerable {
        // Who gates on it would pass for ever.
        code::FAILED
    } else if strict
        && (answers.any(Answer::is_open) || !detection.not_compared.is_empty() || !detection.only_base.is_empty())
    {
        code::INCONCLUSIVE
    } else {
        code::CLEAN
    }
}
