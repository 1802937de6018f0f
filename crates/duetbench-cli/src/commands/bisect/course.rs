//! The course of a search: it asks core where to measure next, and keeps every comparison.

use std::time::Instant;

use duetbench_core::bisect::{self, ALPHA, Costs, Next, Probe, Question, Rules, Search};
use duetbench_core::report::BenchmarkReport;
use duetbench_core::spec::{Effort, Selection};
use duetbench_core::{BenchmarkId, Report, Spec, Verdict};
use duetbench_run::RunError;
use duetbench_run::store::{BisectionId, Store};

use super::pairs_of;
use super::probe::{Comparing, Outcome, pattern};
use crate::assemble;
use crate::bisection::{Answer, Bisection, Compared, Comparison, Found, Other, Record, Regressed, Shown};
use crate::commands::Context;
use crate::failure::{Failure, code};
use crate::render;
use crate::render::format::{change, duration, first_line, many};

/// Share of the budget that the comparison of the end points may take.
const ENDS_SHARE: u32 = 4;

/// A search on its way.
pub(super) struct Course<'a> {
    context: &'a Context,
    store: &'a mut Store,
    id: BisectionId,
    record: Record,
    search: Search,
    /// The reports of its comparisons, in the order of the record; absent where nothing was measured.
    reports: Vec<Option<Report>>,
    begun: Instant,
}

impl<'a> Course<'a> {
    pub(super) fn new(context: &'a Context, store: &'a mut Store, (id, record): (BisectionId, Record)) -> Course<'a> {
        let rules = Rules { alpha: ALPHA, worth: record.spec.decision.threshold.ln_1p() };
        let search = Search::new(record.commits.len() - 1, rules);
        Course { context, store, id, record, search, reports: Vec::new(), begun: Instant::now() }
    }

    /// Searches to the end, and reports it; gives the exit code.
    pub(super) fn carry_out(mut self) -> Result<u8, Failure> {
        self.remember()?;
        let answer = match self.searched() {
            Err(Failure::Run(RunError::Interrupted)) => {
                self.context.printer.note("interrupted; `duet bisect --resume` goes on from here");
                return Ok(code::INTERRUPTED);
            }
            other => other?,
        };
        let out_of_budget = self.is_over();
        // A longer budget can go on with it.
        self.record.complete = !(out_of_budget && matches!(answer, Answer::CannotTell { .. }));
        self.store.keep_bisection(self.id, &self.record)?;
        let bisection = self.reported(answer, out_of_budget);
        self.context.printer.document(&render::bisect::document(&bisection))?;
        Ok(match bisection.answer {
            Answer::Steps(_) => code::REGRESSION,
            Answer::NothingSlower | Answer::Gone | Answer::CannotTell { .. } => code::INCONCLUSIVE,
        })
    }

    /// Tells the search all that earlier sittings found.
    fn remember(&mut self) -> Result<(), Failure> {
        for compared in self.record.compared.clone() {
            let report = match &compared.of.run {
                Some(run) => Some(assemble::report(self.store.load(run)?.comparison()?)),
                None => None,
            };
            self.take(&compared.of, report);
        }
        let commits = &self.record.commits;
        let same_tree = |later: usize| (0..later).rev().find(|&before| commits[before].tree == commits[later].tree);
        for later in 1..commits.len() {
            if let Some(before) = same_tree(later) {
                self.search.tell(Probe { base: before, head: later, found: bisect::Found::Identical });
            }
        }
        self.record.skipped.keys().for_each(|&commit| self.search.skip(commit));
        Ok(())
    }

    fn searched(&mut self) -> Result<Answer, Failure> {
        if self.record.benchmark.is_none() && !self.ends_differ()? {
            return Ok(Answer::NothingSlower);
        }
        loop {
            let costs = self.costs();
            let next = self.search.next(&costs);
            let answer = match next {
                Next::Done(answer) => answer,
                _ if self.is_over() => self.search.so_far(),
                Next::Measure(question) => {
                    self.announce(question, &costs);
                    self.compare(question, self.spec_of(question))?;
                    continue;
                }
                Next::Confirm(question) => {
                    let [parent, culprit] = [question.base, question.head].map(|at| self.told(at));
                    self.context.printer.note(&format!("comparing {culprit} with its parent {parent}"));
                    self.compare(question, self.ordinary(true))?;
                    continue;
                }
            };
            return Ok(self.named(&answer));
        }
    }

    /// Whether the budget is used up.
    fn is_over(&self) -> bool {
        self.record.spec.effort.budget.is_some_and(|budget| self.begun.elapsed() >= budget)
    }

    /// Compares the end points; whether a benchmark is slower in the bad commit.
    fn ends_differ(&mut self) -> Result<bool, Failure> {
        let last = self.record.commits.len() - 1;
        self.context.printer.note(&format!(
            "{} between {} and {}; comparing these two first",
            many(last, "commit", "commits"),
            self.told(0),
            self.told(last)
        ));
        let question = Question { base: 0, head: last, pairs: 0 };
        let before = self.record.compared.len();
        self.compare(question, self.ordinary(false))?;
        let Some(report) = self.reports.get(before).and_then(Option::as_ref) else { return Ok(false) };
        let is_slower = |b: &&BenchmarkReport| matches!(b.verdict, Verdict::Regression);
        let of = |b: &BenchmarkReport| Some(Regressed { id: b.id.clone(), ratio: 1.0 + b.change()? });
        let mut regressed: Vec<Regressed> = report.benchmarks.iter().filter(is_slower).filter_map(of).collect();
        regressed.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
        let Some(largest) = regressed.first() else { return Ok(false) };
        self.context.printer.note(&format!("{} is {}", largest.id.name, change(largest.ratio)));
        self.record.benchmark = Some(largest.id.clone());
        self.record.regressed = regressed;
        self.store.keep_bisection(self.id, &self.record)?;
        // Now that it is known which benchmark counts, the search is told of the end points.
        let compared = self.record.compared[before].of.clone();
        let report = self.reports[before].take();
        self.reports.truncate(before);
        self.take(&compared, report);
        Ok(true)
    }

    /// The request of an ordinary comparison: of all that was selected, or of all that regressed.
    fn ordinary(&self, confirm: bool) -> Spec {
        let spec = self.record.spec.clone();
        let budget = spec.effort.budget.map(|budget| budget / ENDS_SHARE);
        let effort = Effort { budget, confirm: confirm || spec.effort.confirm, ..spec.effort };
        let ids = self.record.regressed.iter().map(|regressed| &regressed.id);
        let selection = if confirm { self.restricted(pattern(ids)) } else { spec.selection.clone() };
        Spec { effort, selection, seed: self.seed(), ..spec }
    }

    /// The request of a comparison of so many pairs, by the benchmark alone.
    fn spec_of(&self, question: Question) -> Spec {
        let spec = self.record.spec.clone();
        let pairs = pairs_of(question);
        let by_build = self.by_build();
        let (builds, forks) = if by_build { (Some(pairs), None) } else { (spec.effort.builds, Some(pairs)) };
        let effort = Effort { forks, budget: None, builds, fixed: true, confirm: false };
        let selection = self.restricted(pattern(self.record.benchmark.iter()));
        Spec { effort, selection, seed: self.seed(), ..spec }
    }

    fn restricted(&self, bench: String) -> Selection {
        Selection { bench: Some(bench), exclude: None, ..self.record.spec.selection.clone() }
    }

    /// A seed of its own for every comparison, so that layouts of one are not those of another.
    fn seed(&self) -> u64 {
        self.record.spec.seed.wrapping_add(self.record.compared.len() as u64)
    }

    /// Whether pairs are build pairs, as the first comparison had them.
    fn by_build(&self) -> bool {
        let first = self.reports.iter().flatten().next();
        first.is_some_and(|report| by_build(report, self.record.benchmark.as_ref()))
    }

    /// Compares two commits, keeps that, and tells the search.
    fn compare(&mut self, question: Question, spec: Spec) -> Result<(), Failure> {
        RunError::stop_if(&self.context.interrupted)?;
        let Question { base, head, .. } = question;
        let settings = self.context.settings.selecting(&spec.selection);
        let context = Context {
            settings,
            printer: self.context.printer.clone(),
            cwd: self.record.cwd.clone(),
            interrupted: self.context.interrupted.clone(),
        };
        let open = self.record.open.take().filter(|open| (open.base, open.head) == (base, head));
        let begun = open.and_then(|open| open.run);
        let clock = Instant::now();
        let target = self.record.benchmark.clone();
        let ends = [base, head].map(|at| self.record.commits[at].id.clone());
        let comparing = Comparing { context: &context, spec, target: target.as_ref() };
        let outcome = comparing.carry_out(ends.each_ref().map(String::as_str), begun.as_deref())?;
        let took_s = clock.elapsed().as_secs_f64();
        let report = match outcome {
            Outcome::Measured(report) => Some(*report),
            Outcome::Identical => None,
            Outcome::Unusable(why) => return self.left_out(head, &why),
            Outcome::Interrupted(run) => {
                self.record.open = run.map(|run| Comparison { base, head, run: Some(run) });
                self.store.keep_bisection(self.id, &self.record)?;
                return Err(RunError::Interrupted.into());
            }
        };
        let of = Comparison { base, head, run: report.as_ref().map(|report| report.run.clone()) };
        let measured_s = report.as_ref().map_or(0.0, |report| report.measured_s);
        let pairs = report.as_ref().map_or(0, |report| log_ratios(report, target.as_ref()).len());
        self.record.compared.push(Compared { of: of.clone(), pairs, took_s, measured_s });
        self.store.keep_bisection(self.id, &self.record)?;
        self.take(&of, report);
        Ok(())
    }

    /// Leaves out a commit that cannot be compared; the end points cannot be left out.
    fn left_out(&mut self, commit: usize, why: &str) -> Result<(), Failure> {
        let told = self.told(commit);
        if commit == 0 || commit + 1 == self.record.commits.len() {
            return Err(Failure::Run(RunError::Source {
                what: format!("{told} cannot be compared: {why}"),
                hint: Some("begin with commits that build and have the benchmark".into()),
            }));
        }
        self.context.printer.note(&format!("{told} is left out: {}", first_line(why)));
        self.record.skipped.insert(commit, first_line(why));
        self.search.skip(commit);
        self.store.keep_bisection(self.id, &self.record)?;
        Ok(())
    }

    /// Tells the search the result of a comparison, and keeps the report.
    fn take(&mut self, of: &Comparison, report: Option<Report>) {
        let found = match &report {
            Some(report) => bisect::Found::LogRatios(log_ratios(report, self.record.benchmark.as_ref())),
            None => bisect::Found::Identical,
        };
        if self.record.benchmark.is_some() {
            self.search.tell(Probe { base: of.base, head: of.head, found });
        }
        self.reports.push(report);
    }

    /// Costs as the comparisons so far had them.
    fn costs(&self) -> Costs {
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

    /// Says which commit is compared next, and how much is left.
    fn announce(&self, question: Question, costs: &Costs) {
        let left = self.search.candidates();
        let time = self.search.expected_s(costs).map_or_else(String::new, |s| format!(", about {}", duration(s)));
        let pairs = many(pairs_of(question) as usize, "pair", "pairs");
        let last = self.record.commits.len() - 1;
        let told = self.told(question.head);
        let left = many(left, "candidate", "candidates");
        let text = format!("commit {} of {last}, {told}: {pairs}; {left} left{time}", question.head);
        self.context.printer.note(&text);
    }

    /// A commit in words.
    fn told(&self, commit: usize) -> String {
        let commit = &self.record.commits[commit];
        format!("`{}` ({})", commit.short(), first_line(&commit.subject))
    }

    /// An answer of core with runs and ratios.
    fn named(&self, answer: &bisect::Answer) -> Answer {
        match answer {
            bisect::Answer::Nothing => Answer::Gone,
            bisect::Answer::CannotTell(range) => Answer::CannotTell { first: *range.start(), last: *range.end() },
            bisect::Answer::Steps(steps) => Answer::Steps(steps.iter().map(|step| self.found(step)).collect()),
        }
    }

    fn found(&self, step: &bisect::Step) -> Found {
        let (run, report) = self.direct(step.parent, step.culprit).unzip();
        let target = report.zip(self.record.benchmark.as_ref());
        let judged = target.and_then(|(report, id)| report.benchmarks.iter().find(|b| b.id == *id));
        let ratio = judged.and_then(BenchmarkReport::change).map_or(step.log_ratio.exp(), |change| 1.0 + change);
        Found {
            parent: step.parent,
            culprit: step.culprit,
            ratio,
            probability: step.probability,
            run,
            verdict: judged.map(|b| b.verdict.word()),
        }
    }

    /// The last comparison of two commits.
    fn direct(&self, base: usize, head: usize) -> Option<(String, &Report)> {
        let all = self.record.compared.iter().zip(&self.reports).rev();
        let mut theirs = all.filter(|(one, _)| (one.of.base, one.of.head) == (base, head));
        theirs.find_map(|(one, report)| Some((one.of.run.clone()?, report.as_ref()?)))
    }

    fn reported(&self, answer: Answer, out_of_budget: bool) -> Bisection {
        let record = &self.record;
        let target = record.benchmark.as_ref();
        let compared = record.compared.iter().zip(&self.reports).map(|(compared, report)| {
            let of = |report: &Report| mean(&log_ratios(report, target)).map(f64::exp);
            Shown { compared: compared.clone(), ratio: report.as_ref().and_then(of) }
        });
        let ends = self.reports.first().and_then(Option::as_ref);
        let detects = ends.filter(|_| target.is_none()).and_then(|report| {
            let all = report.benchmarks.iter().filter_map(|b| b.estimate.map(|e| e.minimal_detectable_change));
            all.reduce(f64::max)
        });
        Bisection {
            duet_version: env!("CARGO_PKG_VERSION").into(),
            commits: record.commits.clone(),
            threshold: record.spec.decision.threshold,
            benchmark: target.map(|id| id.name.clone()),
            ratio: record.regressed.first().map(|one| one.ratio),
            others: record.regressed.iter().skip(1).map(|one| self.other(one, &answer)).collect(),
            answer,
            compared: compared.collect(),
            skipped: record.skipped.clone(),
            detects,
            out_of_budget,
        }
    }

    /// Another benchmark, with its change over the steps.
    fn other(&self, one: &Regressed, answer: &Answer) -> Other {
        let steps: &[Found] = if let Answer::Steps(steps) = answer { steps } else { &[] };
        let ratio = |step: &Found| mean(&log_ratios(self.direct(step.parent, step.culprit)?.1, Some(&one.id)));
        let of_steps: Option<f64> = steps.iter().map(ratio).sum();
        let ratio_of_steps = of_steps.filter(|_| !steps.is_empty()).map(f64::exp);
        Other { name: one.id.name.clone(), ratio: one.ratio, ratio_of_steps }
    }
}

/// The log ratios of a benchmark's units in a run.
fn log_ratios(report: &Report, id: Option<&BenchmarkId>) -> Vec<f64> {
    let one = report.benchmarks.iter().find(|b| Some(&b.id) == id);
    one.map_or_else(Vec::new, |b| b.unit_log_ratios(by_build(report, id)))
}

/// Whether a benchmark's units are build pairs.
fn by_build(report: &Report, id: Option<&BenchmarkId>) -> bool {
    let planned = report.plan.benchmarks.iter().find(|planned| Some(&planned.id) == id);
    planned.is_some_and(|planned| planned.configuration.design.by_build)
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
