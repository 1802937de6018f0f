//! Listing a test binary's benchmarks by running each once, surviving those that crash or hang.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use duetbench_core::BenchmarkId;
use duetbench_core::foreign::shortened;
use duetbench_core::plan::{Discovered, Style};

use super::super::{Listing, Skipped};
use super::{ByName, exact_pattern};
use crate::adapter::growing::{self, CULPRITS_MAX, Listed};
use crate::error::RunError;
use crate::process::{Launch, go_report};

/// Longest pattern, bytes: the system takes no longer argument than 128 KiB.
const PATTERN_MAX: usize = 120_000;

/// Lists one test binary.
pub(super) struct Lister<'a> {
    pub(super) package: &'a str,
    pub(super) launch: Launch,
    /// Arguments that come after ours.
    pub(super) last: Vec<OsString>,
    /// Where the hook writes.
    pub(super) file: PathBuf,
    /// Longest time without growth of the list before the current benchmark counts as hung.
    pub(super) timeout: Duration,
    /// Top-level benchmarks that are declared and may be wanted.
    pub(super) wanted: Vec<String>,
    /// Top-level benchmarks that are not wanted and do not run.
    pub(super) unwanted: Vec<String>,
}

/// Output and end of one pass over the binary.
struct Pass {
    lines: String,
    output: String,
    /// Absent when every benchmark had its turn, or the process ended as if nothing was wrong.
    death: Option<String>,
    /// The harness said that every benchmark had its turn.
    all_had_their_turn: bool,
}

impl Lister<'_> {
    /// All leaf benchmarks; those that failed with their own words.
    pub(super) fn run(&self, interrupted: &AtomicBool) -> Result<Listing, RunError> {
        let mut found = ByName::new();
        let mut skipped = BTreeMap::new();
        let mut culprits: Vec<String> = Vec::new();
        let mut doubled = BTreeSet::new();
        loop {
            let pass = self.pass(&culprits, interrupted)?;
            doubled.extend(listed_twice(&pass.lines).map(str::to_owned));
            let started = parse(&pass.lines, self.package, &mut found);
            let ends = ends(&pass.lines);
            for name in childless(&started, &found) {
                let words = match ends.get(name.as_str()) {
                    Some(End::Skipped(words)) => {
                        skipped.insert(self.id(&name), (!words.is_empty()).then(|| shortened(words)));
                        continue;
                    }
                    Some(End::Failed(words)) => failure_of(&name, &pass.output).unwrap_or_else(|| failure(words)),
                    // Those that it has do not run, or it is the culprit, of which more is said below.
                    Some(End::Parent) => continue,
                    None if pass.death.is_some() => continue,
                    None => "it ended the test program, as if all was well".to_owned(),
                };
                found.insert(name.clone(), self.failed(&name, words));
            }
            let Some(death) = pass.death else {
                if !pass.all_had_their_turn {
                    self.fail_unstarted(&started, &mut found, "the test program ended before its benchmarks");
                }
                break;
            };
            if started.is_empty() && culprits.is_empty() {
                self.fail_unstarted(
                    &started,
                    &mut found,
                    &format!("the test program did not reach its benchmarks: {death}"),
                );
                break;
            }
            let last = under_way(&pass.lines).or(started.last().map(String::as_str)).map(str::to_owned);
            let Some(culprit) = last.filter(|name| !culprits.contains(name) && culprits.len() < CULPRITS_MAX) else {
                let what = format!("the benchmarks of `{}` cannot be listed: {death}", self.package);
                return Err(RunError::nothing_to_measure(what).hint(
                    "does `go test -trimpath -run '^$' -bench . -benchtime 1x` work there? If only without `-trimpath`, \
                     add `-- -trimpath=false`",
                ));
            };
            found.insert(culprit.clone(), self.failed(&culprit, death));
            culprits.push(culprit);
        }
        let failed = |id: &BenchmarkId| found.get(&id.name).is_some_and(|d| d.failure.is_some());
        skipped.retain(|id, _| !failed(id));
        let skipped = skipped.into_iter().map(|(id, reason)| Skipped { id, reason }).collect();
        let found = found.into_values().collect();
        let note = |name| format!("two benchmarks of `{}` are named `{name}`: the first is measured", self.package);
        Ok(Listing { found, skipped, notes: doubled.into_iter().map(note).collect(), ..Listing::default() })
    }

    fn id(&self, name: &str) -> BenchmarkId {
        BenchmarkId { package: self.package.to_owned(), name: name.to_owned() }
    }

    fn failed(&self, name: &str, words: String) -> Discovered {
        Discovered::of(self.id(name), Style::Recall, Err(words))
    }

    /// A test program that ends before its benchmarks would otherwise look like one that has none.
    fn fail_unstarted(&self, started: &[String], found: &mut ByName, end: &str) {
        let words = format!(
            "{end} (by `TestMain`?); `--pass-env` passes variables to it, `-- -trimpath=false` has it find data by its sources' paths"
        );
        for name in self.wanted.iter().filter(|name| !started.contains(name)) {
            found.entry(name.clone()).or_insert_with(|| self.failed(name, words.clone()));
        }
    }

    fn pass(&self, culprits: &[String], interrupted: &AtomicBool) -> Result<Pass, RunError> {
        let mut launch = self.launch.clone();
        launch.args.push("-test.bench=.".into());
        launch.args.extend(skipping(culprits.iter().chain(&self.unwanted)));
        launch.args.extend(self.last.iter().cloned());
        launch.env.push(("DUET_LIST".into(), self.file.clone().into()));
        let Listed { text: lines, output, death } = growing::run(&launch, &self.file, self.timeout, interrupted)?;
        // Exit status 1 after all benchmarks had their turn is how the harness says that some of them failed. A test program that a
        // benchmark starts says so too.
        let said = output.lines().any(|l| l == "FAIL" || l == "PASS");
        let all_had_their_turn = said && under_way(&lines).is_none();
        let death = death.filter(|_| !all_had_their_turn);
        Ok(Pass { lines, output, death, all_had_their_turn })
    }
}

/// The argument that keeps benchmarks from running, the first ones where it cannot name them all.
fn skipping<'n>(names: impl Iterator<Item = &'n String>) -> Option<OsString> {
    let mut length = 0;
    let fits = |pattern: &String| {
        length += pattern.len() + 1;
        length <= PATTERN_MAX
    };
    let mut patterns: Vec<String> = names.map(|name| exact_pattern(name)).take_while(fits).collect();
    // The first one that matches decides, and one of a sub-benchmark matches its parent in part, which keeps that from nothing.
    patterns.sort_by_key(|pattern| pattern.matches('/').count());
    (!patterns.is_empty()).then(|| format!("-test.skip={}", patterns.join("|")).into())
}

/// Takes the leaves into `found`; gives the names that were started, in order.
pub(super) fn parse(lines: &str, package: &str, found: &mut ByName) -> Vec<String> {
    let mut started = Vec::new();
    for line in lines.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields[..] {
            ["start", name] => started.push(name.to_owned()),
            ["leaf", name, style, ns, ..] => {
                let (Some(style), Ok(first_ns)) = (Style::from_word(style), ns.parse()) else { continue };
                let id = BenchmarkId { package: package.to_owned(), name: name.to_owned() };
                found.entry(name.to_owned()).or_insert(Discovered::of(id, style, Ok(first_ns)));
            }
            _ => {}
        }
    }
    started
}

/// Names of benchmarks that a package and its external tests both have.
fn listed_twice(lines: &str) -> impl Iterator<Item = &str> {
    let mut seen = BTreeSet::new();
    let leaves = lines.lines().filter_map(|line| Some(line.strip_prefix("leaf\t")?.split_once('\t')?.0));
    leaves.filter(move |name| !seen.insert(*name))
}

/// The way in which a benchmark ended that is no leaf.
#[derive(Debug, PartialEq)]
enum End<'l> {
    Skipped(&'l str),
    Failed(&'l str),
    Parent,
}

/// The ends of benchmarks that are no leaves, by name, with their words.
fn ends(lines: &str) -> BTreeMap<&str, End<'_>> {
    let told = lines.lines().filter_map(|line| {
        let mut fields = line.splitn(3, '\t');
        let (kind, name, words) = (fields.next()?, fields.next()?, fields.next()?);
        let end = match kind {
            "skip" => End::Skipped(words),
            "fail" => End::Failed(words),
            "parent" => End::Parent,
            _ => return None,
        };
        Some((name, end))
    });
    told.collect()
}

/// The last benchmark that was started and has not ended.
fn under_way(lines: &str) -> Option<&str> {
    let mut started = Vec::new();
    for (kind, rest) in lines.lines().filter_map(|line| line.split_once('\t')) {
        let name = rest.split('\t').next().unwrap_or(rest);
        match kind {
            "start" => started.push(name),
            _ => started.retain(|one| *one != name),
        }
    }
    started.pop()
}

/// Names that were started but are neither leaves nor parents.
fn childless(started: &[String], found: &ByName) -> Vec<String> {
    let is_parent = |name: &String| {
        started.iter().any(|other| other.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('/')))
    };
    started.iter().filter(|name| !found.contains_key(*name) && !is_parent(name)).cloned().collect()
}

/// The harness's report that this benchmark failed, if there is one.
fn failure_of(name: &str, output: &str) -> Option<String> {
    let head = format!("--- FAIL: {name}");
    output.lines().find(|line| line.trim() == head)?;
    Some(go_report(output, |line| line == head).unwrap_or_else(|| failure("")))
}

/// The words of a failure, if there are any.
fn failure(words: &str) -> String {
    if words.is_empty() { "it failed without a word".into() } else { shortened(words) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_parents_and_failures_are_told_apart() {
        let lines = "start\tBenchmarkA\nleaf\tBenchmarkA\trewritten\t120\t0\t0\t2\t0\nstart\tBenchmarkP\nstart\tBenchmarkP/x=1\n\
                     leaf\tBenchmarkP/x=1\tloop\t7\t0\t0\t2\t0\nstart\tBenchmarkF\nstart\tBenchmarkSkip\n";
        let mut found = ByName::new();
        let started = parse(lines, "p", &mut found);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["BenchmarkA", "BenchmarkP/x=1"]);
        assert_eq!(childless(&started, &found), ["BenchmarkF", "BenchmarkSkip"]);
        let output = "goos: linux\n--- FAIL: BenchmarkF\n    a_test.go:3: no luck\nFAIL\n";
        assert_eq!(failure_of("BenchmarkF", output).as_deref(), Some("a_test.go:3: no luck"));
        assert_eq!(failure_of("BenchmarkSkip", output), None);
        let lines = "start\tBenchmarkSkip\nskip\tBenchmarkSkip\ta_test.go:4: no database\nfail\tBenchmarkF\t\nparent\tBenchmarkP\t\n";
        let [f, p, skip] = &ends(lines).into_iter().collect::<Vec<_>>()[..] else { panic!() };
        assert_eq!([f, p], [&("BenchmarkF", End::Failed("")), &("BenchmarkP", End::Parent)]);
        assert_eq!(*skip, ("BenchmarkSkip", End::Skipped("a_test.go:4: no database")));
        assert_eq!(under_way(lines), None);
        let flood = format!("--- FAIL: BenchmarkF\n    {}\n", "x".repeat(16_000));
        assert_eq!(failure_of("BenchmarkF", &flood).map(|words| words.chars().count()), Some(301));
    }

    #[test]
    fn a_parent_that_dies_after_its_sub_benchmarks_is_the_culprit_and_does_not_run_again() {
        let check = |lines: &str, expected: Option<&str>| assert_eq!(under_way(lines), expected, "{lines}");
        check("start\tBenchmarkA\nfail\tBenchmarkA\t\nstart\tBenchmarkB\n", Some("BenchmarkB"));
        let sub = "start\tBenchmarkP\nstart\tBenchmarkP/a\n";
        check(sub, Some("BenchmarkP/a"));
        let ended = format!("{sub}leaf\tBenchmarkP/a\tloop\t7\t0\t0\t2\t0\n");
        check(&ended, Some("BenchmarkP"));
        check(&format!("{ended}parent\tBenchmarkP\t\n"), None);
        let names = ["BenchmarkP/a", "BenchmarkP"].map(str::to_owned);
        assert_eq!(skipping(names.iter()).unwrap(), "-test.skip=^BenchmarkP$|^BenchmarkP$/^a$");
        assert_eq!(skipping([].iter()), None);
    }
}
