//! All that is known in a search: the record, and the reports of its comparisons. Every line and every benchmark draws on all of them.

use duetbench_core::bisect::{self, ALPHA, Costs, Probe, Rules, Search, is_half, mean};
use duetbench_core::plan::{Excluded, PlannedBenchmark};
use duetbench_core::report::BenchmarkReport;
use duetbench_core::spec::Metric;
use duetbench_core::{BenchmarkId, Report};
use duetbench_run::source::Commit;

use crate::bisection::{Answer, Compared, Comparison, Line, Merge, Pair, Record, Regressed};
use crate::render::format::first_line;

/// The record, with the reports of its comparisons in the same order; one is absent where nothing was measured.
pub(super) struct Known {
    pub(super) record: Record,
    pub(super) reports: Vec<Option<Report>>,
}

/// A comparison of two commits by a benchmark.
pub(super) struct Direct<'a> {
    pub(super) run: Option<String>,
    pub(super) judged: Option<&'a BenchmarkReport>,
    pub(super) log_ratio: f64,
}

impl Known {
    /// A search along a line that was told everything.
    pub(super) fn search(&self, line: &Line) -> Search {
        let worth = self.threshold(&line.benchmark).ln_1p();
        let rules = Rules { alpha: ALPHA, worth, fixed_layouts: self.has_fixed_layouts(&line.benchmark) };
        let mut search = Search::new(line.commits.len() - 1, rules);
        for (compared, report) in self.record.compared.iter().zip(&self.reports) {
            let Pair { base, head } = compared.of.pair;
            let ends = self.place(line, base).zip(self.place(line, head));
            if let Some(((base, head), found)) = ends.zip(self.found(&compared.of, report.as_ref(), &line.benchmark)) {
                search.tell(Probe { base, head, found });
            }
        }
        for (place, &commit) in line.commits.iter().enumerate() {
            if self.is_skipped(commit, &line.benchmark) {
                search.skip(place);
            } else if place > 0 && self.are_same(line.commits[place - 1], commit) {
                // No others: between them a change may have come, gone and come again.
                search.tell(Probe { base: place - 1, head: place, found: bisect::Found::Identical });
            }
        }
        search
    }

    /// The smallest change of a benchmark that matters, a fraction.
    pub(super) fn threshold(&self, benchmark: &BenchmarkId) -> f64 {
        self.record.spec.thresholds().of(benchmark, &Metric::Time)
    }

    /// Whether a commit, or one with the same sources, was left out of searches by this benchmark.
    fn is_skipped(&self, commit: usize, benchmark: &BenchmarkId) -> bool {
        let by_it = |only: &Option<BenchmarkId>| only.as_ref().is_none_or(|only| only == benchmark);
        self.record.skipped.iter().any(|one| by_it(&one.benchmark) && self.are_same(one.commit, commit))
    }

    /// The place of a commit on a line, or of one with the same sources: what was compared elsewhere counts here.
    fn place(&self, line: &Line, commit: usize) -> Option<usize> {
        let by = |is: &dyn Fn(usize) -> bool| line.commits.iter().position(|&other| is(other));
        by(&|other| other == commit).or_else(|| by(&|other| self.are_same(other, commit)))
    }

    fn are_same(&self, one: usize, other: usize) -> bool {
        let commits = &self.record.commits;
        commits[one].tree == commits[other].tree
    }

    /// The last comparison of two commits, or of such with the same sources, that says something of a benchmark.
    pub(super) fn direct(&self, pair: Pair, benchmark: &BenchmarkId) -> Option<Direct<'_>> {
        let is_theirs =
            |one: &&Compared| self.are_same(one.of.pair.base, pair.base) && self.are_same(one.of.pair.head, pair.head);
        let all = self.record.compared.iter().zip(&self.reports).rev();
        let mut theirs = all.filter(|(one, _)| is_theirs(one));
        theirs.find_map(|(one, report)| {
            let found = self.found(&one.of, report.as_ref(), benchmark)?;
            let judged = report.as_ref().and_then(|report| report.benchmark(benchmark));
            let change = judged.and_then(BenchmarkReport::change).map(f64::ln_1p);
            let log_ratio = match found {
                bisect::Found::Identical => 0.0,
                bisect::Found::LogRatios(values) => change.or_else(|| mean(&values))?,
            };
            Some(Direct { run: one.of.run.clone(), judged, log_ratio })
        })
    }

    /// The first benchmark that was not searched by and that these answers do not explain.
    pub(super) fn unexplained(&self, found: &[&Answer]) -> Option<&Regressed> {
        let explained = |one: &&Regressed| {
            self.over_steps(found, &one.id).is_some_and(|log_ratio| is_half(log_ratio, one.ratio.ln()))
        };
        self.not_searched().find(|one| !explained(one))
    }

    /// Benchmarks that regressed and are not searched by.
    pub(super) fn not_searched(&self) -> impl Iterator<Item = &Regressed> {
        let searched = |id: &BenchmarkId| self.whole_lines().any(|(_, line)| line.benchmark == *id);
        self.record.regressed.iter().filter(move |one| !searched(&one.id))
    }

    /// The lines from good to bad, with their numbers.
    pub(super) fn whole_lines(&self) -> impl Iterator<Item = (usize, &Line)> {
        self.record.lines.iter().enumerate().filter(|(_, line)| line.merge.is_none())
    }

    /// Change of a benchmark over the steps of these answers at which it was measured, a log ratio; absent where there is none.
    pub(super) fn over_steps(&self, answers: &[&Answer], benchmark: &BenchmarkId) -> Option<f64> {
        let mut steps: Vec<Pair> = Vec::new();
        for step in answers.iter().flat_map(|answer| answer.innermost()) {
            let pair = Pair { base: step.parent, head: step.culprit };
            if !steps.contains(&pair) {
                steps.push(pair);
            }
        }
        steps.iter().filter_map(|&pair| Some(self.direct(pair, benchmark)?.log_ratio)).reduce(|sum, one| sum + one)
    }

    /// Costs as the comparisons so far had them.
    pub(super) fn costs(&self) -> Costs {
        let measured: Vec<&Compared> = self.record.compared.iter().filter(|one| one.pairs > 0).collect();
        let mean = |of: &dyn Fn(&Compared) -> f64| -> f64 {
            measured.iter().map(|one| of(one)).sum::<f64>() / measured.len().max(1) as f64
        };
        // The share of building is not known apart from that of listing: half of it stands for what a second visit saves.
        let aside_s = mean(&|one| (one.took_s - one.measured_s).max(0.0));
        let single = measured.iter().skip(1).map(|one| one.measured_s / one.pairs as f64).reduce(f64::min);
        let pair_s = single.unwrap_or_else(|| mean(&|one| one.measured_s / one.pairs as f64)).max(0.001);
        Costs { build_s: aside_s / 2.0, visit_s: aside_s / 2.0, pair_s }
    }

    /// Whether pairs of a benchmark are build pairs, as the first comparison had them.
    pub(super) fn by_build(&self, benchmark: &BenchmarkId) -> bool {
        self.first_planned(benchmark).is_some_and(|planned| planned.configuration.design.by_build)
    }

    /// Whether all pairs of two commits are of the same programs. A runtime that compiles lays out code anew in every process.
    fn has_fixed_layouts(&self, benchmark: &BenchmarkId) -> bool {
        !self.by_build(benchmark) && !self.first_planned(benchmark).is_some_and(|planned| planned.runtime_threads)
    }

    fn first_planned(&self, benchmark: &BenchmarkId) -> Option<&PlannedBenchmark> {
        self.reports.iter().flatten().next()?.planned(benchmark)
    }

    /// The result of a comparison for a benchmark; absent where it says nothing of it, also since the two commits have other benchmarks of
    /// this name.
    fn found(&self, of: &Comparison, report: Option<&Report>, benchmark: &BenchmarkId) -> Option<bisect::Found> {
        let Some(report) = report else {
            return (of.benchmark.as_ref() == Some(benchmark)).then_some(bisect::Found::Identical);
        };
        let is_proven = |excluded: &Excluded| {
            matches!(excluded, Excluded::Identical { .. } | Excluded::NotAffected { .. }) && excluded.id() == benchmark
        };
        if report.plan.excluded.iter().any(is_proven) {
            return Some(bisect::Found::Identical);
        }
        if report.benchmark(benchmark).is_some_and(|one| one.verdict.is_redefined()) {
            return None;
        }
        let log_ratios = self.log_ratios(report, benchmark);
        (!log_ratios.is_empty()).then_some(bisect::Found::LogRatios(log_ratios))
    }

    /// The log ratios of a benchmark's units in a run, of the number that the first comparison judged: shorter ones have too few units to
    /// tell that few slices differ, and would speak of another quantity.
    pub(super) fn log_ratios(&self, report: &Report, benchmark: &BenchmarkId) -> Vec<f64> {
        let judged = |report: &&Report| report.benchmark(benchmark).is_some_and(|one| one.estimate.is_some());
        let first = self.reports.iter().flatten().find(judged).and_then(|report| report.benchmark(benchmark));
        let as_in = first.and_then(|first| first.estimate.as_ref());
        let of = |one: &BenchmarkReport| one.unit_log_ratios(by_build(report, benchmark), as_in);
        report.benchmark(benchmark).map_or_else(Vec::new, of)
    }

    /// The number of a commit, which is kept if it is new.
    pub(super) fn number(&mut self, commit: Commit) -> usize {
        let commits = &mut self.record.commits;
        commits.iter().position(|known| known.id == commit.id).unwrap_or_else(|| {
            commits.push(commit);
            commits.len() - 1
        })
    }

    /// Numbers of the commits that a line inside a merge, and those around it, are held against.
    pub(super) fn outside(&self, merge: Merge) -> Vec<usize> {
        let around = std::iter::successors(Some(merge), |merge| self.record.lines[merge.line].merge);
        around.map(|merge| merge.parent).collect()
    }

    /// The lines that a merge brought in, as far as they are searched, with their numbers.
    pub(super) fn inside(&self, on: usize, commit: usize) -> impl Iterator<Item = (usize, &Line)> {
        let is_of = move |line: &&Line| line.merge.is_some_and(|merge| merge.line == on && merge.commit == commit);
        self.record.lines.iter().enumerate().filter(move |(_, line)| is_of(line))
    }

    /// A commit in words.
    pub(super) fn told(&self, commit: usize) -> String {
        let commit = &self.record.commits[commit];
        format!("`{}` ({})", commit.short(), first_line(&commit.subject))
    }
}

/// Units of a benchmark in a run.
pub(super) fn units(report: &Report, benchmark: &BenchmarkId) -> usize {
    report.benchmark(benchmark).map_or(0, |b| b.unit_log_ratios(by_build(report, benchmark), None).len())
}

/// Whether a benchmark's units are build pairs.
fn by_build(report: &Report, benchmark: &BenchmarkId) -> bool {
    report.planned(benchmark).is_some_and(|planned| planned.configuration.design.by_build)
}
