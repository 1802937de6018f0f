//! Searches for the commit that made a benchmark slower: as they are kept in the store, and as they are reported.

use std::collections::BTreeMap;
use std::path::PathBuf;

use duetbench_core::spec::Effort;
use duetbench_core::{BenchmarkId, Spec};
pub use duetbench_run::source::Commit;
use serde::{Deserialize, Serialize};

/// Version of the record; one of another version is begun anew.
pub const RECORD_VERSION: u32 = 1;

/// A search, as it is kept: enough to go on with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Version of this form.
    pub version: u32,
    /// The directory in which it was asked for.
    pub cwd: PathBuf,
    /// The request.
    pub spec: Spec,
    /// The commits from the good one to the bad one.
    pub commits: Vec<Commit>,
    /// The benchmark that is searched by, once the end points were compared.
    pub benchmark: Option<BenchmarkId>,
    /// Changes of all benchmarks that regressed between the end points, as ratios.
    pub regressed: Vec<Regressed>,
    /// Comparisons that came to their end, in order.
    pub compared: Vec<Compared>,
    /// A comparison that did not.
    pub open: Option<Comparison>,
    /// Commits that were left out, by their number, with the reason.
    pub skipped: BTreeMap<usize, String>,
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

/// A comparison of two commits in a run, by their numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The earlier commit.
    pub base: usize,
    /// The later one.
    pub head: usize,
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

impl Record {
    /// A search that has not begun.
    #[must_use]
    pub fn new(cwd: PathBuf, spec: Spec, commits: Vec<Commit>) -> Record {
        Record {
            version: RECORD_VERSION,
            cwd,
            spec,
            commits,
            benchmark: None,
            regressed: Vec::new(),
            compared: Vec::new(),
            open: None,
            skipped: BTreeMap::new(),
            complete: false,
        }
    }

    /// Whether another record asks for the same: all that decides what is measured and judged is equal.
    #[must_use]
    pub fn asks_for_the_same(&self, other: &Record) -> bool {
        let unlimited = |spec: &Spec| Spec { seed: 0, effort: Effort { budget: None, ..spec.effort }, ..spec.clone() };
        let ends = |record: &Record| record.commits.iter().map(|commit| commit.id.clone()).collect::<Vec<_>>();
        self.version == other.version
            && self.cwd == other.cwd
            && ends(self) == ends(other)
            && unlimited(&self.spec) == unlimited(&other.spec)
    }
}

/// A search with its result, as it is reported.
#[derive(Debug, Clone, PartialEq)]
pub struct Bisection {
    /// Version of duet.
    pub duet_version: String,
    /// The commits from the good one to the bad one.
    pub commits: Vec<Commit>,
    /// Smallest change that is worth a search, a fraction.
    pub threshold: f64,
    /// The benchmark by which was searched; absent where none regressed.
    pub benchmark: Option<String>,
    /// Ratio of the bad commit to the good one.
    pub ratio: Option<f64>,
    /// The answer.
    pub answer: Answer,
    /// Other benchmarks that regressed between the end points.
    pub others: Vec<Other>,
    /// All comparisons, in order.
    pub compared: Vec<Shown>,
    /// Commits that were left out, with the reason.
    pub skipped: BTreeMap<usize, String>,
    /// Largest of the minimal detectable changes of the end points' comparison, a fraction, where nothing regressed.
    pub detects: Option<f64>,
    /// Whether the budget ended it.
    pub out_of_budget: bool,
}

/// The answer of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// These steps make the change.
    Steps(Vec<Found>),
    /// No benchmark is slower in the bad commit.
    NothingSlower,
    /// The change between the end points was gone when more was measured.
    Gone,
    /// It came with one of the commits from the first to the last of these numbers; more of the same would not tell, or time was over.
    CannotTell {
        /// The first of them.
        first: usize,
        /// The last of them.
        last: usize,
    },
}

/// A step that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Number of the last commit before it.
    pub parent: usize,
    /// Number of the first commit after it; those between cannot be built.
    pub culprit: usize,
    /// Ratio of culprit to parent.
    pub ratio: f64,
    /// Probability that a step lies there.
    pub probability: f64,
    /// The run that compared the two.
    pub run: Option<String>,
    /// The run's verdict.
    pub verdict: Option<&'static str>,
}

/// Another benchmark that regressed between the end points.
#[derive(Debug, Clone, PartialEq)]
pub struct Other {
    /// Its name.
    pub name: String,
    /// Ratio of the bad commit to the good one.
    pub ratio: f64,
    /// Its ratio over all steps found; absent where it was not measured there.
    pub ratio_of_steps: Option<f64>,
}

impl Other {
    /// Whether the steps make at least half of its change.
    #[must_use]
    pub fn is_explained(&self) -> Option<bool> {
        self.ratio_of_steps.map(|steps| steps.ln() / self.ratio.ln() >= 0.5)
    }
}

/// A comparison, as it is reported.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// The comparison.
    pub compared: Compared,
    /// Ratio of the later commit to the earlier one; absent where both run the same code.
    pub ratio: Option<f64>,
}
