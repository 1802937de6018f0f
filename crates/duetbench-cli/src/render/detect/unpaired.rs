//! Limits of two recordings that were measured apart, in words: said before anything else, because no number below says them.

use duetbench_core::detect::{Footing, UNITS_MIN};
use duetbench_core::recording::Level;

use crate::render::document::Line;
use crate::render::format::many;

/// The data behind the two sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Unpaired {
    /// The version compared against.
    pub base: Side,
    /// The version under test.
    pub head: Side,
}

/// The data behind one side.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// Files that it was read from.
    pub files: usize,
    /// Repetitions in them, by level.
    pub footing: Footing,
    /// The tool that wrote them, where it is known.
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
    /// The limits in lines.
    pub(super) fn lines(&self) -> Vec<Line> {
        let commands = self.commands().into_iter().map(Line::Command);
        self.statement().into_iter().map(Line::Item).chain(commands).collect()
    }

    /// Sentences on the answers that the data can give and on those that they cannot.
    pub(super) fn statement(&self) -> Vec<String> {
        let mut sentences = vec![APART.to_owned(), self.base.words("base"), self.head.words("head"), ONCE.to_owned()];
        if let Some(few) = self.few() {
            let level = plural(few.footing.counted());
            sentences.push(format!("no verdict with fewer than {UNITS_MIN} {level} on each side: repeat the suite, each time in a process of its own, as with"));
        }
        sentences
    }

    /// Commands that lead to a verdict; none where there are enough data.
    pub(super) fn commands(&self) -> Vec<String> {
        self.few().map_or_else(Vec::new, Side::commands)
    }

    /// A side with too little to be judged by.
    fn few(&self) -> Option<&Side> {
        [&self.base, &self.head].into_iter().find(|side| !side.footing.is_enough())
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
        let thrice = |command: &str| format!("for i in 1 2 3; do {command}; done");
        let files = |ending: &str| {
            let of = |side: &str| [1, 2, 3].map(|i| format!("{side}{i}{ending}")).join(",");
            format!("duet analyze {} {}", of("base"), of("head"))
        };
        let one = |command: &str| vec![command.to_owned(), "duet analyze base.json head.json".to_owned()];
        if self.stored {
            return vec!["duet run --suite-runs 3".to_owned()];
        }
        match self.tool {
            Some(Tool::Go) => {
                let command = "for i in 1 2 3; do go test -run '^$' -bench . ./...; done > base.txt";
                vec![command.to_owned(), "duet analyze base.txt head.txt".to_owned()]
            }
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
            // benchstat keeps medians alone: what it was given is to be given here.
            Some(Tool::Benchstat) | None => vec![files("")],
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

#[cfg(test)]
mod tests {
    use super::*;

    fn side(tool: Option<Tool>, forks: usize) -> Side {
        let repetitions = vec![(Level::Fork, forks, forks), (Level::Iteration, 5, 90)];
        let footing = Footing { name: "r".into(), repetitions, units: (forks, forks) };
        Side { files: forks, footing, tool, stored: false }
    }

    #[test]
    fn every_tool_has_its_own_way_to_more_processes() {
        let check = |tool, words: &str| {
            let unpaired = Unpaired { base: side(Some(Tool::Jmh), 3), head: side(tool, 2) };
            let commands = unpaired.commands();
            assert!(commands.iter().any(|line| line.contains(words)), "{commands:?}");
            assert!(commands.iter().any(|line| line.starts_with("duet analyze base")), "{commands:?}");
        };
        check(Some(Tool::Go), "go test");
        check(Some(Tool::Jmh), "-f 5");
        check(Some(Tool::Pyperf), "--processes 10");
        check(Some(Tool::PytestBenchmark), "--benchmark-json=base$i.json");
        check(Some(Tool::GoogleBenchmark), "--benchmark_out=base$i.json");
        check(Some(Tool::Criterion), "CRITERION_HOME");
        check(Some(Tool::Hyperfine), "--runs 10");
        check(None, "base1,base2,base3");
    }

    #[test]
    fn where_there_is_enough_nothing_is_advised() {
        let unpaired = Unpaired { base: side(None, 3), head: side(None, 4) };
        assert_eq!((unpaired.commands(), unpaired.statement().len()), (Vec::new(), 4));
        assert_eq!(unpaired.lines()[1], Line::Item("base: 3 forks of 5 to 90 iterations, from 3 files".into()));
    }
}
