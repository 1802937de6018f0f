//! `duet fleet`: what belongs to an account rather than to a run.

use std::fs::{self, File};
use std::io::Write;
use std::time::{Duration, SystemTime};

use duetbench_core::spec::EngineName;
use duetbench_run::RunError;
use duetbench_run::fleet::package::write_zip;
use duetbench_run::fleet::smoke::{Step, smoke};
use duetbench_run::fleet::{Deployment, FleetError, Leftover, Swept};
use duetbench_run::scratch::Scratch;

use super::Context;
use crate::args::{FleetCommand, PolicyArgs, SmokeArgs, SweepArgs};
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
        FleetCommand::Policy(args) => policy(args, context)?,
        FleetCommand::Sweep(args) => sweep(args, context)?,
        FleetCommand::Smoke(args) => return check(args, context),
    }
    Ok(code::CLEAN)
}

/// The policies, printed or written.
fn policy(args: &PolicyArgs, context: &Context) -> Result<(), Failure> {
    let policies = fleet::policies(&context.settings.account())?;
    let Some(dir) = &args.out else { return context.printer.data(&policies.text()) };
    let files = [("coordinator.json", &policies.coordinator), ("trust.json", &policies.trust)]
        .map(|(name, json)| (dir.join(name), json));
    if let Some((path, _)) = files.iter().find(|(path, _)| path.symlink_metadata().is_ok()) {
        let what = format!("`{}` is there already, and is not overwritten", path.display());
        return Err(FleetError::new(what).hint("remove it, or name another folder with `--out`").into());
    }
    fs::create_dir_all(dir).map_err(|e| RunError::file("create", dir, e))?;
    for (path, json) in &files {
        let written = File::create_new(path).and_then(|mut file| writeln!(file, "{json}"));
        written.map_err(|e| RunError::file("write", path, e))?;
        context.printer.data(&format!("{}\n", path.display()))?;
    }
    Ok(())
}

/// Names what was removed, and what is left.
fn sweep(args: &SweepArgs, context: &Context) -> Result<(), Failure> {
    let now = SystemTime::now();
    let is_over = |leftover: &Leftover| args.now || leftover.has_expired(now);
    let Swept { removed, left } = fleet::lambda(&context.settings.account())?.sweep(&is_over)?;
    let removed = removed.iter().map(|leftover| format!("{} is removed\n", leftover.name));
    let left = left
        .iter()
        .map(|leftover| format!("{} is left, until {}; `--now` deletes it\n", leftover.name, minute(leftover.expires)));
    let lines: String = removed.chain(left).collect();
    context.printer.data(if lines.is_empty() { "nothing was left behind\n" } else { &lines })
}

/// A moment, to the minute.
fn minute(at: SystemTime) -> String {
    let text = humantime::format_rfc3339_seconds(at).to_string();
    format!("{} {} UTC", &text[..10], &text[11..16])
}

/// One call from beginning to end.
fn check(args: &SmokeArgs, context: &Context) -> Result<u8, Failure> {
    let account = context.settings.account();
    let arch = args.arch.unwrap_or(fleet::this_arch());
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
