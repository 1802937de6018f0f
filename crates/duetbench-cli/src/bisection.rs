//! Searches for the commit that made a benchmark slower: as they are kept in the store, and as they are reported.

use std::path::PathBuf;
use std::time::Duration;

use duetbench_core::spec::Effort;
use duetbench_core::{BenchmarkId, Spec, bisect};
pub use duetbench_run::source::Commit;
use serde::{Deserialize, Serialize};

/// Version of the record; one of another version is begun anew.
pub const RECORD_VERSION: u32 = 2;

/// A search, as it is kept: enough to go on with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Version of this form.
    pub version: u32,
    /// The directory in which it was asked for.
    pub cwd: PathBuf,
    /// The request.
    pub spec: Spec,
    /// The commits from the good one to the bad one, and behind them those inside merges that were searched.
    pub commits: Vec<Commit>,
    /// Number of the bad one.
    pub last: usize,
    /// Whether merges are not searched inside.
    pub first_parent: bool,
    /// Changes of all benchmarks that regressed between the end points, as ratios, the largest first; empty before these were compared.
    pub regressed: Vec<Regressed>,
    /// Lines of commits that are searched, in the order in which they are.
    pub lines: Vec<Line>,
    /// Comparisons that came to their end, in order.
    pub compared: Vec<Compared>,
    /// Number of comparisons that were dropped, since their runs were removed.
    #[serde(default)]
    pub dropped: usize,
    /// A comparison that did not.
    pub open: Option<Comparison>,
    /// Commits that were left out.
    pub skipped: Vec<Skipped>,
    /// Whether the search came to its end.
    pub complete: bool,
}

/// A benchmark that regressed between the end points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Regressed {
    /// The benchmark.
    pub id: BenchmarkId,
    /// Ratio of the bad commit to the good one.
    pub ratio: f64,
}

/// A line of commits that is searched by a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Numbers of the commits, that which all others are compared with first.
    pub commits: Vec<usize>,
    /// The benchmark.
    pub benchmark: BenchmarkId,
    /// The merge that brought the line in; absent from good to bad.
    pub merge: Option<Merge>,
    /// The answer, once there is one.
    pub end: Option<End>,
}

/// A merge that is searched inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merge {
    /// Number of the line on which it was found.
    pub line: usize,
    /// Number of the commit before it on that line.
    pub parent: usize,
    /// Its own number.
    pub commit: usize,
}

/// The answer of a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The search's own.
    Told(bisect::Answer),
    /// Its last commit makes less than half of what the merge makes.
    NotSlower,
    /// Its ends cannot be compared, for this reason.
    Unusable(String),
}

/// Two commits, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// The earlier one.
    pub base: usize,
    /// The later one.
    pub head: usize,
}

/// A comparison of two commits in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The commits.
    #[serde(flatten)]
    pub pair: Pair,
    /// The benchmark for which it was made; absent before it was known which ones regressed.
    pub benchmark: Option<BenchmarkId>,
    /// The run; absent where nothing was measured, since both are proven to run the same code.
    pub run: Option<String>,
}

/// A comparison that came to its end, with its cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// The commits.
    #[serde(flatten)]
    pub of: Comparison,
    /// Build pairs, or fork pairs of a harness whose programs are not linked again.
    pub pairs: usize,
    /// Wall time from the first build to the last pair, seconds.
    pub took_s: f64,
    /// Part of it that was spent measuring, seconds.
    pub measured_s: f64,
}

/// A commit that was left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Skipped {
    /// Its number.
    pub commit: usize,
    /// The only benchmark that it cannot be compared by; absent where it is all of them.
    pub benchmark: Option<BenchmarkId>,
    /// The reason, in words.
    pub why: String,
}

impl Record {
    /// A search that has not begun.
    pub fn new(cwd: PathBuf, spec: Spec, commits: Vec<Commit>) -> Record {
        Record {
            version: RECORD_VERSION,
            cwd,
            spec,
            last: commits.len() - 1,
            commits,
            first_parent: false,
            regressed: Vec::new(),
            lines: Vec::new(),
            compared: Vec::new(),
            dropped: 0,
            open: None,
            skipped: Vec::new(),
            complete: false,
        }
    }

    /// Begins another sitting, with a budget of its own where there is one. Commits that were left out whatever the benchmark are
    /// tried again: it may have been a full disk, or a proxy that did not answer. So are the lines that ended without them, which takes
    /// no time where nothing else comes of it.
    pub fn go_on(&mut self, budget: Option<Duration>) {
        self.spec.effort.budget = budget;
        // The end points were compared, and it stayed open whether anything is slower.
        if self.regressed.is_empty() {
            self.dropped += self.compared.len();
            self.compared.clear();
        }
        let before = self.skipped.len();
        self.skipped.retain(|skipped| skipped.benchmark.is_some());
        if self.skipped.len() < before {
            self.lines.clear();
        }
    }

    /// Drops the comparisons whose runs are not kept any more, and gives these runs. Lines are searched anew with those that are
    /// left, which takes time only where one is missing; without that of the end points nothing is left.
    pub fn drop_removed(&mut self, is_kept: &dyn Fn(&str) -> bool) -> Vec<String> {
        let gone = |of: &Comparison| of.run.clone().filter(|run| !is_kept(run));
        let mut removed: Vec<String> = self.compared.iter().filter_map(|compared| gone(&compared.of)).collect();
        if !removed.is_empty() {
            let without_ends = self.compared.first().is_some_and(|ends| gone(&ends.of).is_some());
            let before = self.compared.len();
            self.compared.retain(|compared| !without_ends && gone(&compared.of).is_none());
            self.dropped += before - self.compared.len();
            self.lines.clear();
            if without_ends {
                self.regressed.clear();
            }
        }
        if let Some(run) = self.open.as_ref().and_then(gone) {
            self.open = None;
            removed.push(run);
        }
        removed
    }

    /// Whether another record asks for the same: all that decides what is measured and judged is equal.
    pub fn asks_for_the_same(&self, other: &Record) -> bool {
        let unlimited = |spec: &Spec| Spec { seed: 0, effort: Effort { budget: None, ..spec.effort }, ..spec.clone() };
        let ends = |record: &Record| -> Vec<String> {
            record.commits.iter().take(record.last + 1).map(|commit| commit.id.clone()).collect()
        };
        self.version == other.version
            && self.cwd == other.cwd
            && self.first_parent == other.first_parent
            && ends(self) == ends(other)
            && unlimited(&self.spec) == unlimited(&other.spec)
    }
}

/// A search with its result, as it is reported.
#[derive(Debug, Clone, PartialEq)]
pub struct Bisection {
    /// Version of duet.
    pub duet_version: String,
    /// The commits from the good one to the bad one, and behind them those inside merges that were searched.
    pub commits: Vec<Commit>,
    /// Number of the bad one.
    pub last: usize,
    /// Smallest change that is worth a search where no rule says another, a fraction.
    pub threshold: f64,
    /// Whether merges were not to be searched inside.
    pub first_parent: bool,
    /// Answers by benchmark: the one that slowed down most, and then those that what was found before does not explain; empty where none
    /// regressed.
    pub sought: Vec<Sought>,
    /// Benchmarks that regressed between the end points and were not searched by.
    pub others: Vec<Other>,
    /// All comparisons, in order.
    pub compared: Vec<Shown>,
    /// Commits that were left out.
    pub skipped: Vec<Skipped>,
    /// Largest of the minimal detectable changes of the end points' comparison, a fraction, where nothing regressed.
    pub detects: Option<f64>,
    /// Benchmarks that are slower where nothing else is, but are others in the bad commit, so that their times do not tell of the code.
    pub redefined: Vec<String>,
    /// Other answers about the end points, where nothing regressed.
    pub ends: Ends,
    /// Whether the budget ended it.
    pub out_of_budget: bool,
    /// The store, as an option where it was typed.
    pub store_typed: String,
}

/// Benchmarks that did not regress between the end points, and are not shown to be no slower either.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ends {
    /// Benchmarks that may be slower.
    pub open: Vec<BenchmarkId>,
    /// Benchmarks that are slower by no more than the threshold.
    pub tolerated: Vec<Regressed>,
    /// The largest of these thresholds, a fraction.
    pub tolerance: f64,
    /// Benchmarks that failed.
    pub failed: Vec<BenchmarkId>,
    /// Number of all that were to be compared.
    pub all: usize,
}

impl Ends {
    /// Whether nothing could be compared, since all failed.
    pub fn are_unusable(&self) -> bool {
        self.all > 0 && self.failed.len() == self.all
    }
}

/// A benchmark that was searched by.
#[derive(Debug, Clone, PartialEq)]
pub struct Sought {
    /// Its name.
    pub benchmark: String,
    /// Ratio of the bad commit to the good one.
    pub ratio: f64,
    /// Smallest change of it that matters, a fraction.
    pub threshold: f64,
    /// The answer.
    pub answer: Answer,
}

/// The answer of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// These steps make the change.
    Steps(Vec<Found>),
    /// The change is not there: it was gone when more was measured, or a merge makes it without what it brought in.
    NotSlower,
    /// It came with one of these commits, by their numbers; more of the same would not tell, or time was over.
    CannotTell(Vec<usize>),
    /// The ends of the line cannot be compared, for this reason.
    Unusable(String),
}

/// A step that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Number of the last commit before it.
    pub parent: usize,
    /// Number of the first commit after it.
    pub culprit: usize,
    /// Numbers of those between, which cannot be compared.
    pub hidden: Vec<usize>,
    /// Ratio of culprit to parent.
    pub ratio: f64,
    /// Probability that a step lies there.
    pub probability: f64,
    /// The run that compared the two.
    pub run: Option<String>,
    /// The run's verdict.
    pub verdict: Option<&'static str>,
    /// The lines that it merges, where it was searched inside.
    pub inside: Vec<Inside>,
}

/// A line that a merge brought in.
#[derive(Debug, Clone, PartialEq)]
pub struct Inside {
    /// Number of the commit that its others were compared with.
    pub base: usize,
    /// Number of its last commit.
    pub tip: usize,
    /// Number of commits behind the first.
    pub commits: usize,
    /// Ratio of its last commit to its first; absent where these were not compared.
    pub ratio: Option<f64>,
    /// The answer.
    pub answer: Answer,
}

impl Answer {
    /// The steps, those inside merges in place of the merges; none where there is another answer.
    pub fn innermost(&self) -> Vec<&Found> {
        let Answer::Steps(steps) = self else { return Vec::new() };
        let of_step = |step| {
            let inside = Found::inner(step);
            if inside.is_empty() { vec![step] } else { inside }
        };
        steps.iter().flat_map(of_step).collect()
    }
}

impl Found {
    /// The steps inside, where it is a merge and they make it.
    pub fn inner(&self) -> Vec<&Found> {
        self.inside.iter().flat_map(|inside| inside.answer.innermost()).collect()
    }
}

/// Another benchmark that regressed between the end points.
#[derive(Debug, Clone, PartialEq)]
pub struct Other {
    /// Its name.
    pub name: String,
    /// Ratio of the bad commit to the good one.
    pub ratio: f64,
    /// Its ratio over all steps found at which it was measured; absent where it was at none.
    pub ratio_of_steps: Option<f64>,
}

impl Other {
    /// Whether the steps make at least half of its change.
    pub fn is_explained(&self) -> Option<bool> {
        self.ratio_of_steps.map(|steps| bisect::is_half(steps.ln(), self.ratio.ln()))
    }
}

/// A comparison, as it is reported.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// The comparison.
    pub compared: Compared,
    /// Ratio of the later commit to the earlier one by the benchmark for which it was made; absent where both run the same code.
    pub ratio: Option<f64>,
}
