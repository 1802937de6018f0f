//! One comparison of a search: an ordinary run of two commits, restricted to the benchmarks in question.

use std::cell::RefCell;

use duetbench_core::plan::{Excluded, Plan};
use duetbench_core::{BenchmarkId, Report, Spec, Verdict};
use duetbench_run::RunError;
use duetbench_run::error::About;
use duetbench_run::source::VersionRequest;
use duetbench_run::store::{Origin, RunId};

use super::super::Context;
use super::super::compare::{Errand, Purpose, Subject, begin, resume};
use super::known::units;
use crate::failure::{Failure, code};
use crate::render::command_line::escape_pattern;
use crate::session::{Kept, Subjects};

/// The result of a comparison.
pub(super) enum Outcome {
    /// It came to its end.
    Measured(Box<Report>),
    /// The benchmark runs the same code in both commits, which was proven.
    Identical,
    /// One of the commits cannot be compared, as a rule the later one.
    Unusable(Unusable),
    /// It was interrupted; its run, where it has one.
    Interrupted(Option<String>),
}

/// Why commits cannot be compared.
pub(super) struct Unusable {
    /// The reason, in words.
    pub(super) why: String,
    /// Whether it is the benchmark's alone: another one may be there.
    pub(super) by_benchmark: bool,
    /// Time that was measured until it showed, seconds.
    pub(super) measured_s: f64,
}

impl Unusable {
    /// Before anything was measured.
    fn at_once(why: impl Into<String>, by_benchmark: bool) -> Outcome {
        Outcome::Unusable(Unusable { why: why.into(), by_benchmark, measured_s: 0.0 })
    }
}

/// A comparison to make.
pub(super) struct Comparing<'a> {
    pub(super) context: &'a Context,
    pub(super) spec: Spec,
    /// The benchmark without which the comparison says nothing.
    pub(super) target: Option<&'a BenchmarkId>,
    /// Keeps its run, once it has one: whatever ends the comparison, it is gone on with.
    pub(super) begins: &'a dyn Fn(RunId) -> Result<(), Failure>,
}

impl Comparing<'_> {
    /// Compares two commits, or goes on with a run that did.
    pub(super) fn carry_out(self, ends: &[String; 2], begun: Option<&str>) -> Result<Outcome, Failure> {
        let purpose = Taking { target: self.target, taken: RefCell::new(None), begins: self.begins };
        let done = match begun {
            Some(run) => resume(run, None, self.context, &purpose),
            None => {
                let versions = ends.each_ref().map(|id| VersionRequest::parse(id, &self.context.cwd));
                let origin = Origin { cwd: self.context.cwd.clone(), versions };
                let errand = Errand { context: self.context, spec: self.spec, planned: None, purpose: &purpose };
                begin(&errand, Subject::Versions(origin))
            }
        };
        let interrupted = self.context.interrupted.load(std::sync::atomic::Ordering::Relaxed);
        match (done, purpose.taken.into_inner()) {
            (Ok(_), Some(outcome)) => Ok(outcome),
            (Err(_), _) if interrupted => Ok(Outcome::Interrupted(None)),
            (Ok(_), None) => Ok(Unusable::at_once("nothing was compared", true)),
            (Err(Failure::Run(error)), _) if is_the_commits(&error) => {
                Ok(Unusable::at_once(error.to_string(), error.about() == Some(About::Benchmarks)))
            }
            (Err(failure), _) => Err(failure),
        }
    }
}

/// Whether an error is about a commit, so that another one may do.
fn is_the_commits(error: &RunError) -> bool {
    matches!(
        error,
        RunError::Build { .. }
            | RunError::Tool { .. }
            | RunError::Told { about: About::Version | About::Benchmarks, .. }
    )
}

/// A pattern that names of these benchmarks match, and no others.
pub(super) fn pattern<'a>(ids: impl Iterator<Item = &'a BenchmarkId>) -> String {
    let names: Vec<String> = ids.map(|id| escape_pattern(&id.name)).collect();
    format!("^({})$", names.join("|"))
}

/// Comparing for the sake of the numbers.
struct Taking<'a> {
    target: Option<&'a BenchmarkId>,
    taken: RefCell<Option<Outcome>>,
    begins: &'a dyn Fn(RunId) -> Result<(), Failure>,
}

impl Taking<'_> {
    /// Why the target will not be measured, where it will not.
    fn obstacle(&self, plan: &Plan) -> Option<Outcome> {
        let target = self.target.filter(|target| plan.benchmarks.iter().all(|b| b.id != **target))?;
        let excluded = plan.excluded.iter().find(|excluded| excluded.id() == target);
        Some(match excluded {
            Some(Excluded::Identical { .. } | Excluded::NotAffected { .. }) => Outcome::Identical,
            Some(Excluded::Failed(_, _, words)) => Unusable::at_once(format!("`{}` fails: {words}", target.name), true),
            Some(Excluded::OnlyIn(..)) | None => {
                Unusable::at_once(format!("it has no benchmark `{}`", target.name), true)
            }
        })
    }
}

/// Why a run says nothing of a benchmark that it measured, where it does not.
fn fails_in(report: &Report, target: &BenchmarkId) -> Option<String> {
    let judged = report.benchmark(target).map(|one| &one.verdict);
    if units(report, target) > 0 && !judged.is_some_and(Verdict::is_redefined) {
        return None;
    }
    Some(match judged {
        Some(verdict) if verdict.is_redefined() => format!("`{}` is another benchmark there", target.name),
        Some(Verdict::Failed { reason, .. }) => format!("`{}` fails while it is measured: {reason}", target.name),
        _ => format!("`{}` gave nothing while it was measured", target.name),
    })
}

impl Purpose for Taking<'_> {
    /// A search knows which of its runs has not ended.
    fn goes_on(&self, _: RunId) -> String {
        "bisect --resume".to_owned()
    }

    fn begins(&self, run: RunId) -> Result<(), Failure> {
        (self.begins)(run)
    }

    /// The budget of a comparison is a part of the search's.
    fn tells_forecast(&self) -> bool {
        false
    }

    fn is_settled(&self, errand: &Errand<'_>, plan: &Plan, _: &Subjects) -> Result<bool, Failure> {
        let obstacle = self.obstacle(plan);
        let settled = obstacle.is_some();
        if let Some(Outcome::Identical) = obstacle {
            errand.context.printer.note("it runs the same code, so nothing is measured");
        }
        self.taken.replace(obstacle);
        Ok(settled)
    }

    fn conclude(&self, _context: &Context, kept: Kept<'_>, exit_of: &dyn Fn(u8) -> u8) -> Result<u8, Failure> {
        let (run, report) = (kept.run, kept.report()?);
        let exit = exit_of(code::CLEAN);
        let ended = report.complete && exit != code::INTERRUPTED;
        let failed = self.target.and_then(|target| fails_in(&report, target));
        let outcome = match failed {
            _ if !ended => Outcome::Interrupted(Some(run.to_string())),
            Some(why) => Outcome::Unusable(Unusable { why, by_benchmark: true, measured_s: report.measured_s }),
            None => Outcome::Measured(Box::new(report)),
        };
        self.taken.replace(Some(outcome));
        Ok(exit)
    }
}
