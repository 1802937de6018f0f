//! `duet compare`: the main job.

use std::path::Path;

use duetbench_core::instructions::Countable;
use duetbench_core::{Report, Role, Verdict};
use duetbench_run::source::{VersionRequest, check, default_base};
use duetbench_run::store::{Origin, RunId};

use super::Context;
use crate::args::CompareArgs;
use crate::failure::{Failure, code, exit_code};
use crate::gate::WaiverFile;
use crate::planned::Planned;
use crate::printer::Printer;
use crate::project::policy_dir;
use crate::render::command_line::show;
use crate::seed;
use crate::session::Kept;

mod counting;
mod course;
mod errand;
mod expedition;
mod fleet;
mod material;
mod outfit;
mod profiling;
mod reading;
mod versions;

pub(super) use course::{begin, resume};
pub(super) use errand::{Errand, Purpose, Subject};

/// Measures, stores, judges and reports; gives the exit code.
///
/// # Errors
/// Whatever keeps the run from being made.
pub fn run(args: &CompareArgs, context: &Context) -> Result<u8, Failure> {
    if !args.classify {
        return compared(args, context, &Judging { strict: context.settings.strict(), classifies: false });
    }
    match for_every_commit(args, context) {
        Ok(()) => compared(args, context, &Judging { strict: true, classifies: true }),
        Err(failure) => {
            Printer::failure("duet", &failure);
            Ok(code::ENDS_SEARCH)
        }
    }
}

/// Finds what is wrong whichever commit is checked out.
fn for_every_commit(args: &CompareArgs, context: &Context) -> Result<(), Failure> {
    if context.settings.dry_run() {
        return Err(Failure::usage("`--classify` needs a comparison, and a dry run makes none"));
    }
    if args.resume.is_none() && args.sitting.scripted.is_none() {
        check(&requests(args, &context.cwd)?[0], &context.cwd)?;
    }
    Ok(())
}

/// The exit code that `git bisect run` understands, of one for people. It takes every failure below 128 for a slow commit, and what
/// fails may lie in the commit: its `duet.toml`, its build, a benchmark that it does not have.
pub(crate) fn classified(exit: u8) -> u8 {
    match exit {
        code::CLEAN | code::STALE_WAIVER => code::AS_GOOD,
        code::REGRESSION => code::AS_BAD,
        code::INTERRUPTED | code::ENDS_SEARCH => exit,
        _ => code::CANNOT_TELL,
    }
}

fn compared(args: &CompareArgs, context: &Context, purpose: &Judging) -> Result<u8, Failure> {
    // An error in the waivers is better said now than after measuring.
    WaiverFile::read(&policy_dir(&context.cwd))?;
    let script = args.sitting.scripted.as_deref();
    if let Some(name) = &args.resume {
        return resume(name, script, context, purpose);
    }
    let spec = context.settings.spec(seed::draw())?;
    spec.selection.filter()?;
    let planned = Planned::read(&context.settings)?;
    let subject = match script {
        Some(script) if spec.fleet.is_none() => Subject::Scripted(script, Role::BOTH),
        _ => Subject::Versions(Origin { cwd: context.cwd.clone(), versions: requests(args, &context.cwd)? }),
    };
    begin(&Errand { context, spec, planned, purpose }, subject)
}

/// The two versions, defaults filled in.
fn requests(args: &CompareArgs, cwd: &Path) -> Result<[VersionRequest; 2], Failure> {
    if args.program.command {
        return match (&args.base, &args.head) {
            (Some(base), Some(head)) => Ok([base, head].map(|line| VersionRequest::Command(line.clone()))),
            _ => Err(Failure::usage("`--command` needs two command lines, the base's and the head's")),
        };
    }
    if let Some(third) = args.more.first() {
        return Err(Failure::usage(format!("two versions are compared, and `{third}` is a third"))
            .hint("`--bench REGEX` chooses benchmarks; with `--command` all but the first are compared with it"));
    }
    let base = match &args.base {
        Some(text) => VersionRequest::parse(text, cwd),
        None => VersionRequest::Revision(default_base(cwd)?),
    };
    let head = args.head.as_ref().map_or(VersionRequest::WorkTree, |text| VersionRequest::parse(text, cwd));
    Ok([base, head])
}

/// Whether a benchmark that changed itself is slower, or may be: a search for a slowdown cannot take that for none.
fn may_be_slower(report: &Report) -> bool {
    let redefined = report.benchmarks.iter().filter(|b| b.verdict.is_redefined()).map(|b| b.verdict.of_times());
    redefined.into_iter().any(|of_times| *of_times == Verdict::Regression || of_times.is_open())
}

/// Comparing for the sake of verdicts.
struct Judging {
    /// Whether open questions stop the change.
    strict: bool,
    /// Whether somebody searches for a slowdown, to whom it is one whoever has accepted it.
    classifies: bool,
}

impl Purpose for Judging {
    fn goes_on(&self, run: RunId) -> String {
        format!("compare --resume {run}")
    }

    fn profiles(&self, context: &Context) -> bool {
        context.settings.profile()
    }

    fn counts(&self, context: &Context) -> Option<Countable> {
        context.settings.count()
    }

    fn judges_units(&self) -> bool {
        true
    }

    fn conclude(&self, context: &Context, kept: Kept<'_>, exit_of: &dyn Fn(u8) -> u8) -> Result<u8, Failure> {
        let stored = kept.store.load(&kept.run.to_string())?.comparison()?;
        let mut report = context.report(kept.store, stored)?;
        if self.classifies {
            report.take_back_pardons();
        }
        let exit = exit_of(match exit_code(&report, self.strict) {
            code::CLEAN if self.classifies && may_be_slower(&report) => code::INCONCLUSIVE,
            code => code,
        });
        let told = context.printer.report(&report, if self.classifies { classified(exit) } else { exit });
        told.map_err(|e| e.hint(format!("`{} -o FILE` writes it to another file", show(&report))))?;
        context.printer.annotate(&report);
        Ok(exit)
    }
}
