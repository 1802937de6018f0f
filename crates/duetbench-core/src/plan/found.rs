//! Benchmarks as they are found in both versions, and those of them that can be compared.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Style;
use crate::sample::{BenchmarkId, Role};
use crate::spec::Filter;

/// One benchmark as it was found when a version's benchmarks were listed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Discovered {
    /// The benchmark.
    pub id: BenchmarkId,
    /// The style in which it can be sliced.
    pub style: Style,
    /// Time of its first invocation, nanoseconds.
    pub first_ns: u64,
    /// Threads that it runs on by its own configuration; 1 where the harness has no such thing.
    pub threads: u32,
    /// Its runtime works beside it on threads of its own, as a JVM compiles and collects: it starts slowly, and lays out code anew in every
    /// process.
    pub runtime_threads: bool,
    /// Its harness calls it by its package too, so that a selection may do so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub qualified: bool,
    /// Set when it failed while being listed, in its own words.
    pub failure: Option<String>,
}

impl Discovered {
    /// A benchmark with the time of its first invocation in nanoseconds, or its failure in its own words; on one thread, and without a
    /// runtime beside it.
    pub fn of(id: BenchmarkId, style: Style, first: Result<u64, String>) -> Discovered {
        let (first_ns, failure) = first.map_or_else(|words| (0, Some(words)), |ns| (ns, None));
        Discovered { id, style, first_ns, threads: 1, runtime_threads: false, qualified: false, failure }
    }

    /// Whether it takes part.
    pub fn is_kept_by(&self, filter: &Filter) -> bool {
        if self.qualified { filter.keeps_qualified(&self.id) } else { filter.keeps(&self.id.name) }
    }
}

/// The benchmarks of both versions, filtered, in any order.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    /// The baseline's benchmarks.
    pub baseline: &'a [Discovered],
    /// The candidate's benchmarks.
    pub candidate: &'a [Discovered],
    /// Packages that are proven to run the same code in both.
    pub identical: &'a BTreeSet<String>,
    /// Benchmarks that are proven to reach the same code in both; cases of a benchmark go by its name.
    pub not_affected: &'a BTreeSet<BenchmarkId>,
    /// Packages whose build pairs get random layouts, whatever others get.
    pub random: &'a BTreeSet<String>,
}

static NO_PACKAGES: BTreeSet<String> = BTreeSet::new();
static NO_BENCHMARKS: BTreeSet<BenchmarkId> = BTreeSet::new();

impl<'a> Found<'a> {
    /// The benchmarks of both versions, of which nothing is proven, and whose packages all get the same layouts.
    pub fn of(baseline: &'a [Discovered], candidate: &'a [Discovered]) -> Found<'a> {
        Found { baseline, candidate, identical: &NO_PACKAGES, not_affected: &NO_BENCHMARKS, random: &NO_PACKAGES }
    }
}

/// A benchmark that will not be compared, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Excluded {
    /// Found in one version only.
    OnlyIn(BenchmarkId, Role),
    /// Failed while it was listed.
    Failed(BenchmarkId, Role, String),
    /// Runs the same code in both versions, which was proven.
    Identical {
        /// The benchmark.
        id: BenchmarkId,
        /// Wall time that measuring it would have taken, nanoseconds.
        saved_ns: u64,
    },
    /// Its program differs, and nothing of what it can reach does, which was proven.
    NotAffected {
        /// The benchmark.
        id: BenchmarkId,
        /// Wall time that measuring it would have taken, nanoseconds.
        saved_ns: u64,
    },
}

impl Excluded {
    /// The benchmark.
    pub fn id(&self) -> &BenchmarkId {
        match self {
            Excluded::OnlyIn(id, _) | Excluded::Failed(id, ..) => id,
            Excluded::Identical { id, .. } | Excluded::NotAffected { id, .. } => id,
        }
    }

    /// Wall time that is saved where it is proven that no change can show, nanoseconds.
    pub fn saved_ns(&self) -> Option<u64> {
        match self {
            Excluded::Identical { saved_ns, .. } | Excluded::NotAffected { saved_ns, .. } => Some(*saved_ns),
            Excluded::OnlyIn(..) | Excluded::Failed(..) => None,
        }
    }
}

/// A benchmark found in both versions.
pub(super) struct Common {
    pub(super) id: BenchmarkId,
    pub(super) style: Style,
    pub(super) first_ns: u64,
    pub(super) threads: u32,
    pub(super) runtime_threads: bool,
}

/// Benchmarks of both versions, and those that cannot be compared.
pub(super) struct Joined {
    pub(super) common: Vec<Common>,
    /// In name order.
    pub(super) excluded: Vec<Excluded>,
}

/// Joins what was found in both versions.
pub(super) fn join(found: &Found<'_>) -> Joined {
    let sorted = |list: &[Discovered]| list.iter().map(|d| (d.id.clone(), d.clone())).collect::<BTreeMap<_, _>>();
    let (baseline, mut candidate) = (sorted(found.baseline), sorted(found.candidate));
    let (mut common, mut excluded) = (Vec::new(), Vec::new());
    for (id, b) in baseline {
        match (b.failure, candidate.remove(&id)) {
            (Some(words), _) => excluded.push(Excluded::Failed(id, Role::Baseline, words)),
            (None, None) => excluded.push(Excluded::OnlyIn(id, Role::Baseline)),
            (None, Some(c)) => match c.failure {
                Some(words) => excluded.push(Excluded::Failed(id, Role::Candidate, words)),
                None => common.push(Common {
                    id,
                    style: b.style.max(c.style),
                    first_ns: b.first_ns.max(c.first_ns),
                    threads: b.threads.max(c.threads),
                    runtime_threads: b.runtime_threads || c.runtime_threads,
                }),
            },
        }
    }
    excluded.extend(candidate.into_iter().map(|(id, c)| match c.failure {
        Some(words) => Excluded::Failed(id, Role::Candidate, words),
        None => Excluded::OnlyIn(id, Role::Candidate),
    }));
    excluded.sort_by(|a, b| a.id().cmp(b.id()));
    Joined { common, excluded }
}
