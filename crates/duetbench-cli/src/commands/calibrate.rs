//! `duet calibrate`: a version against itself, to learn what can be seen.

use std::collections::BTreeSet;

use duetbench_core::calibrate::{Machine, Made};
use duetbench_core::plan::Plan;
use duetbench_core::spec::Effort;
use duetbench_core::{BenchmarkId, Role};
use duetbench_run::RunError;
use duetbench_run::environment;
use duetbench_run::store::{Origin, RunHead, RunId, Store, StoredRun};

use super::compare::{Errand, Purpose, Subject, begin, resume};
use super::{Context, one_version, propose};
use crate::args::CalibrateArgs;
use crate::calibration::{self, CalibrationReport};
use crate::failure::{Failure, code};
use crate::render::calibrate::{self, words};
use crate::seed;
use crate::session::{Kept, Subjects};

/// Measures a version against itself, or takes a run that did, and stores and prints what that tells; gives the exit code.
///
/// # Errors
/// Whatever keeps the run from being made, or from telling anything.
pub fn run(args: &CalibrateArgs, context: &Context) -> Result<u8, Failure> {
    if args.propose.see.is_some() {
        return propose::run(args.run.as_deref(), &args.propose, context);
    }
    context.check_form("a calibration")?;
    let purpose = Calibrating { budgets_s: args.budgets_s(), if_changed: args.if_changed };
    if let Some(name) = &args.run {
        return purpose.of_stored(name, context);
    }
    let script = args.sitting.scripted.as_deref();
    if let Some(name) = &args.resume {
        check_open(&Store::open_to_read(&context.db())?.load(name)?.comparison()?, context)?;
        return resume(name, script, context, &purpose);
    }
    let mut spec = context.settings.spec(seed::draw())?;
    spec.selection.filter()?;
    spec.measure_identical = true;
    spec.harness.level_sides();
    // Whatever it says, all of it counts.
    spec.effort = Effort { fixed: true, confirm: false, ..spec.effort };
    let subject = match script {
        Some(script) if spec.fleet.is_none() => Subject::Scripted(script, [Role::Baseline; 2]),
        _ => {
            let version = one_version(args.version.as_deref(), &args.program, &context.cwd)?;
            Subject::Versions(Origin { cwd: context.cwd.clone(), versions: [version.clone(), version] })
        }
    };
    begin(&Errand { context, spec, planned: None, purpose: &purpose }, subject)
}

/// Refuses to go on with a run that cannot become a calibration, or is at its end.
fn check_open(run: &StoredRun<RunHead>, context: &Context) -> Result<(), RunError> {
    calibration::check(run)?;
    if run.complete {
        let (name, db) = (&run.name, context.settings.db_typed());
        return Err(RunError::other_kind(format!("run `{name}` came to its end"))
            .hint(format!("`duet calibrate --run {name}{db}` calibrates from it")));
    }
    Ok(())
}

/// Measuring for the sake of knowing the noise.
struct Calibrating {
    budgets_s: Vec<f64>,
    if_changed: bool,
}

impl Calibrating {
    /// Calibrates from a run that is stored.
    fn of_stored(&self, name: &str, context: &Context) -> Result<u8, Failure> {
        let mut store = Store::open_existing(&context.db_to_write()?)?;
        let run = store.load(name)?.comparison()?;
        calibration::check(&run)?;
        if !run.complete {
            let (name, db) = (&run.name, context.settings.db_typed());
            return Err(Failure::Run(
                RunError::other_kind(format!("run `{name}` did not come to its end"))
                    .hint(format!("`duet calibrate --resume {name}{db}` goes on with it")),
            ));
        }
        self.keep(context, &mut store, run)
    }

    /// Stores and prints what a run tells.
    fn keep(&self, context: &Context, store: &mut Store, run: StoredRun<RunHead>) -> Result<u8, Failure> {
        let store_typed = context.settings.db_typed();
        let report = CalibrationReport { store_typed, ..calibration::of(run, &self.budgets_s) };
        if report.made.calibration.known().next().is_some() {
            store.add_calibration(&report.made)?;
        } else {
            context.printer.note("nothing was learnt, so this calibration is not kept");
        }
        context.printer.document(&calibrate::document(&report))?;
        Ok(report.exit_code())
    }
}

impl Purpose for Calibrating {
    fn goes_on(&self, run: RunId) -> String {
        format!("calibrate --resume {run}")
    }

    fn is_settled(&self, errand: &Errand<'_>, plan: &Plan, subjects: &Subjects) -> Result<bool, Failure> {
        let (context, db) = (errand.context, errand.context.db());
        if !self.if_changed || !db.is_file() {
            return Ok(false);
        }
        let ids: BTreeSet<&BenchmarkId> = plan.benchmarks.iter().map(|b| &b.id).collect();
        let environment = environment::describe(&subjects.toolchain, env!("CARGO_PKG_VERSION"));
        let here = Machine::of(&environment, errand.spec.fleet.as_ref());
        let all = Store::open_to_read(&db)?.calibrations()?;
        if let Some(made) = all.iter().find(|made| made.holds_for(&ids, &here)) {
            context.printer.note(&format!("nothing has changed since {}: nothing is measured", words::origin(made)));
            return Ok(true);
        }
        if let Some(made) = Made::concerning(&all, &ids, &here) {
            let why = words::why_again(&made.machine.differences(&here));
            context.printer.note(&format!("calibrating again, since {why} as in {}", words::origin(made)));
        }
        Ok(false)
    }

    fn conclude(&self, context: &Context, kept: Kept<'_>, exit_of: &dyn Fn(u8) -> u8) -> Result<u8, Failure> {
        let stored = kept.store.load(&kept.run.to_string())?.comparison()?;
        if !stored.complete {
            context.printer.note("nothing is calibrated before the run has come to its end");
            return Ok(exit_of(code::FAILED));
        }
        self.keep(context, kept.store, stored).map(exit_of)
    }
}
