//! The order in which benchmarks are shown: changes first, grouped by package.

use duetbench_core::Verdict;
use duetbench_core::report::BenchmarkReport;
use duetbench_core::verdict::Extent;

use super::tone::Tone;

/// Benchmarks of one package.
pub(super) struct Group<'a> {
    pub(super) package: &'a str,
    pub(super) rows: Vec<&'a BenchmarkReport>,
}

/// A verdict as the forms for people show it.
struct Shown {
    /// Place in a table, the most urgent first.
    rank: u8,
    label: &'static str,
    shape: char,
    sign: &'static str,
}

fn shown(verdict: &Verdict) -> Shown {
    let (rank, label, shape, sign) = match verdict {
        Verdict::Regression => (0, "regression", '▲', "🔺"),
        Verdict::Slower(Extent::Open { .. }) => (1, "slower, size open", '△', "🔸"),
        Verdict::Slower(Extent::WithinTolerance) => (2, "slower, within tolerance", '▵', "🔸"),
        Verdict::Improvement => (3, "improvement", '▼', "🔽"),
        Verdict::Faster(Extent::Open { .. }) => (4, "faster, size open", '▽', "🔹"),
        Verdict::Faster(Extent::WithinTolerance) => (5, "faster, within tolerance", '▿', "🔹"),
        Verdict::Failed { .. } => (6, "failed", '✗', "❌"),
        Verdict::Inconclusive { .. } => (7, "inconclusive", '○', "❔"),
        Verdict::NoChange => (8, "no change", '●', ""),
        Verdict::NotAffected => (9, "not affected", '≈', ""),
        Verdict::IdenticalCode => (10, "identical code", '=', ""),
        Verdict::Redefined(_) => (11, "benchmark changed", '≠', ""),
        Verdict::BaselineOnly => (12, "only in base", '-', ""),
        Verdict::CandidateOnly => (13, "only in head", '+', ""),
    };
    Shown { rank, label, shape, sign }
}

/// Place of a verdict in a table, the most urgent first.
pub(super) fn rank(verdict: &Verdict) -> u8 {
    shown(verdict).rank
}

/// The verdict in words for people.
pub fn label(verdict: &Verdict) -> &'static str {
    shown(verdict).label
}

/// The shape of a verdict, which says what colour repeats.
pub(super) fn shape(verdict: &Verdict) -> char {
    shown(verdict).shape
}

/// The sign of a verdict where there is colour anyway: orange or red for slower, blue for faster.
pub(super) fn sign(verdict: &Verdict) -> &'static str {
    shown(verdict).sign
}

/// The weight of a verdict.
pub(super) fn tone(verdict: &Verdict) -> Tone {
    match verdict {
        Verdict::Regression | Verdict::Failed { .. } => Tone::Bad,
        Verdict::Improvement => Tone::Good,
        open if open.is_open() => Tone::Open,
        _ => Tone::Faint,
    }
}

/// Whether it is a change that is real and known to be smaller than the threshold.
pub(super) fn is_tolerated(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Slower(Extent::WithinTolerance) | Verdict::Faster(Extent::WithinTolerance))
}

/// Whether an exact count differs between the versions.
pub(super) fn allocates_differently(benchmark: &BenchmarkReport) -> bool {
    benchmark.allocs.into_iter().chain(benchmark.bytes).any(|counted| counted.changed)
}

/// Distance of the ratio from 1 as a logarithm, in either direction.
fn size_of_change(benchmark: &BenchmarkReport) -> f64 {
    benchmark.change().map_or(0.0, |change| change.ln_1p().abs())
}

/// Groups benchmarks by package. Inside a group and among the groups the most urgent verdict comes first, among changes
/// the largest, and otherwise the order of names decides.
pub(super) fn groups<'a>(benchmarks: impl Iterator<Item = &'a BenchmarkReport>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for row in most_urgent_first(benchmarks) {
        match groups.iter_mut().find(|group| group.package == row.id.package) {
            Some(group) => group.rows.push(row),
            None => groups.push(Group { package: &row.id.package, rows: vec![row] }),
        }
    }
    groups
}

/// Benchmarks in the order of their verdicts, the largest changes first, and otherwise by their names.
pub(super) fn most_urgent_first<'a>(benchmarks: impl Iterator<Item = &'a BenchmarkReport>) -> Vec<&'a BenchmarkReport> {
    let mut rows: Vec<&BenchmarkReport> = benchmarks.collect();
    rows.sort_by(|a, b| {
        let by_size = || match a.verdict.of_times().is_change() {
            true => size_of_change(b).total_cmp(&size_of_change(a)),
            false => std::cmp::Ordering::Equal,
        };
        rank(&a.verdict).cmp(&rank(&b.verdict)).then_with(by_size).then_with(|| a.id.cmp(&b.id))
    });
    rows
}
