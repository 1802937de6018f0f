//! Listing whole programs: each is run once.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use duetbench_core::BenchmarkId;
use duetbench_core::plan::{Discovered, Style};
use duetbench_core::spec::ExitCodes;

use super::{Commands, PACKAGE, Variant, line};
use crate::adapter::{Adapter, Build, Listing, shown};
use crate::error::RunError;
use crate::page::{Page, PageHeader};
use crate::process::{Launch, Timing, WaitEnd, end_leftovers, failure_words, hangs, wait_all, words_of_death};
use crate::program::{Patience, Program, Trouble, attend};
use crate::scratch::Scratch;

/// Programs that take less are mostly what the system does to start a process.
const SHORT_NS: u64 = 5_000_000;
/// Iterations that take less are few in the time of a process, and reading clocks is a part of them.
const QUICK_NS: u64 = 1_000_000;
/// Trial runs that measure the time to start a process.
const FLOOR_RUNS: u32 = 5;
/// Iterations that a program with a loop of its own is asked for; the shortest one counts, because the first ones warm up.
const ITERATIONS: u32 = 3;

/// Runs every benchmark of a version once.
pub(super) fn list(commands: &mut Commands, build: &Build, interrupted: &AtomicBool) -> Result<Listing, RunError> {
    let patience = Patience { limit: commands.around.timeout, interrupted };
    let mut listing = Listing::default();
    let (mut short, mut quick, mut peaks) = (Vec::new(), Vec::new(), Vec::new());
    for index in 0..commands.variants.len() {
        let variant = &commands.variants[index].clone();
        if !commands.around.filter.keeps(&variant.name) {
            continue;
        }
        let id = BenchmarkId { package: PACKAGE.to_owned(), name: variant.name.clone() };
        let lockstep = commands.entries.get(variant.entry).is_some_and(|entry| entry.lockstep);
        let style = if lockstep { Style::Iteration } else { Style::Process };
        let outcome = if let Err(words) = commands.set_up(build, index, patience)? {
            Ok(Err(words))
        } else if lockstep {
            commands.first_iteration(build, variant, patience).map(|once| once.map(|ns| (ns, None)))
        } else {
            let once = once(commands.program(build, &id), patience);
            once.map(|once| once.map(|timing| (timing.wall_ns, Some(timing.peak_bytes))))
        };
        end_leftovers(&id.name);
        let outcome = outcome?;
        let first = match outcome {
            // Beside the failure of the other version nothing else is worth a remark.
            Ok((first_ns, _)) if commands.failed.contains(&variant.name) => Ok(first_ns),
            Ok((first_ns, peak)) => {
                quick.extend((style == Style::Iteration && first_ns < QUICK_NS).then(|| variant.name.clone()));
                short.extend((style == Style::Process && first_ns < SHORT_NS).then(|| variant.name.clone()));
                peaks.extend(peak.map(|bytes| (variant.name.clone(), bytes)));
                Ok(first_ns)
            }
            Err(words) => {
                commands.failed.insert(variant.name.clone());
                Err(words)
            }
        };
        listing.found.push(Discovered::of(id, style, first));
    }
    listing.notes.extend(commands.shell_note.clone());
    if !quick.is_empty() {
        listing.notes.push(about_quick(&quick));
    }
    let nothing = if short.is_empty() && peaks.is_empty() { None } else { of_nothing(patience)? };
    if !short.is_empty() {
        listing.notes.push(about_short(&short, nothing.map(|nothing| nothing.wall_ns)));
    }
    let known = |(name, bytes)| (name, Peak::of(bytes, nothing.map(|nothing| nothing.peak_bytes)));
    let peaks = peaks.into_iter().map(known).collect();
    listing.remarks.extend(about_memory(&peaks, &commands.peaks));
    commands.peaks = peaks;
    Ok(listing)
}

/// Result of one run, or the words of its failure.
type Once<T> = Result<Result<T, String>, RunError>;

fn once(program: Option<Program>, patience: Patience<'_>) -> Once<Timing> {
    let Some(program) = program else { return Ok(Err("this version has no such command".into())) };
    match program.run(patience) {
        Ok(timing) => Ok(Ok(timing)),
        Err(Trouble::Failed { reason, .. }) => Ok(Err(reason)),
        Err(Trouble::Fatal(error)) => Err(error),
    }
}

/// A process that does nothing, where that can be tried: the least time of a few runs, and the most memory.
fn of_nothing(patience: Patience<'_>) -> Result<Option<Timing>, RunError> {
    let dir = std::env::temp_dir();
    let launch = line::launch(&["true".to_owned()], &BTreeMap::new(), &dir, &[]);
    let program = Program { launch, prepare: None, conclude: None, exit_codes: ExitCodes::default(), refill: false };
    let mut all: Option<Timing> = None;
    for _ in 0..FLOOR_RUNS {
        let Ok(one) = once(Some(program.clone()), patience)? else { continue };
        let so_far = all.unwrap_or(one);
        let (wall_ns, peak_bytes) = (so_far.wall_ns.min(one.wall_ns), so_far.peak_bytes.max(one.peak_bytes));
        all = Some(Timing { wall_ns, peak_bytes, ..one });
    }
    Ok(all)
}

fn about_short(names: &[String], floor_ns: Option<u64>) -> String {
    let floor = floor_ns
        .map_or_else(String::new, |ns| format!(" (here {:.1} ms for a program that does nothing)", ns as f64 * 1e-6));
    format!(
        "of less than {} ms most is the start of a process{floor}: give the program more to do, or let its own loop take part \
         with `--lockstep`; this concerns {}",
        SHORT_NS / 1_000_000,
        shown(names.iter().map(|name| format!("`{name}`")))
    )
}

fn about_quick(names: &[String]) -> String {
    format!(
        "iterations of less than {} ms make intervals wide: do many in one, and say how many with `duet_end(n)`; this concerns {}",
        QUICK_NS / 1_000_000,
        shown(names.iter().map(|name| format!("`{name}`")))
    )
}

/// Largest resident set of a program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Peak {
    bytes: u64,
    /// Whether it is its own for certain: every process begins with what we have ourselves.
    own: bool,
}

impl Peak {
    /// From the numbers that were read of it, and of a program that does nothing.
    fn of(bytes: u64, nothing: Option<u64>) -> Peak {
        // Clearly more: the system counts pages in batches.
        Peak { bytes, own: nothing.is_some_and(|nothing| bytes > nothing.saturating_add(nothing / 4)) }
    }

    fn words(self) -> String {
        format!("{}{:.1} MiB", if self.own { "" } else { "at most " }, self.bytes as f64 / f64::from(1 << 20))
    }
}

/// Note on the peak memory of the programs, beside their peak in the version that was listed before, where one of the two is known.
fn about_memory(peaks: &BTreeMap<String, Peak>, before: &BTreeMap<String, Peak>) -> Option<String> {
    let one = |(name, peak): (&String, &Peak)| {
        let other = before.get(name);
        let known = peak.own || other.is_some_and(|other| other.own);
        let other = other.map_or_else(String::new, |other| format!(" (base {})", other.words()));
        known.then(|| format!("`{name}` {}{other}", peak.words()))
    };
    let known: Vec<String> = peaks.iter().filter_map(one).collect();
    (!known.is_empty()).then(|| format!("largest resident memory while listing: {}", shown(known.into_iter())))
}

impl Commands {
    /// Runs once what a benchmark needs before it is measured, and keeps in mind what it needs afterwards.
    fn set_up(&mut self, build: &Build, variant: usize, patience: Patience<'_>) -> Once<()> {
        let (variant, artifact) = (&self.variants[variant], build.artifacts.get(PACKAGE));
        let Some((entry, artifact)) = self.entries.get(variant.entry).zip(artifact) else { return Ok(Ok(())) };
        let launch = |line: &Option<String>| self.started(line.as_deref()?, variant, &artifact.dir);
        let (setup, cleanup) = (launch(&entry.setup), launch(&entry.cleanup));
        self.cleanups.extend(cleanup);
        match setup.map_or(Ok(()), |setup| attend(&setup, "set it up", patience)) {
            Ok(()) => Ok(Ok(())),
            Err(Trouble::Failed { reason, .. }) => Ok(Err(reason)),
            Err(Trouble::Fatal(error)) => Err(error),
        }
    }

    /// Runs a program with a loop of its own for a few iterations; gives the time of the shortest one.
    fn first_iteration(&self, build: &Build, variant: &Variant, patience: Patience<'_>) -> Once<u64> {
        let launch = build.artifacts.get(PACKAGE).and_then(|artifact| self.own_launch(artifact, variant));
        let Some(launch) = launch else { return Ok(Err("this version has no such command".into())) };
        let pages = Scratch::in_memory()?;
        let page = Page::create_for(
            launch.sandbox.as_ref(),
            &pages.path().join("page"),
            &PageHeader::alone(1, 0, ITERATIONS),
        )?;
        let env = [("DUET_PAGE".into(), page.path().into()), ("DUET_SIDE".into(), "0".into())];
        let launch = Launch { env: launch.env.into_iter().chain(env).collect(), ..launch };
        let mut children = match launch.spawn() {
            Ok(child) => [child],
            Err(error) => return Ok(Err(error.to_string())),
        };
        match wait_all(&mut children, Instant::now() + patience.limit, patience.interrupted, |_| {}) {
            WaitEnd::Interrupted => return Err(RunError::Interrupted),
            WaitEnd::TimedOut => return Ok(Err(hangs(patience.limit))),
            WaitEnd::Ended => {}
        }
        if let Some(death) = children[0].status().and_then(failure_words) {
            return Ok(Err(words_of_death(&death, &children[0].output_tail())));
        }
        let shortest = page.records(0).iter().map(|record| record.wall_ns).min();
        Ok(shortest
            .ok_or_else(|| "it ended without an iteration: does it call `begin` and `end` of the protocol?".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_may_be_ours_is_no_number_of_a_program_s() {
        let mib = 1 << 20;
        let of = |bytes| BTreeMap::from([("x".to_owned(), Peak::of(bytes, Some(4 * mib)))]);
        let (small, large, none) = (of(4 * mib), of(100 * mib), BTreeMap::new());
        assert_eq!(about_memory(&small, &small), None);
        assert_eq!(about_memory(&small, &none), None);
        let told = |peaks, before| about_memory(peaks, before).unwrap();
        let begins = "largest resident memory while listing: ";
        assert_eq!(told(&large, &none), format!("{begins}`x` 100.0 MiB"));
        assert_eq!(told(&large, &small), format!("{begins}`x` 100.0 MiB (base at most 4.0 MiB)"));
        assert_eq!(told(&small, &large), format!("{begins}`x` at most 4.0 MiB (base 100.0 MiB)"));
        assert!(!Peak::of(100 * mib, None).own);
    }
}
