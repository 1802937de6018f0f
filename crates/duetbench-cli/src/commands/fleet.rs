//! `duet fleet`: what belongs to an account rather than to a run.

use std::time::{Duration, SystemTime};

use duetbench_core::spec::{Arch, EngineName};
use duetbench_run::fleet::package::write_zip;
use duetbench_run::fleet::smoke::{Step, smoke};
use duetbench_run::fleet::{Deployment, FleetError};
use duetbench_run::scratch::Scratch;

use super::Context;
use crate::args::{FleetCommand, SmokeArgs};
use crate::failure::{Failure, code};
use crate::fleet;

/// Longest call of a check.
const CALL_MAX: Duration = Duration::from_secs(30);
/// When what a check left behind may be swept away.
const LEFTOVER: Duration = Duration::from_secs(900);

/// Prints policies, sweeps, or checks an account; gives the exit code.
///
/// # Errors
/// When the account cannot be reached or refuses.
pub fn run(command: &FleetCommand, context: &Context) -> Result<u8, Failure> {
    match command {
        FleetCommand::Policy(_) => context.printer.data(&fleet::policies(&context.settings.account())?)?,
        FleetCommand::Sweep(_) => sweep(context)?,
        FleetCommand::Smoke(args) => return check(args, context),
    }
    Ok(code::CLEAN)
}

fn sweep(context: &Context) -> Result<(), Failure> {
    let swept = fleet::lambda(&context.settings.account())?.sweep(SystemTime::now())?;
    let words = if swept.is_empty() { "nothing was left behind\n".to_owned() } else { swept.join("\n") + "\n" };
    context.printer.data(&words)
}

/// One call from beginning to end.
fn check(args: &SmokeArgs, context: &Context) -> Result<u8, Failure> {
    let account = context.settings.account();
    let arch = args.arch.map_or(fleet::this_arch(), Arch::from);
    let engine = fleet::engine(EngineName::Lambda, 1, &account)?;
    let (worker, scratch) = (fleet::worker(&account, arch)?, Scratch::new()?);
    let package = scratch.path().join("package.zip");
    write_zip(&package, &worker, &[])?;
    let run = format!("smoke-{}", std::process::id());
    let wish = Deployment {
        package: &package,
        run: &run,
        memory_mb: args.memory,
        disk_mb: 512,
        arch,
        call_max: CALL_MAX,
        parallel: 1,
        expires: SystemTime::now() + LEFTOVER,
    };
    let steps = smoke(&*engine, &wish);
    context.printer.data(&steps.iter().map(line).collect::<String>())?;
    match steps.into_iter().find_map(|step| step.result.err()) {
        Some(error) => Err(error.into()),
        None => Ok(code::CLEAN),
    }
}

fn line(step: &Step) -> String {
    let words = step.result.as_ref().map_or_else(FleetError::to_string, Clone::clone);
    let mark = if step.result.is_ok() { "ok" } else { "failed" };
    format!("{:<8} {mark:<6} {:>7.2} s  {words}\n", step.name, step.took.as_secs_f64())
}
