//! Listing a program's benchmarks by running each once, surviving those that crash or hang.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use duetbench_core::BenchmarkId;
use duetbench_core::foreign::shortened;
use duetbench_core::plan::{Discovered, Style};
use duetbench_core::spec::Filter;

use crate::adapter::growing::{self, CULPRITS_MAX, Listed, unescaped};
use crate::error::RunError;
use crate::process::Launch;

/// The file with the names that do not run; empty: none runs.
const SKIP: &str = "DUET_SKIP";

/// Lists one program.
pub(super) struct Lister<'a> {
    pub(super) package: &'a str,
    pub(super) launch: Launch,
    /// Where the hook writes.
    pub(super) file: PathBuf,
    /// Longest time without growth of the list before the current benchmark counts as hung.
    pub(super) timeout: Duration,
    /// Filter of the benchmarks to run.
    pub(super) filter: &'a Filter,
}

/// Lines of the hook's, with names as it writes them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Lines {
    names: Vec<String>,
    started: Vec<String>,
    /// A first call's time, nanoseconds, or the words with which the benchmark was refused.
    outcomes: BTreeMap<String, Result<u64, String>>,
}

impl Lines {
    pub(super) fn parse(text: &str) -> Lines {
        let mut lines = Lines::default();
        for line in text.lines() {
            match line.split('\t').collect::<Vec<_>>()[..] {
                ["name", name] => lines.names.push(name.to_owned()),
                ["start", name] => lines.started.push(name.to_owned()),
                ["leaf", name, _, ns, ..] => {
                    if let Ok(ns) = ns.parse() {
                        lines.outcomes.insert(name.to_owned(), Ok(ns));
                    }
                }
                ["refuse", name, words] => {
                    lines.outcomes.insert(name.to_owned(), Err(shortened(&unescaped(words))));
                }
                _ => {}
            }
        }
        lines
    }
}

impl Lister<'_> {
    /// The wanted benchmarks; those that failed with their words.
    pub(super) fn run(&self, interrupted: &AtomicBool) -> Result<Vec<Discovered>, RunError> {
        let (named, death) = self.pass(None, interrupted)?;
        if let Some(death) = death {
            return Err(self.cannot_be_listed(&death));
        }
        let unwanted = named.names.iter().filter(|name| !self.filter.keeps(&unescaped(name)));
        let mut skipped: BTreeSet<String> = unwanted.cloned().collect();
        let mut outcomes = BTreeMap::new();
        let mut deaths = 0;
        while named.names.iter().any(|name| !skipped.contains(name)) {
            let (lines, death) = self.pass(Some(&skipped), interrupted)?;
            outcomes.extend(lines.outcomes);
            skipped.extend(outcomes.keys().cloned());
            let Some(death) = death else { break };
            let culprit = lines.started.last().filter(|name| !skipped.contains(*name) && deaths < CULPRITS_MAX);
            deaths += 1;
            let Some(culprit) = culprit else {
                // The program itself ends, before its benchmarks or after them.
                let left = named.names.iter().filter(|name| !skipped.contains(*name));
                outcomes.extend(left.map(|name| (name.clone(), Err(death.clone()))));
                skipped.extend(named.names.iter().cloned());
                break;
            };
            outcomes.insert(culprit.clone(), Err(death));
            skipped.insert(culprit.clone());
        }
        let ended = "the program ended before it came to this benchmark, as `std::process::exit` makes it";
        for name in named.names.iter().filter(|name| !skipped.contains(*name)) {
            outcomes.insert(name.clone(), Err(ended.to_owned()));
        }
        Ok(outcomes.into_iter().map(|(name, outcome)| self.discovered(&name, outcome)).collect())
    }

    fn discovered(&self, name: &str, outcome: Result<u64, String>) -> Discovered {
        let id = BenchmarkId { package: self.package.to_owned(), name: unescaped(name) };
        Discovered::of(id, Style::Loop, outcome)
    }

    fn cannot_be_listed(&self, words: &str) -> RunError {
        RunError::nothing_to_measure(format!("the benchmarks of `{}` cannot be listed: {words}", self.package))
            .hint("does `cargo bench -- --test` work there?")
    }

    /// Has the program run all benchmarks once but those to skip, or none where only the names are wanted.
    fn pass(
        &self,
        skipped: Option<&BTreeSet<String>>,
        interrupted: &AtomicBool,
    ) -> Result<(Lines, Option<String>), RunError> {
        let mut launch = self.launch.clone();
        let mut skip = PathBuf::new();
        if let Some(skipped) = skipped {
            skip = self.file.with_extension("skip");
            let names: String = skipped.iter().map(|name| format!("{name}\n")).collect();
            fs::write(&skip, names).map_err(|e| RunError::file("write", &skip, e))?;
        }
        launch.env.extend([("DUET_LIST".into(), self.file.clone().into()), (SKIP.into(), skip.into())]);
        let Listed { text, death, .. } = growing::run(&launch, &self.file, self.timeout, interrupted)?;
        Ok((Lines::parse(&text), death))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_names_times_and_refusals() {
        let text = "name\ta b\nstart\ta b\nleaf\ta b\tloop\t120\t0\t0\t1\t0\nstart\tc\\td\nrefuse\tc\\td\tit counts\\ncycles\nleaf\tx\n";
        let lines = Lines::parse(text);
        assert_eq!((lines.names, lines.started), (vec!["a b".to_owned()], vec!["a b".to_owned(), "c\\td".to_owned()]));
        let outcomes: Vec<_> = lines.outcomes.into_iter().collect();
        let refused = Err("it counts\ncycles".to_owned());
        assert_eq!(outcomes, [("a b".to_owned(), Ok(120)), ("c\\td".to_owned(), refused)]);
    }

    #[test]
    fn names_come_back_as_they_were() {
        assert_eq!(unescaped("a\\\\t\\tb\\nc\\r"), "a\\t\tb\nc\r");
    }
}
