//! The account of a run on a fleet: its calls counted, their cost, and whether the processor's model matters.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Rate, Task, Usage};
use crate::analysis::BenchmarkReport;
use crate::plan::Plan;
use crate::sample::BenchmarkId;
use crate::spec::{Arch, EngineName, FleetSpec};
use crate::stats;
use crate::verdict::Verdict;

/// The end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEnd {
    /// It was sent and never heard of.
    Sent,
    /// Its result counts.
    Counted,
    /// Another call's result counts.
    Duplicate,
    /// The provider would not take it.
    Throttled,
    /// It gave nothing.
    Failed,
}

words!(CallEnd, ALL, from_word:
    Sent "sent", Counted "counted", Duplicate "duplicate", Throttled "throttled", Failed "failed"
);

/// A call that was sent, and the facts known about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Account {
    /// The task that it was sent for.
    pub task: Task,
    /// Its end.
    pub end: CallEnd,
    /// The error in words, if there was one.
    pub words: Option<String>,
    /// The instance that carried it out, and the model of its processor.
    pub instance: Option<(String, String)>,
    /// Billed time and start of an instance, where they are known.
    pub usage: Option<Usage>,
    /// Fork pairs of which it told, where it counts: fewer than were asked for where time or room did not suffice.
    pub fork_pairs: u32,
}

/// Prices and sizes that were settled before a run's first call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FleetTerms {
    /// Prices.
    pub rate: Rate,
    /// The day they were looked up.
    pub price_date: String,
    /// Build pairs in the package.
    pub builds: u32,
    /// Its size.
    pub package_bytes: u64,
    /// Longest call, nanoseconds.
    pub call_max_ns: u64,
    /// The provider's region; absent where there are none, and in runs that were begun before it was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
}

impl FleetTerms {
    /// Cost of these calls, US dollars; a call whose usage is not known counts with the longest time that it may be billed.
    pub fn cost_usd(&self, calls: &[Account], spec: &FleetSpec) -> f64 {
        let most = Usage { billed_ns: self.call_max_ns, cold: false };
        let usage = |call: &Account| match call.end {
            CallEnd::Throttled => None,
            _ => Some(call.usage.unwrap_or(most)),
        };
        // A sum of nothing would be −0.
        calls.iter().filter_map(usage).fold(0.0, |sum, usage| sum + self.rate.of(usage, spec.memory_mb, spec.arch))
    }
}

/// A benchmark that a sitting left without an answer for reasons of the fleet: its calls kept being lost, or nothing more could be
/// sent. Limits that the user set, and interrupts, leave none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abandoned {
    /// Index into [`Plan::benchmarks`].
    pub benchmark: u32,
    /// In words.
    pub reason: String,
}

/// Makes failures of the open questions that are so for reasons of the fleet: nobody shall take them for answers. What is decided all
/// the same stays so. Gives the benchmarks that fail now.
pub fn fail_abandoned(benchmarks: &mut [BenchmarkReport], plan: &Plan, abandoned: &[Abandoned]) -> Vec<BenchmarkId> {
    let mut failing = Vec::new();
    for Abandoned { benchmark, reason } in abandoned {
        let Some(planned) = plan.benchmarks.get(*benchmark as usize) else { continue };
        let of_it = |report: &&mut BenchmarkReport| report.id == planned.id && report.verdict.is_open();
        if let Some(report) = benchmarks.iter_mut().find(of_it) {
            report.verdict = Verdict::Failed { role: None, reason: reason.clone() };
            report.estimate = None;
            failing.push(planned.id.clone());
        }
    }
    failing
}

/// Totals of a run on a fleet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FleetReport {
    /// Whose instances.
    pub engine: EngineName,
    /// Memory of an instance, megabytes.
    pub memory_mb: u32,
    /// Its processor.
    pub arch: Arch,
    /// Prices and sizes that were settled before the first call.
    pub terms: FleetTerms,
    /// Tasks that were sent.
    pub tasks: u32,
    /// Tasks whose result counts.
    pub counted: u32,
    /// Calls by their end, in the order of [`CallEnd`]; ends that did not occur are absent.
    pub calls: Vec<(CallEnd, u32)>,
    /// Instances that carried out calls.
    pub instances: u32,
    /// Calls that started one.
    pub cold: u32,
    /// Time that was billed, seconds, as far as it is known.
    pub billed_s: f64,
    /// US dollars, by the workers' clocks and the prices of the terms.
    pub cost_usd: f64,
    /// The models of their processors, the most frequent first.
    pub processors: Vec<ProcessorShare>,
    /// Benchmarks that lack results.
    pub lacking: Vec<Lacking>,
    /// Benchmarks that failed for reasons of the fleet, as [`fail_abandoned`] found.
    #[serde(default)]
    pub abandoned: Vec<BenchmarkId>,
}

/// The share of a run that was measured on one model of processor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProcessorShare {
    /// The model.
    pub model: String,
    /// Calls that count.
    pub calls: u32,
    /// Median over its fork pairs of how much larger their ratio is than their benchmark's mean; absent where there are none.
    pub offset: Option<f64>,
}

/// A benchmark of which not every task has a result, or not all of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lacking {
    /// The benchmark.
    pub id: BenchmarkId,
    /// Tasks with a result.
    pub counted: u32,
    /// Tasks that were sent.
    pub asked: u32,
    /// Last error of a task that has no result, or how many fork pairs there are where every task has one; in words.
    pub reason: String,
}

impl FleetReport {
    /// Adds up the calls of a run.
    pub fn of(
        calls: &[Account],
        spec: &FleetSpec,
        terms: FleetTerms,
        plan: &Plan,
        benchmarks: &[BenchmarkReport],
    ) -> FleetReport {
        let number = |end: CallEnd| count(calls.iter().filter(|call| call.end == end).count());
        let tasks: BTreeSet<Task> = calls.iter().map(|call| call.task).collect();
        let counted = counted(calls);
        let instances: BTreeSet<&str> = calls.iter().filter_map(|c| Some(c.instance.as_ref()?.0.as_str())).collect();
        let usages = || calls.iter().filter_map(|call| call.usage);
        FleetReport {
            engine: spec.engine,
            memory_mb: spec.memory_mb,
            arch: spec.arch,
            tasks: count(tasks.len()),
            counted: count(counted.len()),
            calls: CallEnd::ALL.map(|end| (end, number(end))).into_iter().filter(|(_, n)| *n > 0).collect(),
            instances: count(instances.len()),
            cold: count(usages().filter(|usage| usage.cold).count()),
            billed_s: usages().fold(0.0, |sum, usage| sum + usage.billed_ns as f64 * 1e-9),
            cost_usd: terms.cost_usd(calls, spec),
            processors: processors(calls, plan, benchmarks),
            lacking: lacking(calls, &tasks, &counted, plan),
            abandoned: Vec::new(),
            terms,
        }
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Tasks that have their result.
fn counted(calls: &[Account]) -> BTreeSet<Task> {
    calls.iter().filter(|call| call.end == CallEnd::Counted).map(|call| call.task).collect()
}

/// By model of processor: how many calls, and whether ratios are others there. Of every fork pair its benchmark's mean is taken away,
/// so that it does not matter which benchmarks happened to meet which model.
fn processors(calls: &[Account], plan: &Plan, benchmarks: &[BenchmarkReport]) -> Vec<ProcessorShare> {
    let by_id: BTreeMap<&BenchmarkId, &BenchmarkReport> = benchmarks.iter().map(|b| (&b.id, b)).collect();
    let mut models: BTreeMap<&str, (u32, Vec<f64>)> = BTreeMap::new();
    for call in calls.iter().filter(|call| call.end == CallEnd::Counted) {
        let Some((_, model)) = &call.instance else { continue };
        let (calls, offsets) = models.entry(model).or_default();
        *calls += 1;
        let planned = plan.benchmarks.get(call.task.benchmark as usize);
        if let Some(report) = planned.and_then(|planned| by_id.get(&planned.id)) {
            offsets.extend(offsets_of(call.task, report));
        }
    }
    let share = |(model, (calls, offsets)): (&str, (u32, Vec<f64>))| ProcessorShare {
        model: model.to_owned(),
        calls,
        offset: stats::median(&offsets).ok().map(f64::exp_m1),
    };
    let mut shares: Vec<ProcessorShare> = models.into_iter().map(share).collect();
    shares.sort_by_key(|share| std::cmp::Reverse(share.calls));
    shares
}

/// By how much the log ratios of a task's fork pairs differ from their benchmark's mean.
fn offsets_of(task: Task, report: &BenchmarkReport) -> impl Iterator<Item = f64> {
    let mean = report.forks.iter().map(|fork| fork.log_ratio).sum::<f64>() / report.forks.len().max(1) as f64;
    let suite_runs = task.first_suite_run..task.first_suite_run.saturating_add(task.suite_runs);
    report.forks.iter().filter(move |fork| suite_runs.contains(&fork.suite_run)).map(move |fork| fork.log_ratio - mean)
}

/// Benchmarks of which some task was sent and has no result, or not all of it.
fn lacking(calls: &[Account], tasks: &BTreeSet<Task>, counted: &BTreeSet<Task>, plan: &Plan) -> Vec<Lacking> {
    let mut lacking = Vec::new();
    for (benchmark, planned) in plan.benchmarks.iter().enumerate() {
        let is_its = |task: &&Task| task.benchmark as usize == benchmark;
        let (asked, counted_of_it) = (tasks.iter().filter(is_its).count(), counted.iter().filter(is_its).count());
        let its_calls = || calls.iter().filter(|call| is_its(&&call.task));
        let reason = if counted_of_it < asked {
            let open = its_calls().filter(|call| !counted.contains(&call.task));
            let heard = open.filter_map(|call| call.words.clone()).next_back();
            Some(heard.unwrap_or_else(|| "nothing was heard of it".to_owned()))
        } else {
            cut_short(its_calls().filter(|call| call.end == CallEnd::Counted))
        };
        let (counted, asked) = (count(counted_of_it), count(asked));
        lacking.extend(reason.map(|reason| Lacking { id: planned.id.clone(), counted, asked, reason }));
    }
    lacking
}

/// The part of their tasks that these calls told, in words; absent where it is all.
fn cut_short<'a>(calls: impl Iterator<Item = &'a Account>) -> Option<String> {
    let (mut told, mut asked) = (0u64, 0u64);
    for call in calls {
        told += u64::from(call.fork_pairs);
        asked += u64::from(call.task.suite_runs);
    }
    let words = || format!("{told} of {asked} fork pairs: calls lack time or room for more, lower `--forks-per-call`");
    (told < asked).then(words)
}
