//! Rules that nothing was held against, in words: none is kept by silence.

use std::collections::{BTreeMap, BTreeSet};

use duetbench_core::report::BenchmarkReport;
use duetbench_core::reported::ReportedMetric;
use duetbench_core::spec::{Action, Metric};
use duetbench_core::{BenchmarkId, Report, Verdict};

use crate::render::format::{named, one_line};

/// Most names in a sentence.
const NAMES_MAX: usize = 3;

/// All of them, of a run that came to its end.
pub(crate) fn said(report: &Report) -> Vec<String> {
    if !report.complete {
        return Vec::new();
    }
    let counts = [Metric::Allocs, Metric::Bytes].into_iter().filter_map(|metric| uncounted(report, &metric));
    let without_package = report.spec.rules.without_package(found(report));
    let unmatched = unmatched(report, &without_package);
    let lacking = lacking_package(&without_package);
    lacking.into_iter().chain(unmatched).chain(counts).chain(unreported(report)).collect()
}

/// All benchmarks that were found, whether they were measured or not.
fn found(report: &Report) -> impl Iterator<Item = &BenchmarkId> {
    let measured = report.plan.benchmarks.iter().map(|planned| &planned.id);
    measured.chain(report.plan.excluded.iter().map(|one| one.id()))
}

/// Rules whose patterns fit no name, whatever else there is.
fn lacking_package(without_package: &BTreeSet<&str>) -> Option<String> {
    let patterns: Vec<String> = without_package.iter().map(|pattern| (*pattern).to_owned()).collect();
    Some(format!("names begin with the package, so that rules fit none: {}", names(&patterns)?))
}

/// Rules of which no pattern fits any name, where all benchmarks were looked for. Where one does, others may be about other suites of the
/// repository.
fn unmatched(report: &Report, without_package: &BTreeSet<&str>) -> Option<String> {
    let is_typed = report.spec.harness.commands.iter().any(|program| program.command.is_none());
    if is_typed || !report.spec.selection.is_everything() {
        return None;
    }
    let patterns = report.spec.rules.unmatched(found(report));
    let patterns: Vec<String> = patterns.difference(without_package).map(|pattern| (*pattern).to_owned()).collect();
    Some(format!("no benchmark here is called as rules say: {}", names(&patterns)?))
}

/// Benchmarks of which a rule names a count that nobody counted.
fn uncounted(report: &Report, metric: &Metric) -> Option<String> {
    let rules = &report.spec.rules;
    let count = |one: &BenchmarkReport| if *metric == Metric::Allocs { one.allocs } else { one.bytes };
    let is_meant = |one: &&BenchmarkReport| {
        let compared = one.verdict.is_comparison() && !one.verdict.is_proven();
        let gates = rules.names(&one.id, metric) && rules.action(&one.id, metric) == Action::Gate;
        compared && gates && count(one).is_none()
    };
    let lacking: Vec<String> = report.benchmarks.iter().filter(is_meant).map(|one| one.id.name.clone()).collect();
    let word = metric.word();
    Some(format!("no rule on {word} is kept for {}, whose {word} were not counted", names(&lacking)?))
}

/// Units that nothing reports, or that the candidate does not report any more.
fn unreported(report: &Report) -> impl Iterator<Item = String> {
    let is_reported = |unit: &&str| report.reported.iter().any(|one: &ReportedMetric| one.unit == **unit);
    let missing: Vec<&str> = report.spec.rules.units().into_iter().filter(|unit| !is_reported(unit)).collect();
    let missing = (!missing.is_empty()).then(|| {
        format!(
            "nothing that was measured reports `{}`, which rules name (only Go's benchmarks measured on this machine are asked)",
            missing.join("`, `")
        )
    });
    let mut gone: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for one in report.compared_units().filter(|one| one.verdict == Verdict::BaselineOnly) {
        gone.entry(&one.unit).or_default().push(one.id.name.clone());
    }
    let gone = gone
        .into_iter()
        .filter_map(|(unit, of)| Some(format!("`{}` is not reported any more by {}", one_line(unit), names(&of)?)));
    missing.into_iter().chain(gone)
}

/// The first of some names; absent where there are none.
fn names(all: &[String]) -> Option<String> {
    (!all.is_empty()).then(|| named(all, NAMES_MAX))
}
