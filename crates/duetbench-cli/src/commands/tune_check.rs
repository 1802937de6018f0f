//! `duet tune --check`: whether a plan still holds, and what of it must be learnt again.

use std::collections::BTreeMap;
use std::path::PathBuf;

use duetbench_core::Role;
use duetbench_core::plan::Excluded;
use duetbench_core::recording::Level;
use duetbench_core::spec::{Filter, defaults};
use duetbench_core::tune::{Metric, Rules};
use duetbench_run::plan_file::{self, LearntFrom, PlanFile, PlannedRepetitions};
use duetbench_run::store::{Head, Provenance, Store, StoredRun};

use super::tune::{check_numbers, without_iterations, write};
use super::{Context, source};
use crate::args::TuneArgs;
use crate::failure::{Failure, code};
use crate::gate::today;
use crate::planned::feasible;
use crate::render::staleness as render;
use crate::staleness::{Entry, Surroundings, inspect};

/// Holds the plan against a run; rewrites the entries that do not hold, unless that is not wanted.
///
/// # Errors
/// When plan or run cannot be read, or the plan cannot be written.
pub fn run(args: &TuneArgs, context: &Context) -> Result<u8, Failure> {
    context.check_form("what `duet tune` finds")?;
    let path =
        args.plan_file.clone().or_else(|| context.settings.plan()).unwrap_or_else(|| PathBuf::from(plan_file::NAME));
    let plan = PlanFile::read(&path)?;
    let rules = rules(&plan)?;
    let store = Store::open_to_read(&context.db())?;
    let stored = store.load(run_name(args)?)?;
    if !stored.complete {
        let command = if matches!(stored.head, Head::Solo(_)) { "run" } else { "compare" };
        return Err(Failure::usage(format!(
            "run `{}` did not come to its end, so that its gaps would be taken for the plan's",
            stored.name
        ))
        .hint(format!(
            "`duet {command} --resume {}{}` goes on with it",
            stored.name,
            context.settings.db_typed()
        )));
    }
    let recording = stored.recording(Role::Candidate);
    let now = stored.provenance(Role::Candidate);
    let then = learnt_from(&plan, &store);
    let looked = Looked::of(&stored)?;
    let missing = |name: &str| looked.why_missing(name);
    let around = Surroundings { now: &now, artifacts_then: then.as_ref(), missing: &missing };
    let entries = inspect(&plan, &recording, &rules, &around);
    let stale = entries.iter().any(Entry::is_stale);
    let plannable = recording.levels.contains(&Level::Iteration);
    if stale && !plannable && !args.no_write {
        context.printer.note(&format!("no plan was written: {}", without_iterations(&stored.name)));
    }
    let whole = entries.iter().all(|entry| entry.unknown.is_none());
    let next = || feasible(next(&entries, whole), context);
    let renews = entries.iter().any(|entry| entry.is_stale() && entry.next != entry.planned);
    let entries_next = if renews && plannable && !args.no_write { next() } else { Vec::new() };
    let written = !entries_next.is_empty();
    if written {
        let now = whole.then_some(&now);
        write(&PlanFile::new(learnt(&plan, &stored.name, now), entries_next), &path, args, context)?;
    }
    let shown = render::Shown { plan: &path.display().to_string(), run: &stored.name, rules: &rules, written };
    context.printer.document(&render::document(&shown, &entries))?;
    let checked = entries.iter().any(|entry| entry.unknown.is_none());
    Ok(if (stale && !written) || !checked { code::FAILED } else { code::CLEAN })
}

/// The entries from now on. Where the run has seen everything, it is what the plan was learnt from as a whole, and no entry says so itself.
fn next(entries: &[Entry], whole: bool) -> Vec<PlannedRepetitions> {
    let own = |entry: PlannedRepetitions| match whole {
        true => PlannedRepetitions { artifact_digest: None, machine: None, ..entry },
        false => entry,
    };
    entries.iter().filter_map(|entry| entry.next.clone()).map(own).collect()
}

/// The one run that is looked at.
fn run_name(args: &TuneArgs) -> Result<&str, Failure> {
    let needs =
        "`--check` holds a plan against one run, as `r12` or `latest`: a file does not say what it was measured on";
    match &args.from[..] {
        [from] => from.to_str().filter(|text| source::is_run(text)).ok_or_else(|| Failure::usage(needs)),
        _ => Err(Failure::usage(needs)),
    }
}

/// The rules by which the plan was learnt.
fn rules(plan: &PlanFile) -> Result<Rules, Failure> {
    let word = &plan.learnt.metric;
    let metric =
        Metric::from_word(word).ok_or_else(|| Failure::usage(format!("the plan's metric `{word}` is none")))?;
    let (threshold, confidence) = (plan.learnt.threshold, plan.learnt.confidence);
    check_numbers(["the plan's `threshold`", "the plan's `confidence`"], threshold, confidence)?;
    let keep = [Level::Instance].into_iter().chain(plan.learnt.keep.iter().copied()).collect();
    Ok(Rules { metric, threshold, confidence, keep })
}

/// Digests of test binaries by package, of the last run that the plan was learnt from and that is still in the store.
fn learnt_from(plan: &PlanFile, store: &Store) -> Option<BTreeMap<String, String>> {
    let runs = plan.learnt.from.iter().rev().filter(|from| *from != "latest" && source::is_run(from));
    let same = |stored: &StoredRun| {
        // Numbers of runs are given anew in every store.
        let digest = stored.provenance(Role::Candidate).artifact_digest;
        plan.learnt.artifact_digest.as_ref().is_none_or(|then| *then == digest)
    };
    let stored = runs.filter_map(|name| store.load(name).ok()).find(same)?;
    Some(stored.provenance(Role::Candidate).artifacts).filter(|artifacts| !artifacts.is_empty())
}

/// Where the plan was learnt now: from the run alone, if that has seen everything.
fn learnt(plan: &PlanFile, run: &str, now: Option<&Provenance>) -> LearntFrom {
    let mut learnt = plan.learnt.clone();
    learnt.date = today().to_string();
    learnt.from.retain(|from| from != run);
    learnt.from.push(run.to_owned());
    if let Some(now) = now {
        let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        learnt.version = known(&now.version);
        learnt.artifact_digest = known(&now.artifact_digest);
        learnt.machine = known(&now.machine);
        learnt.toolchain = known(&now.toolchain);
    }
    learnt
}

/// The benchmarks that a run looked at, so that one without values can be told from one that is not there.
struct Looked {
    filter: Filter,
    everywhere: bool,
    /// Benchmarks that were found and gave nothing, with the reason.
    found: BTreeMap<String, String>,
}

impl Looked {
    fn of(stored: &StoredRun) -> Result<Looked, Failure> {
        let failed = || "it failed in this run".to_owned();
        let (selection, found) = match &stored.head {
            Head::Solo(head) => {
                let measured = head.plan.benchmarks.iter().map(|b| (b.id.to_string(), failed()));
                let listed = head.plan.failed.iter().map(|(id, _)| (id.to_string(), failed()));
                (&head.spec.selection, measured.chain(listed).collect())
            }
            Head::Comparison(head) => {
                let measured = head.plan.benchmarks.iter().map(|b| (b.id.to_string(), failed()));
                let excluded = head.plan.excluded.iter().filter_map(|excluded| match excluded {
                    Excluded::OnlyIn(_, Role::Baseline) => None,
                    Excluded::NotAffected { id, .. } => Some((id.to_string(), "it was not affected".to_owned())),
                    Excluded::Identical { id, .. } => Some((id.to_string(), "its code was identical".to_owned())),
                    Excluded::OnlyIn(id, _) => Some((id.to_string(), "only one version has it".to_owned())),
                    Excluded::Failed(id, ..) => Some((id.to_string(), failed())),
                });
                (&head.spec.selection, measured.chain(excluded).collect())
            }
        };
        let everywhere = selection.packages == [defaults::PACKAGES];
        Ok(Looked { filter: selection.filter()?, everywhere, found })
    }

    /// Why the run has no values of this benchmark; absent if it is not there.
    fn why_missing(&self, name: &str) -> Option<String> {
        if let Some(why) = self.found.get(name) {
            return Some(why.clone());
        }
        let short = name.find(".Benchmark").map_or(name, |dot| &name[dot + 1..]);
        if !self.filter.keeps(short) {
            return Some("the run left it out by its name".into());
        }
        (!self.everywhere).then(|| "the run did not look into every package".into())
    }
}
