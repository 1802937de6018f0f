//! What two recordings that were measured apart can show, in words: said before anything else, because no number below says it.

use duetbench_core::detect::{Footing, UNITS_MIN};
use duetbench_core::recording::Level;

use crate::render::format::many;

/// What the two sides rest on.
#[derive(Debug, Clone, PartialEq)]
pub struct Unpaired {
    /// The version compared against.
    pub base: Side,
    /// The version under test.
    pub head: Side,
}

/// What one side rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// Files that it was read from.
    pub files: usize,
    /// What is repeated in them how often.
    pub footing: Footing,
    /// What wrote them, where that is known.
    pub tool: Option<Tool>,
    /// Whether it is a stored run.
    pub stored: bool,
}

/// Tools whose files are told apart, because each has its own way to more processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// `go test -bench`.
    Go,
    /// benchstat, which keeps medians alone.
    Benchstat,
    /// JMH.
    Jmh,
    /// Google Benchmark.
    GoogleBenchmark,
    /// criterion.
    Criterion,
    /// pytest-benchmark.
    PytestBenchmark,
    /// pyperf.
    Pyperf,
    /// hyperfine.
    Hyperfine,
}

const APART: &str = "not paired: what the machine did between base and head counts as change too; `duet compare` measures both side by side";
const ONCE: &str =
    "values of one fork (a fresh process) depend on each other, so a fork counts once, however many it gave";

impl Unpaired {
    /// What can be said and what cannot, a line each; with what to run where there are too few forks.
    pub(super) fn statement(&self) -> Vec<String> {
        let mut lines = vec![APART.to_owned(), self.base.words("base"), self.head.words("head"), ONCE.to_owned()];
        lines.extend(self.advice());
        lines
    }

    /// What to run to get a verdict; nothing where there are forks enough.
    pub(super) fn advice(&self) -> Vec<String> {
        let Some(few) = [&self.base, &self.head].into_iter().find(|side| !side.footing.is_enough()) else {
            return Vec::new();
        };
        let level = few.footing.counted();
        let mut lines =
            vec![format!("no verdict with fewer than {UNITS_MIN} {} on each side. To get one:", plural(level))];
        lines.extend(few.commands());
        lines
    }
}

impl Side {
    /// `base: 3 forks of 120 to 500 iterations, from 3 files`
    fn words(&self, name: &str) -> String {
        let repeated = self.footing.repetitions.iter().map(|(level, few, most)| counted(*level, (*few, *most)));
        let from = if self.files > 0 { format!(", from {}", many(self.files, "file", "files")) } else { String::new() };
        format!("{name}: {}{from}", repeated.collect::<Vec<_>>().join(" of "))
    }

    /// Commands, of the base; those of the head are the same with another name.
    fn commands(&self) -> Vec<String> {
        let thrice = |command: &str| format!("  for i in 1 2 3; do {command}; done");
        let files = |ending: &str| {
            let of = |side: &str| [1, 2, 3].map(|i| format!("{side}{i}{ending}")).join(",");
            format!("  duet analyze {} {}", of("base"), of("head"))
        };
        let one = |command: &str| vec![format!("  {command}"), "  duet analyze base.json head.json".to_owned()];
        if self.stored {
            return vec!["  duet run --suite-runs 3".to_owned()];
        }
        match self.tool {
            Some(Tool::Go) => vec![thrice("go test -run '^$' -bench . ./... > base$i.txt"), files(".txt")],
            Some(Tool::GoogleBenchmark) => {
                let command = "./benchmarks --benchmark_out=base$i.json --benchmark_out_format=json";
                vec![thrice(command), files(".json")]
            }
            Some(Tool::Criterion) => vec![thrice("CRITERION_HOME=$PWD/base$i cargo bench"), files("")],
            Some(Tool::PytestBenchmark) => {
                vec![thrice("pytest --benchmark-only --benchmark-json=base$i.json"), files(".json")]
            }
            Some(Tool::Jmh) => one("java -jar benchmarks.jar -f 5 -rf json -rff base.json"),
            Some(Tool::Pyperf) => one("python3 bench.py --processes 10 -o base.json"),
            Some(Tool::Hyperfine) => one("hyperfine --runs 10 --export-json base.json COMMAND"),
            Some(Tool::Benchstat) => {
                vec!["  give the files that benchstat was given: it keeps medians alone".to_owned()]
            }
            None => vec![
                "  repeat the suite three times, each in a process of its own, and give all files:".to_owned(),
                files(".csv"),
            ],
        }
    }
}

/// So many repetitions of a level, or from so many to so many.
fn counted(level: Level, (few, most): (usize, usize)) -> String {
    if few == most { many(most, single(level), plural(level)) } else { format!("{few} to {most} {}", plural(level)) }
}

fn single(level: Level) -> &'static str {
    match level {
        Level::Instance => "instance",
        Level::SuiteRun => "suite run",
        Level::Fork => "fork",
        Level::Iteration => "iteration",
        Level::Second => "second",
    }
}

/// Several of a level.
pub(super) fn plural(level: Level) -> &'static str {
    match level {
        Level::Instance => "instances",
        Level::SuiteRun => "suite runs",
        Level::Fork => "forks",
        Level::Iteration => "iterations",
        Level::Second => "seconds",
    }
}
