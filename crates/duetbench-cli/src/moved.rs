//! Benchmarks that probably moved to another package between the versions: the same name, left in one and new in the other.

use std::collections::BTreeMap;

use duetbench_core::Verdict;
use duetbench_core::report::BenchmarkReport;

use crate::render::format::{benchmarks, one_line};

/// One sentence for every two packages. A name that several packages lost or got tells nothing.
pub(crate) fn said(all: &[BenchmarkReport]) -> Vec<String> {
    let (left, new) = (only(all, &Verdict::BaselineOnly), only(all, &Verdict::CandidateOnly));
    let mut moves: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (name, from) in &left {
        if let ([from], Some([to])) = (&from[..], new.get(name).map(Vec::as_slice)) {
            *moves.entry((*from, *to)).or_default() += 1;
        }
    }
    let words = |((from, to), count): ((&str, &str), usize)| {
        format!(
            "{} of `{}` in base {} in `{}` in head under the same name: perhaps moved, and not compared, since the package tells benchmarks apart",
            benchmarks(count),
            one_line(from),
            if count == 1 { "is" } else { "are" },
            one_line(to)
        )
    };
    moves.into_iter().map(words).collect()
}

/// The packages of benchmarks that only one version has, by name.
fn only<'a>(all: &'a [BenchmarkReport], verdict: &Verdict) -> BTreeMap<&'a str, Vec<&'a str>> {
    let mut packages: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for one in all.iter().filter(|one| one.verdict == *verdict) {
        packages.entry(&one.id.name).or_default().push(&one.id.package);
    }
    packages
}

#[cfg(test)]
mod tests {
    use duetbench_core::BenchmarkId;

    use super::*;

    fn only_in(verdict: &Verdict, package: &str, names: &[&str]) -> Vec<BenchmarkReport> {
        let id = |name: &&str| BenchmarkId { package: package.into(), name: (*name).to_owned() };
        let report = |id| BenchmarkReport::unmeasured(id, verdict.clone());
        names.iter().map(id).map(report).collect()
    }

    #[test]
    fn what_left_one_package_and_is_new_in_another_is_said_to_have_moved() {
        let (base, head) = (&Verdict::BaselineOnly, &Verdict::CandidateOnly);
        let said = |groups: &[Vec<BenchmarkReport>]| said(&groups.concat());
        let moved = said(&[only_in(base, "v2", &["A", "B", "Gone"]), only_in(head, "v2/unstable", &["A", "B", "New"])]);
        assert_eq!(
            moved,
            [
                "2 benchmarks of `v2` in base are in `v2/unstable` in head under the same name: perhaps moved, and not compared, since the package tells benchmarks apart"
            ]
        );
        // Another name, another verdict, or a name that two packages have tell nothing.
        assert!(said(&[only_in(base, "v2", &["A"]), only_in(head, "v3", &["B"])]).is_empty());
        assert!(said(&[only_in(base, "v2", &["A"]), only_in(&Verdict::NoChange, "v3", &["A"])]).is_empty());
        assert!(
            said(&[only_in(base, "v2", &["A"]), only_in(head, "v3", &["A"]), only_in(head, "v4", &["A"])]).is_empty()
        );
    }
}
