//! The task of a comparison: the two versions that are measured, and the purpose.

use std::path::Path;

use duetbench_core::instructions::Countable;
use duetbench_core::plan::Plan;
use duetbench_core::{Role, Spec};
use duetbench_run::store::{Origin, RunId};

use crate::commands::Context;
use crate::dry_run::DryRun;
use crate::failure::{Failure, code};
use crate::planned::Planned;
use crate::session::{Kept, Subjects};

/// The task of a comparison: specification, plan file and purpose.
pub(in crate::commands) struct Errand<'a> {
    pub(in crate::commands) context: &'a Context,
    pub(in crate::commands) spec: Spec,
    /// The plan file that is followed.
    pub(in crate::commands) planned: Option<Planned>,
    pub(in crate::commands) purpose: &'a dyn Purpose,
}

impl Errand<'_> {
    /// Prints the plan instead of carrying it out, with the steps `afterwards`.
    pub(super) fn show_plan(&self, plan: &Plan, subjects: &Subjects, afterwards: &[String]) -> Result<u8, Failure> {
        let Subjects { info: versions, warnings, .. } = subjects;
        let dry = DryRun { plan, spec: &self.spec, versions, warnings, afterwards };
        self.context.printer.data(&dry.write(self.context.settings.format()))?;
        // A run of benchmarks of which none can be compared would fail too.
        let compares = !plan.benchmarks.is_empty() || plan.excluded.iter().any(|one| one.saved_ns().is_some());
        Ok(if compares { code::CLEAN } else { code::FAILED })
    }
}

/// The two versions.
pub(in crate::commands) enum Subject<'a> {
    /// Values from a script for these two roles.
    Scripted(&'a Path, [Role; 2]),
    /// Versions that are built.
    Versions(Origin),
}

/// The purpose of a run of two versions.
pub(in crate::commands) trait Purpose {
    /// The words behind `duet` that go on with such a run.
    fn goes_on(&self, run: RunId) -> String;

    /// Whether people are told what a budget is enough for: its remedies are about one that was typed.
    fn tells_forecast(&self) -> bool {
        true
    }

    /// Whether there is nothing to do after all, now that the benchmarks are known; whoever says so tells people why.
    ///
    /// # Errors
    /// When that cannot be found out.
    fn is_settled(&self, errand: &Errand<'_>, plan: &Plan, subjects: &Subjects) -> Result<bool, Failure> {
        let _ = (errand, plan, subjects);
        Ok(false)
    }

    /// Notes the run that it is going to be, before anything of it is measured.
    ///
    /// # Errors
    /// When that cannot be kept.
    fn begins(&self, run: RunId) -> Result<(), Failure> {
        let _ = run;
        Ok(())
    }

    /// Whether its regressions are to be profiled.
    fn profiles(&self, context: &Context) -> bool {
        let _ = context;
        false
    }

    /// Benchmarks whose instructions are to be counted; absent: none.
    fn counts(&self, context: &Context) -> Option<Countable> {
        let _ = context;
        None
    }

    /// Whether rules about what benchmarks report themselves are to be kept.
    fn judges_units(&self) -> bool {
        false
    }

    /// Prints what has come of a run; the exit code is what `exit_of` makes of that of a run that came to its end.
    ///
    /// # Errors
    /// When the run cannot be read, or the output not be written.
    fn conclude(&self, context: &Context, kept: Kept<'_>, exit_of: &dyn Fn(u8) -> u8) -> Result<u8, Failure>;
}
