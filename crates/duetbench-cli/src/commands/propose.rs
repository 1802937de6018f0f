//! `duet calibrate --see`: what it takes to see a change, by what a calibration knows.

use duetbench_core::calibrate::{Machine, Made, SuiteTarget, propose_all};
use duetbench_core::spec::Decision;
use duetbench_core::stats::Level;
use duetbench_run::RunError;
use duetbench_run::environment;
use duetbench_run::store::Store;

use super::Context;
use super::detect::error_of;
use crate::args::ProposeArgs;
use crate::failure::{Failure, code};
use crate::render::plan::{self, Planned};

/// Largest change that anybody asks to see.
const CHANGE_MAX: f64 = 10.0;

/// Works out and prints what it takes; gives the exit code.
///
/// # Errors
/// When there is no calibration, or a number is out of range.
pub fn run(run: Option<&str>, args: &ProposeArgs, context: &Context) -> Result<u8, Failure> {
    let target = target(args)?;
    let usual = context.settings.decision(Decision::default())?;
    if !context.db().is_file() {
        return Err(nothing(context).into());
    }
    let made = pick(run, context)?;
    let suite = propose_all(&made.calibration, &target);
    let exit_code = if suite.missed() == 0 { code::CLEAN } else { code::INCONCLUSIVE };
    let changed = if made.machine.is_fleet() {
        Vec::new()
    } else {
        // The toolchain is only known once something is built.
        let toolchain = made.machine.fact("toolchain").unwrap_or_default();
        made.machine.differences(&Machine::of(&environment::describe(toolchain, env!("CARGO_PKG_VERSION")), None))
    };
    let duet_version = env!("CARGO_PKG_VERSION").to_owned();
    context.printer.document(&plan::document(&Planned {
        duet_version,
        made,
        target,
        suite,
        usual,
        changed,
        exit_code,
    }))?;
    Ok(exit_code)
}

fn target(args: &ProposeArgs) -> Result<SuiteTarget, Failure> {
    let see = args.see.ok_or_else(|| Failure::usage("`--see` is missing: the smallest change that is to be seen"))?;
    let numbers = [("see", see, CHANGE_MAX), ("power", args.power, 1.0), ("confidence", args.confidence, 1.0)];
    if let Some((name, value, high)) = numbers.into_iter().find(|(_, value, high)| !(*value > 0.0 && value < high)) {
        return Err(Failure::usage(format!("`--{name}` is {value}, but must lie above 0 and below {high}")));
    }
    if args.confidence <= 0.5 {
        let what = format!(
            "`--confidence` is {}, but must lie above 0.5: it is how often equal code is not called changed",
            args.confidence
        );
        return Err(Failure::usage(what));
    }
    if args.within.is_some_and(|within| within.is_zero()) {
        return Err(Failure::usage("`--within` must be longer than nothing"));
    }
    Ok(SuiteTarget {
        change: see,
        level: Level { alpha: error_of(args.confidence), power: args.power },
        within_s: args.within.map(|within| within.as_secs_f64()),
        instances: args.instances,
    })
}

/// The calibration of a run, or the newest.
fn pick(run: Option<&str>, context: &Context) -> Result<Made, RunError> {
    let (store, db) = (Store::open_to_read(&context.db())?, context.settings.db_typed());
    let mut all = store.calibrations()?;
    all.retain(|made| made.calibration.known().next().is_some());
    let Some(run) = run else { return all.into_iter().next().ok_or_else(|| nothing(context)) };
    let name = store.reopen(run)?.to_string();
    all.into_iter().find(|made| made.run == name).ok_or_else(|| {
        RunError::nothing_to_measure(format!("run `{name}` was never calibrated from"))
            .hint(format!("`duet calibrate --run {name}{db}` does it, if it compares a version with itself"))
    })
}

fn nothing(context: &Context) -> RunError {
    RunError::nothing_to_measure(format!("there is no calibration in `{}`", context.db().display()))
        .hint(format!("`duet calibrate{}` makes one", context.settings.db_typed()))
}
