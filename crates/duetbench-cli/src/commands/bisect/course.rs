//! The course of a search: it asks core where to measure next on each line, and keeps every comparison.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use duetbench_core::bisect::{self, Costs, Next, Question, Search, is_half};
use duetbench_core::report::BenchmarkReport;
use duetbench_core::spec::{Effort, Selection};
use duetbench_core::{BenchmarkId, Spec, Verdict};
use duetbench_run::RunError;
use duetbench_run::source::merged;
use duetbench_run::store::{BisectionId, RunId, Store};

use super::conclusion::Conclusion;
use super::known::{Known, units};
use super::pairs_of;
use super::probe::{Comparing, Outcome, Unusable, pattern};
use crate::assemble;
use crate::bisection::{Answer, Bisection, Compared, Comparison, End, Line, Merge, Pair, Record, Regressed, Skipped};
use crate::commands::Context;
use crate::failure::{Failure, code};
use crate::render;
use crate::render::format::{change, duration, failure_in_one_line, many};
use crate::session::{same_machine, tell_interrupted};

/// Share of the budget that a comparison by all benchmarks may take.
const ENDS_SHARE: u32 = 4;
/// Share that it gets where less is left, so that it has an answer.
const LEAST_SHARE: u32 = 32;

/// A search on its way.
pub(super) struct Course<'a> {
    context: &'a Context,
    store: &'a mut Store,
    id: BisectionId,
    known: Known,
    /// Time that this sitting spent measuring, seconds.
    measured_s: f64,
}

impl<'a> Course<'a> {
    pub(super) fn new(context: &'a Context, store: &'a mut Store, id: BisectionId, record: Record) -> Course<'a> {
        Course { context, store, id, known: Known { record, reports: Vec::new() }, measured_s: 0.0 }
    }

    /// Searches to the end, and reports it; gives the exit code.
    pub(super) fn carry_out(mut self) -> Result<u8, Failure> {
        self.drop_removed()?;
        for compared in &self.known.record.compared {
            let report = match &compared.of.run {
                Some(run) => Some(assemble::report(self.store.load(run)?.comparison()?)),
                None => None,
            };
            if let Some(report) = &report {
                same_machine(&report.environment)?;
            }
            self.known.reports.push(report);
        }
        match self.searched() {
            Err(Failure::Run(RunError::Interrupted)) => {
                tell_interrupted(self.context, "bisect --resume");
                return Ok(code::INTERRUPTED);
            }
            other => other?,
        }
        let store_typed = self.context.settings.db_typed();
        let mut bisection = Bisection { store_typed, ..Conclusion { known: &self.known }.reported(self.is_over()) };
        // A longer budget can go on with what is open, and another sitting with what could not be built.
        let record = &mut self.known.record;
        let is_left_out = record.skipped.iter().any(|skipped| skipped.benchmark.is_none());
        let ends_open = !bisection.ends.open.is_empty() && record.spec.effort.budget.is_some();
        record.complete = !is_left_out && !ends_open && record.lines.iter().all(|line| line.end.is_some());
        bisection.out_of_budget &= !record.complete;
        self.keep()?;
        self.context.printer.document(&render::bisect::document(&bisection))?;
        Ok(exit_code(&bisection))
    }

    /// Drops comparisons whose runs the user has removed.
    fn drop_removed(&mut self) -> Result<(), Failure> {
        let kept: Vec<String> = self.store.runs()?.into_iter().map(|run| run.name).collect();
        for run in self.known.record.drop_removed(&|run| kept.iter().any(|name| name == run)) {
            let note = format!("run `{run}` was removed: its commits are compared again where that is needed");
            self.context.printer.note(&note);
        }
        Ok(())
    }

    fn keep(&mut self) -> Result<(), Failure> {
        Ok(self.store.keep_bisection(self.id, &self.known.record)?)
    }

    /// Searches one line after the other: from good to bad, inside the merges found there, and from good to bad by the next benchmark.
    fn searched(&mut self) -> Result<(), Failure> {
        if self.known.record.regressed.is_empty() && !self.ends_differ()? {
            return Ok(());
        }
        loop {
            let open = self.known.record.lines.iter().position(|line| line.end.is_none());
            let Some(at) = open.or_else(|| self.next_benchmark()) else { return Ok(()) };
            let line = self.known.record.lines[at].clone();
            let Some(end) = self.end_of(&line)? else { return Ok(()) };
            self.judge_others(&line, &end)?;
            self.known.record.lines[at].end = Some(end);
            self.go_inside(at)?;
            self.keep()?;
        }
    }

    /// Whether the budget is used up. It is one of measuring, as that of a comparison is.
    fn is_over(&self) -> bool {
        self.known.record.spec.effort.budget.is_some_and(|budget| self.measured_s >= budget.as_secs_f64())
    }

    /// Pairs that what is left of the budget pays for.
    fn affordable(&self, costs: &Costs) -> usize {
        let budget = self.known.record.spec.effort.budget;
        budget.map_or(usize::MAX, |budget| ((budget.as_secs_f64() - self.measured_s) / costs.pair_s) as usize)
    }

    /// Compares the end points; whether a benchmark is slower in the bad commit.
    fn ends_differ(&mut self) -> Result<bool, Failure> {
        let last = self.known.record.last;
        let between = many(last, "commit", "commits");
        let [good, bad] = [0, last].map(|at| self.known.told(at));
        self.context.printer.note(&format!("{between} between {good} and {bad}; comparing these two first"));
        let spec = self.ordinary(self.known.record.spec.selection.clone(), false);
        if let Some(unusable) = self.compare(Pair { base: 0, head: last }, None, spec)? {
            return Err(self.unusable_ends(last, &unusable));
        }
        let Some(report) = self.known.reports.first().and_then(Option::as_ref) else { return Ok(false) };
        let is_slower = |b: &&BenchmarkReport| matches!(b.verdict, Verdict::Regression);
        let of = |b: &BenchmarkReport| Some(Regressed { id: b.id.clone(), ratio: 1.0 + b.change()? });
        let mut regressed: Vec<Regressed> = report.benchmarks.iter().filter(is_slower).filter_map(of).collect();
        regressed.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
        self.known.record.regressed = regressed;
        self.keep()?;
        Ok(!self.known.record.regressed.is_empty())
    }

    /// Begins with the next benchmark that nothing found so far explains; the number of its line.
    fn next_benchmark(&mut self) -> Option<usize> {
        let answers: Vec<Answer> = {
            let conclusion = Conclusion { known: &self.known };
            self.known.whole_lines().map(|(at, _)| conclusion.answer(at)).collect()
        };
        let next = self.known.unexplained(&answers.iter().collect::<Vec<_>>())?.clone();
        let (name, is) = (&next.id.name, change(next.ratio));
        self.context.printer.note(&if answers.is_empty() {
            format!("{name} is {is}")
        } else {
            format!("that does not explain {name}, which is {is}: searching on by it")
        });
        let commits = (0..=self.known.record.last).collect();
        self.known.record.lines.push(Line { commits, benchmark: next.id, merge: None, end: None });
        Some(self.known.record.lines.len() - 1)
    }

    /// The answer of a line; absent where the budget is used up before.
    fn end_of(&mut self, line: &Line) -> Result<Option<End>, Failure> {
        if let Some(merge) = line.merge {
            let Some(differs) = self.ends_differ_inside(line, merge)? else { return Ok(None) };
            if let Some(end) = differs {
                return Ok(Some(end));
            }
        }
        loop {
            let search = self.known.search(line);
            let costs = self.known.costs();
            let (question, spec) = match search.next(&costs) {
                Next::Done(answer) => return Ok(Some(End::Told(answer))),
                _ if self.is_over() => {
                    let so_far = search.so_far();
                    return Ok(matches!(so_far, bisect::Answer::Steps(_)).then_some(End::Told(so_far)));
                }
                Next::Measure(question) => {
                    let question = Question { pairs: question.pairs.min(self.affordable(&costs)), ..question };
                    self.announce(line, question, &left(&search, &costs));
                    (question, self.of_pairs(question, &line.benchmark))
                }
                Next::Confirm(question) => {
                    let [parent, culprit] = [question.base, question.head].map(|at| self.known.told(line.commits[at]));
                    self.context.printer.note(&format!("comparing {culprit} with its parent {parent}"));
                    (question, self.ordinary(self.of_regressed(), true))
                }
            };
            let pair = Pair { base: line.commits[question.base], head: line.commits[question.head] };
            let Some(unusable) = self.compare(pair, Some(&line.benchmark), spec)? else { continue };
            let is_end = question.head + 1 == line.commits.len();
            if !is_end {
                self.leave_out(pair.head, &unusable, &line.benchmark)?;
            } else if self.known.record.lines.len() == 1 {
                return Err(self.unusable_ends(pair.head, &unusable));
            } else {
                // The answers of other lines are told all the same.
                return Ok(Some(End::Unusable(unusable.why)));
            }
        }
    }

    /// Whether the line inside a merge is slower by itself: nothing where it is, else its answer; absent where the budget is used up before.
    #[expect(clippy::option_option, reason = "no answer yet is not the end of the budget")]
    fn ends_differ_inside(&mut self, line: &Line, merge: Merge) -> Result<Option<Option<End>>, Failure> {
        let pair = Pair { base: line.commits[0], head: line.commits[line.commits.len() - 1] };
        if self.known.direct(pair, &line.benchmark).is_none() {
            if self.is_over() {
                return Ok(None);
            }
            let [merged, base, tip] = [merge.commit, pair.base, pair.head].map(|at| self.known.told(at));
            let inside = many(line.commits.len() - 1, "commit", "commits");
            self.context
                .printer
                .note(&format!("{merged} merges {inside}; comparing the last, {tip}, with {base}, where they begin"));
            let spec = self.ordinary(self.of_regressed(), false);
            if let Some(unusable) = self.compare(pair, Some(&line.benchmark), spec)? {
                return Ok(Some(Some(End::Unusable(unusable.why))));
            }
        }
        let of = |pair| self.known.direct(pair, &line.benchmark).map_or(0.0, |direct| direct.log_ratio);
        let whole = of(Pair { base: merge.parent, head: merge.commit });
        Ok(Some((!is_half(of(pair), whole)).then_some(End::NotSlower)))
    }

    /// Compares the commits of each step by all benchmarks that regressed, where that was not done to find it.
    fn judge_others(&mut self, line: &Line, end: &End) -> Result<(), Failure> {
        let End::Told(bisect::Answer::Steps(steps)) = end else { return Ok(()) };
        for step in steps {
            let pair = Pair { base: line.commits[step.parent], head: line.commits[step.culprit] };
            let is_open = self.known.not_searched().any(|one| self.known.direct(pair, &one.id).is_none());
            if is_open && !self.is_over() {
                let [parent, culprit] = [pair.base, pair.head].map(|at| self.known.told(at));
                let text = format!("comparing {culprit} with its parent {parent} by all benchmarks that are slower");
                self.context.printer.note(&text);
                self.compare(pair, Some(&line.benchmark), self.ordinary(self.of_regressed(), true))?;
            }
        }
        Ok(())
    }

    /// Adds the lines that merges among the steps of a line brought in, where they make it slower.
    fn go_inside(&mut self, at: usize) -> Result<(), Failure> {
        let line = self.known.record.lines[at].clone();
        let Some(End::Told(bisect::Answer::Steps(steps))) = &line.end else { return Ok(()) };
        if self.known.record.first_parent {
            return Ok(());
        }
        for step in steps.iter().filter(|step| step.culprit - step.parent == 1 && step.log_ratio > 0.0) {
            let merge = Merge { line: at, parent: line.commits[step.parent], commit: line.commits[step.culprit] };
            let commits = &self.known.record.commits;
            let outside: Vec<String> =
                self.known.outside(merge).into_iter().map(|commit| commits[commit].id.clone()).collect();
            let parents = commits[merge.commit].parents.clone();
            for parent in parents.iter().filter(|parent| **parent != outside[0] && parents.len() > 1) {
                let known: Vec<&str> = outside.iter().map(String::as_str).collect();
                let brought = merged(parent, &known, &self.known.record.cwd)?;
                let commits: Vec<usize> = brought.into_iter().map(|commit| self.known.number(commit)).collect();
                if !commits.is_empty() {
                    let benchmark = line.benchmark.clone();
                    self.known.record.lines.push(Line { commits, benchmark, merge: Some(merge), end: None });
                }
            }
        }
        Ok(())
    }

    /// The request of an ordinary comparison.
    fn ordinary(&self, selection: Selection, confirm: bool) -> Spec {
        let spec = self.known.record.spec.clone();
        let budget = spec.effort.budget.map(|budget| part_of(budget, self.measured_s));
        let effort = Effort { budget, confirm: confirm || spec.effort.confirm, ..spec.effort };
        Spec { effort, selection, seed: self.seed(), ..spec }
    }

    /// The request of a comparison of so many pairs, by one benchmark alone.
    fn of_pairs(&self, question: Question, benchmark: &BenchmarkId) -> Spec {
        let spec = self.known.record.spec.clone();
        let pairs = pairs_of(question);
        let by_build = self.known.by_build(benchmark);
        let (builds, forks) = if by_build { (Some(pairs), None) } else { (spec.effort.builds, Some(pairs)) };
        let effort = Effort { forks, budget: None, builds, fixed: true, confirm: false };
        let selection = self.restricted(pattern(std::iter::once(benchmark)));
        Spec { effort, selection, seed: self.seed(), ..spec }
    }

    /// All benchmarks that regressed.
    fn of_regressed(&self) -> Selection {
        self.restricted(pattern(self.known.record.regressed.iter().map(|regressed| &regressed.id)))
    }

    fn restricted(&self, bench: String) -> Selection {
        Selection { bench: Some(bench), exclude: None, ..self.known.record.spec.selection.clone() }
    }

    /// A seed of its own for every comparison, so that layouts of one are not those of another.
    fn seed(&self) -> u64 {
        let record = &self.known.record;
        record.spec.seed.wrapping_add((record.compared.len() + record.dropped) as u64)
    }

    /// Compares two commits for the sake of a benchmark, and keeps that; says why where they cannot be compared.
    fn compare(
        &mut self,
        pair: Pair,
        benchmark: Option<&BenchmarkId>,
        spec: Spec,
    ) -> Result<Option<Unusable>, Failure> {
        RunError::stop_if(&self.context.interrupted)?;
        let record = &mut self.known.record;
        let context = Context {
            settings: self.context.settings.selecting(&spec.selection),
            printer: self.context.printer.clone(),
            cwd: record.cwd.clone(),
            interrupted: self.context.interrupted.clone(),
        };
        let same = |open: &Comparison| open.pair == pair && open.benchmark.as_ref() == benchmark;
        let begun = record.open.take().filter(same).and_then(|open| open.run);
        let mut before_s = begun.as_ref().and_then(|run| self.store.load(run).ok()).map_or(0.0, |run| run.measured_s);
        let clock = Instant::now();
        let ends = [pair.base, pair.head].map(|at| record.commits[at].id.clone());
        let of = |run| Comparison { pair, benchmark: benchmark.cloned(), run };
        let kept = RefCell::new((&mut *record, &mut *self.store));
        let begins = |run: RunId| {
            let (record, store) = &mut *kept.borrow_mut();
            record.open = Some(of(Some(run.to_string())));
            Ok(store.keep_bisection(self.id, record)?)
        };
        let comparing = |spec| Comparing { context: &context, spec, target: benchmark, begins: &begins };
        let outcome = match comparing(spec.clone()).carry_out(&ends, begun.as_deref()) {
            // Another toolchain builds other programs; a run that came to its end was not kept in time.
            Err(refused) if begun.is_some() && refused.exit_code() == code::USAGE => {
                self.context.printer.note(&format!("{refused}; the comparison is made anew"));
                before_s = 0.0;
                comparing(spec).carry_out(&ends, None)?
            }
            made => made?,
        };
        let took_s = clock.elapsed().as_secs_f64();
        let open = record.open.take();
        let report = match outcome {
            Outcome::Measured(report) => Some(*report),
            Outcome::Identical => None,
            Outcome::Unusable(unusable) => {
                self.measured_s += (unusable.measured_s - before_s).max(0.0);
                return Ok(Some(unusable));
            }
            Outcome::Interrupted(run) => {
                // Where nothing was measured this time, there is still what was measured before.
                record.open = run.or(open.and_then(|open| open.run)).or(begun).map(|run| of(Some(run)));
                self.keep()?;
                return Err(RunError::Interrupted.into());
            }
        };
        let measured_s = report.as_ref().map_or(0.0, |report| report.measured_s);
        self.measured_s += (measured_s - before_s).max(0.0);
        let pairs = report.as_ref().map_or(0, |report| {
            let first = report.benchmarks.first().map(|b| &b.id);
            benchmark.or(first).map_or(0, |id| units(report, id))
        });
        let of = of(report.as_ref().map(|report| report.run.clone()));
        record.compared.push(Compared { of, pairs, took_s, measured_s });
        self.known.reports.push(report);
        self.keep()?;
        Ok(None)
    }

    /// Leaves out a commit that cannot be compared.
    fn leave_out(&mut self, commit: usize, unusable: &Unusable, by: &BenchmarkId) -> Result<(), Failure> {
        let why = failure_in_one_line(&unusable.why);
        self.context.printer.note(&format!("{} is left out: {why}", self.known.told(commit)));
        let benchmark = unusable.by_benchmark.then(|| by.clone());
        self.known.record.skipped.push(Skipped { commit, benchmark, why });
        self.keep()
    }

    fn unusable_ends(&self, commit: usize, Unusable { why, .. }: &Unusable) -> Failure {
        Failure::Run(
            RunError::version(format!("{} cannot be compared: {why}", self.known.told(commit)))
                .hint("begin with commits that build and have the benchmark"),
        )
    }

    /// Says which commit is compared next, and how much is left in words.
    fn announce(&self, line: &Line, question: Question, left: &str) {
        let pairs = many(pairs_of(question) as usize, "pair", "pairs");
        let (at, last) = (question.head, line.commits.len() - 1);
        let commits = &self.known.record.commits;
        let inside =
            line.merge.map_or_else(String::new, |merge| format!(" inside `{}`", commits[merge.commit].short()));
        let told = self.known.told(line.commits[at]);
        self.context.printer.note(&format!("commit {at} of {last}{inside}, {told}: {pairs}; {left}"));
    }
}

/// The part of a budget that a comparison gets after so much of it was spent measuring.
fn part_of(budget: Duration, measured_s: f64) -> Duration {
    let left = budget.saturating_sub(Duration::from_secs_f64(measured_s));
    left.clamp(budget / LEAST_SHARE, budget / ENDS_SHARE)
}

/// The candidates of a search and the time that they will take, in words.
fn left(search: &Search, costs: &Costs) -> String {
    let time = search.expected_s(costs).map_or_else(String::new, |s| format!(", about {}", duration(s)));
    format!("{} left{time}", many(search.candidates(), "candidate", "candidates"))
}

/// Named, or not.
fn exit_code(bisection: &Bisection) -> u8 {
    let is_named = bisection.sought.iter().any(|sought| matches!(sought.answer, Answer::Steps(_)));
    match is_named {
        true => code::REGRESSION,
        false if bisection.ends.are_unusable() => code::FAILED,
        false => code::INCONCLUSIVE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_takes_no_more_of_a_budget_than_is_left() {
        let part_s = |measured_s| part_of(Duration::from_secs(320), measured_s).as_secs();
        assert_eq!([0.0, 240.0, 300.0, 315.0, 400.0].map(part_s), [80, 80, 20, 10, 10]);
    }
}
