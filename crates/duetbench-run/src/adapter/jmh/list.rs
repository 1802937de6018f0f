//! Listing a jar's benchmarks by trying each once, surviving those that end the JVM or hang.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use duetbench_core::BenchmarkId;
use duetbench_core::spec::Filter;

use super::entry::{self, Entry, Lines};
use crate::adapter::growing::{self, CULPRITS_MAX, Listed};
use crate::error::RunError;
use crate::process::Launch;

/// Lists one jar.
pub(super) struct Lister<'f> {
    /// The JVM with the lister's class path and main class, without what its benchmarks ask for.
    pub(super) launch: Launch,
    /// Where the lister writes.
    pub(super) file: PathBuf,
    /// Longest time without growth of the list before the current benchmark counts as hung.
    pub(super) timeout: Duration,
    /// Filter of the benchmarks to try.
    pub(super) filter: &'f Filter,
}

/// A benchmark with the time of a first operation, nanoseconds, or the words with which it failed.
pub(super) type Tried = (BenchmarkId, Entry, Result<u64, String>);

/// Benchmarks that a pass tries.
#[derive(Debug, Clone, Copy)]
enum Part<'a> {
    /// All from this one on but those to skip, by their indices.
    From { index: usize, skipped: &'a [usize] },
    /// This one alone, in a JVM with its own arguments.
    Only(&'a Entry),
    /// None: only the names are wanted.
    Nothing,
}

/// List and end of one pass.
struct Pass {
    lines: Lines,
    /// Absent when every benchmark had its turn.
    death: Option<String>,
}

impl Lister<'_> {
    /// The wanted benchmarks of the jar.
    pub(super) fn run(&self, interrupted: &AtomicBool) -> Result<Vec<Tried>, RunError> {
        let mut entries = Vec::new();
        let mut outcomes: BTreeMap<usize, Result<u64, String>> = BTreeMap::new();
        let mut failed: BTreeSet<usize> = BTreeSet::new();
        let mut from = 0;
        let skipped = self.unwanted(interrupted)?;
        for culprits in 0.. {
            let Pass { lines, death } = self.pass(Part::From { index: from, skipped: &skipped }, interrupted)?;
            outcomes.extend(lines.done.iter().map(|(index, ns)| (*index, Ok(*ns))));
            outcomes.extend(lines.failed.iter().map(|(index, words)| (*index, Err(words.clone()))));
            failed.extend(lines.failed.keys().copied());
            entries = lines.entries;
            let Some(death) = death else { break };
            let culprit = lines.last_started.filter(|index| *index >= from && culprits < CULPRITS_MAX);
            let Some(culprit) = culprit else { return Err(cannot_list(&death)) };
            outcomes.insert(culprit, Err(death));
            from = culprit + 1;
        }
        let mut tried = Vec::with_capacity(entries.len());
        let mut again = 0;
        let ids = entry::ids(&entries);
        for (id, entry) in ids.into_iter().zip(entries).filter(|(_, entry)| !skipped.contains(&entry.index)) {
            let outcome = outcomes.remove(&entry.index);
            let outcome = outcome.unwrap_or_else(|| Err("it was not tried: the JVM ended before".into()));
            // All were tried in one JVM, which had no benchmark's own arguments, and perhaps what others left.
            let outcome = match outcome {
                Err(_) if !entry.jvm_args.is_empty() => self.alone(&entry, interrupted)?,
                Err(_) if failed.contains(&entry.index) && again < CULPRITS_MAX => {
                    again += 1;
                    self.alone(&entry, interrupted)?
                }
                outcome => outcome,
            };
            tried.push((id, entry, outcome));
        }
        Ok(tried)
    }

    /// Those that are not to be tried, by their indices. Trying none tells the names.
    fn unwanted(&self, interrupted: &AtomicBool) -> Result<Vec<usize>, RunError> {
        if self.filter.keeps_all() {
            return Ok(Vec::new());
        }
        let Pass { lines, death } = self.pass(Part::Nothing, interrupted)?;
        if let Some(death) = death {
            return Err(cannot_list(&death));
        }
        let named = entry::ids(&lines.entries).into_iter().zip(&lines.entries);
        Ok(named.filter(|(id, _)| !self.filter.keeps_qualified(id)).map(|(_, entry)| entry.index).collect())
    }

    /// One benchmark in a JVM with its own arguments.
    fn alone(&self, entry: &Entry, interrupted: &AtomicBool) -> Result<Result<u64, String>, RunError> {
        let Pass { mut lines, death } = self.pass(Part::Only(entry), interrupted)?;
        let died = || death.unwrap_or_else(|| "it ended without an answer".into());
        Ok(match lines.done.remove(&entry.index) {
            Some(ns) => Ok(ns),
            None => Err(lines.failed.remove(&entry.index).unwrap_or_else(died)),
        })
    }

    fn pass(&self, part: Part<'_>, interrupted: &AtomicBool) -> Result<Pass, RunError> {
        let mut launch = self.launch.clone();
        launch.env.push(("DUET_LIST".into(), self.file.clone().into()));
        match part {
            Part::From { index, skipped } => {
                let skipped: Vec<String> = skipped.iter().map(ToString::to_string).collect();
                launch.env.push(("DUET_FROM".into(), index.to_string().into()));
                launch.env.push(("DUET_SKIP".into(), skipped.join(",").into()));
            }
            Part::Only(entry) => {
                launch.args.splice(0..0, entry.jvm_args.iter().map(Into::into));
                launch.env.push(("DUET_ONLY".into(), entry.index.to_string().into()));
            }
            Part::Nothing => launch.env.push(("DUET_FROM".into(), i32::MAX.to_string().into())),
        }
        let Listed { text, death, .. } = growing::run(&launch, &self.file, self.timeout, interrupted)?;
        let lines = Lines::parse(&text);
        let ended_early = || (!lines.ended).then(|| "the JVM ended by itself, as `System.exit` makes it".to_owned());
        // A benchmark that left threads behind may fail the JVM's end when all is written down.
        let death = death.filter(|_| !lines.ended).or_else(ended_early);
        Ok(Pass { lines, death })
    }
}

fn cannot_list(words: &str) -> RunError {
    RunError::nothing_to_measure(format!("the benchmarks cannot be listed: {words}")).hint(
        "does `java -jar benchmarks.jar -l` work? A jar that does not hold all it needs needs `class_path` in `[jmh]`",
    )
}
