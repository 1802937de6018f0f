//! The result of a search, put together from all that is known.

use duetbench_core::report::BenchmarkReport;
use duetbench_core::verdict::Extent;
use duetbench_core::{BenchmarkId, Report, Verdict, bisect};

use super::known::Known;
use crate::bisection::{
    Answer, Bisection, Compared, End, Ends, Found, Inside, Line, Other, Pair, Regressed, Shown, Sought,
};

/// Answers that are neither a regression nor the absence of one.
fn of_ends(benchmarks: &[&BenchmarkReport], threshold: &dyn Fn(&BenchmarkId) -> f64) -> Ends {
    let mut ends = Ends { all: benchmarks.len(), ..Ends::default() };
    for one in benchmarks {
        match &one.verdict {
            Verdict::Inconclusive { .. } | Verdict::Slower(Extent::Open { .. }) => ends.open.push(one.id.clone()),
            Verdict::Slower(Extent::WithinTolerance) => {
                let ratio = 1.0 + one.change().unwrap_or_default();
                ends.tolerance = ends.tolerance.max(threshold(&one.id));
                ends.tolerated.push(Regressed { id: one.id.clone(), ratio });
            }
            Verdict::Failed { .. } => ends.failed.push(one.id.clone()),
            _ => {}
        }
    }
    ends
}

/// The result of what is known.
pub(super) struct Conclusion<'a> {
    pub(super) known: &'a Known,
}

impl Conclusion<'_> {
    /// The result as it is reported.
    pub(super) fn reported(&self, out_of_budget: bool) -> Bisection {
        let record = &self.known.record;
        let ends = self.known.reports.first().and_then(Option::as_ref);
        let ends = ends.filter(|_| record.regressed.is_empty()).map_or(&[][..], |report| &report.benchmarks);
        let (redefined, same): (Vec<&BenchmarkReport>, Vec<_>) = ends.iter().partition(|b| b.verdict.is_redefined());
        let detects = same.iter().filter_map(|b| Some(b.estimate?.minimal_detectable_change)).reduce(f64::max);
        let slower = redefined.iter().filter(|b| *b.verdict.of_times() == Verdict::Regression);
        let sought = self.sought();
        Bisection {
            duet_version: env!("CARGO_PKG_VERSION").into(),
            commits: record.commits.clone(),
            last: record.last,
            threshold: record.spec.decision.threshold,
            first_parent: record.first_parent,
            others: self.others(&sought),
            sought,
            compared: self.compared(),
            skipped: record.skipped.clone(),
            detects,
            redefined: slower.map(|b| b.id.name.clone()).collect(),
            ends: of_ends(&same, &|id| self.known.threshold(id)),
            out_of_budget,
            store_typed: String::new(),
        }
    }

    fn sought(&self) -> Vec<Sought> {
        let regressed = |line: &Line| self.known.record.regressed.iter().find(|one| one.id == line.benchmark);
        let of = |(at, line): (usize, &Line)| {
            let ratio = regressed(line).map_or(1.0, |one| one.ratio);
            let threshold = self.known.threshold(&line.benchmark);
            Sought { benchmark: line.benchmark.name.clone(), ratio, threshold, answer: self.answer(at) }
        };
        self.known.whole_lines().map(of).collect()
    }

    /// Benchmarks that were not searched by, with their changes over the steps.
    fn others(&self, sought: &[Sought]) -> Vec<Other> {
        let answers: Vec<&Answer> = sought.iter().map(|one| &one.answer).collect();
        let of = |one: &Regressed| Other {
            name: one.id.name.clone(),
            ratio: one.ratio,
            ratio_of_steps: self.known.over_steps(&answers, &one.id).map(f64::exp),
        };
        self.known.not_searched().map(of).collect()
    }

    fn compared(&self) -> Vec<Shown> {
        let record = &self.known.record;
        let first = record.regressed.first().map(|one| &one.id);
        let all = record.compared.iter().zip(&self.known.reports);
        let of = |(compared, report): (&Compared, &Option<Report>)| {
            let benchmark = compared.of.benchmark.as_ref().or(first);
            let ratio = report
                .as_ref()
                .zip(benchmark)
                .and_then(|(report, id)| bisect::mean(&self.known.log_ratios(report, id)));
            Shown { compared: compared.clone(), ratio: ratio.map(f64::exp) }
        };
        all.map(of).collect()
    }

    /// The answer of a line: the last one, or as far as is known.
    pub(super) fn answer(&self, at: usize) -> Answer {
        let line = &self.known.record.lines[at];
        match &line.end {
            Some(End::Told(answer)) => self.named(at, answer),
            Some(End::NotSlower) => Answer::NotSlower,
            Some(End::Unusable(why)) => Answer::Unusable(why.clone()),
            None if line.merge.is_some() && self.ratio(line).is_none() => {
                Answer::CannotTell(line.commits[1..].to_vec())
            }
            None => self.named(at, &self.known.search(line).so_far()),
        }
    }

    /// An answer of core with runs, ratios and what is inside.
    fn named(&self, at: usize, answer: &bisect::Answer) -> Answer {
        let line = &self.known.record.lines[at];
        match answer {
            bisect::Answer::Nothing => Answer::NotSlower,
            bisect::Answer::CannotTell(range) => Answer::CannotTell(line.commits[range.clone()].to_vec()),
            bisect::Answer::Steps(steps) => Answer::Steps(steps.iter().map(|step| self.found(at, step)).collect()),
        }
    }

    fn found(&self, at: usize, step: &bisect::Step) -> Found {
        let line = &self.known.record.lines[at];
        let (parent, culprit) = (line.commits[step.parent], line.commits[step.culprit]);
        let direct = self.known.direct(Pair { base: parent, head: culprit }, &line.benchmark);
        let judged = direct.as_ref().and_then(|direct| direct.judged);
        let ratio = judged.and_then(BenchmarkReport::change).map_or(step.log_ratio.exp(), |change| 1.0 + change);
        Found {
            parent,
            culprit,
            hidden: line.commits[step.parent + 1..step.culprit].to_vec(),
            ratio,
            probability: step.probability,
            run: direct.as_ref().and_then(|direct| direct.run.clone()),
            verdict: judged.map(|b| b.verdict.word()),
            inside: self.known.inside(at, culprit).map(|(inner, line)| self.inside(inner, line)).collect(),
        }
    }

    fn inside(&self, at: usize, line: &Line) -> Inside {
        Inside {
            base: line.commits[0],
            tip: *line.commits.last().unwrap_or(&line.commits[0]),
            commits: line.commits.len() - 1,
            ratio: self.ratio(line),
            answer: self.answer(at),
        }
    }

    /// Ratio of a line's last commit to its first.
    fn ratio(&self, line: &Line) -> Option<f64> {
        let pair = Pair { base: line.commits[0], head: *line.commits.last()? };
        Some(self.known.direct(pair, &line.benchmark)?.log_ratio.exp())
    }
}
