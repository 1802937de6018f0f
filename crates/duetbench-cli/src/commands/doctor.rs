//! `duet doctor`: is this a good place to measure?

use std::sync::atomic::Ordering;
use std::time::Duration;

use duetbench_core::noise::{Beside, Conditions, Gaps, diagnose};
use duetbench_run::RunError;
use duetbench_run::noise::{Watch, facts, hiccup};
use duetbench_run::processors::usable_cpus;

use super::Context;
use crate::args::DoctorArgs;
use crate::failure::{Failure, code};
use crate::render::doctor::{self, Checkup};
use crate::session::lock_machine;

/// Time for which a processor is watched before it is the turn of the next: short, so that Ctrl-C is heard and all see the same
/// moments of the machine, yet long enough to see something that takes a processor away every few milliseconds.
const TURN: Duration = Duration::from_millis(100);

/// Watches the machine for a while, keeping one processor after the other busy, and says what would disturb measuring. It
/// measures nothing of a project and gives 0 whatever it finds.
///
/// # Errors
/// When it is interrupted, or another run holds the machine and may not be waited for.
pub fn run(args: &DoctorArgs, context: &Context) -> Result<u8, Failure> {
    // Two on one machine would find each other.
    let _lock = lock_machine(context)?;
    let length = Duration::from_secs(args.seconds.into());
    context.printer.note(&format!("watching this machine for {}", humantime::format_duration(length)));
    let facts = facts();
    let (conditions, gaps) = watch(length, context)?;
    let beside = Beside { gaps, ..Beside::default() };
    let findings = diagnose(&conditions, &facts, &beside);
    let duet_version = env!("CARGO_PKG_VERSION").to_owned();
    context.printer.document(&doctor::document(&Checkup {
        duet_version,
        facts,
        conditions,
        gaps: beside.gaps,
        findings,
    }))?;
    Ok(code::CLEAN)
}

/// Conditions of the machine, and the gaps of every processor that could be watched.
fn watch(length: Duration, context: &Context) -> Result<(Conditions, Vec<Gaps>), RunError> {
    let cpus = usable_cpus();
    let (rounds, turn) = rounds(length, u32::try_from(cpus.len()).unwrap_or(u32::MAX).max(1));
    let mut gaps: Vec<Gaps> = cpus.into_iter().map(Gaps::on).collect();
    let mut total = Conditions::default();
    let mut watch = Watch::start();
    for _ in 0..rounds {
        for of_cpu in &mut gaps {
            if context.interrupted.load(Ordering::Relaxed) {
                return Err(RunError::Interrupted);
            }
            match hiccup::watch(of_cpu.cpu, turn) {
                Some(seen) => of_cpu.merge(&seen),
                None => std::thread::sleep(turn),
            }
            total.merge(&watch.lap());
        }
    }
    gaps.retain(|of_cpu| of_cpu.watched_ns > 0);
    Ok((total, gaps))
}

/// Turns of each processor, and the length of one, so that all together take the length.
fn rounds(length: Duration, cpus: u32) -> (u32, Duration) {
    let all_once = TURN.saturating_mul(cpus);
    let rounds = u32::try_from(length.as_nanos().div_ceil(all_once.as_nanos())).unwrap_or(u32::MAX).max(1);
    (rounds, length / rounds / cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_fill_the_time_and_every_processor_has_one() {
        let check = |seconds, cpus, rounds_wanted, turn_ms| {
            let want = (rounds_wanted, Duration::from_millis(turn_ms));
            assert_eq!(rounds(Duration::from_secs(seconds), cpus), want);
        };
        check(2, 2, 10, 100);
        check(2, 10, 2, 100);
        check(2, 500, 1, 4);
        check(1, 1, 10, 100);
    }
}
