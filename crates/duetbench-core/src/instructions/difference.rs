//! From the counts of several processes to those of one invocation.

use std::collections::BTreeSet;

use super::{Executed, ExecutedCode, FunctionCount, InstructionCounts, Per, ProcessCount};
use crate::hotspot::{Origin, origin};

/// Most functions that counts list.
pub const LISTED_MAX: usize = 10;

/// The processes of one side.
#[derive(Debug, Clone, Copy)]
pub struct SideCounts<'a> {
    /// Those with fewer invocations; none where a process is counted as a whole.
    pub fewer: &'a [ProcessCount],
    /// As many with more.
    pub more: &'a [ProcessCount],
}

impl InstructionCounts {
    /// The counts of the baseline's and of the candidate's processes, which made so many invocations: fewer, then more. Absent where a side executed
    /// nothing, or the numbers of invocations are no two.
    ///
    /// Work of a process besides invocations is in both counts, so their difference by that of the invocations is free of it. In a runtime
    /// that start is not the same twice: so a function counts only where on one side every process with more invocations executed more of it than any with fewer.
    pub fn of([baseline, candidate]: [SideCounts<'_>; 2], invocations: [u64; 2]) -> Option<InstructionCounts> {
        let [fewer, more] = invocations;
        let per = if baseline.fewer.is_empty() { Per::Process } else { Per::Invocation };
        let extra = if per == Per::Process { 1 } else { more.checked_sub(fewer).filter(|extra| *extra > 0)? };
        let sides = [baseline, candidate].map(|processes| Side { processes, extra: extra as f64 });
        let mut names: BTreeSet<&str> = sides.iter().flat_map(|side| side.names()).collect();
        // One that grows on one side alone is counted on both, or by luck it would be work that one has and the other has not.
        names.retain(|name| sides.iter().any(|side| side.grows(name)));
        let [baseline, candidate] = sides.map(|side| side.executed(&names));
        if baseline.all <= 0.0 || candidate.all <= 0.0 {
            return None;
        }
        let function = |name: &str| {
            let [baseline, candidate] = sides.map(|side| side.grown(name));
            FunctionCount { function: name.to_owned(), origin: origin(name), baseline, candidate }
        };
        let mut functions: Vec<FunctionCount> = names.into_iter().map(function).collect();
        let size = |f: &FunctionCount| (f.candidate - f.baseline).abs();
        // Less of a function than a tenth of what two counts may differ by is not worth a line.
        functions.retain(|f| size(f) > baseline.all * super::TOLERANCE / 10.0);
        functions.sort_by(|a, b| size(b).total_cmp(&size(a)));
        functions.truncate(LISTED_MAX);
        let processes = u32::try_from(sides[0].processes.more.len()).unwrap_or(u32::MAX);
        Some(InstructionCounts { per, invocations, processes, baseline, candidate, functions, code: None })
    }
}

impl ExecutedCode {
    /// So many functions, and the names of those that differ.
    pub fn new(functions: usize, mut differing: Vec<&str>) -> ExecutedCode {
        differing.sort_by_key(|name| (origin(name) != Origin::Program, *name));
        let listed = differing.iter().take(LISTED_MAX).map(|name| (*name).to_owned()).collect();
        ExecutedCode { functions, differing: differing.len(), listed }
    }
}

/// The processes of one side, and the invocations by which their two kinds differ.
#[derive(Clone, Copy)]
struct Side<'a> {
    processes: SideCounts<'a>,
    extra: f64,
}

impl<'a> Side<'a> {
    fn names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let SideCounts { fewer, more } = self.processes;
        fewer.iter().chain(more).flat_map(|process| process.functions.keys().map(String::as_str))
    }

    /// The counts of a function in both kinds of processes, in order.
    fn counts(self, name: &str) -> [Vec<u64>; 2] {
        let count = |process: &ProcessCount| process.functions.get(name).copied().unwrap_or(0);
        [self.processes.fewer, self.processes.more].map(|kind| {
            let mut counts: Vec<u64> = kind.iter().map(count).collect();
            counts.sort_unstable();
            counts
        })
    }

    /// Whether every process with more invocations executed more of a function than any with fewer.
    fn grows(self, name: &str) -> bool {
        let [fewer, more] = self.counts(name);
        more.first().copied().unwrap_or(0) > fewer.last().copied().unwrap_or(0)
    }

    /// Instructions of a function by the unit: the difference of the medians.
    fn grown(self, name: &str) -> f64 {
        let [fewer, more] = self.counts(name);
        (median(&more) - median(&fewer)).max(0.0) / self.extra
    }

    /// Instructions by the unit in these functions.
    fn executed(self, names: &BTreeSet<&str>) -> Executed {
        let of_operation: Vec<(&str, f64)> = names.iter().map(|name| (*name, self.grown(name))).collect();
        let all: f64 = of_operation.iter().map(|(_, count)| count).sum();
        let collector = of_operation.iter().filter(|(name, _)| origin(name) == Origin::Collector);
        let total =
            |process: &ProcessCount| -> u64 { names.iter().filter_map(|name| process.functions.get(*name)).sum() };
        let range = |kind: &[ProcessCount]| {
            let totals = || kind.iter().map(total);
            totals().max().zip(totals().min()).map_or(0, |(most, least)| most - least)
        };
        let apart = range(self.processes.fewer).max(range(self.processes.more)) as f64 / self.extra;
        let spread = if all > 0.0 { apart / all } else { 0.0 };
        Executed { all, collector: collector.map(|(_, count)| count).sum(), spread }
    }
}

/// The middle of numbers in order; of an even number the mean of both.
fn median(sorted: &[u64]) -> f64 {
    let (low, high) = (sorted.len().saturating_sub(1) / 2, sorted.len() / 2);
    let at = |index: usize| sorted.get(index).copied().unwrap_or(0) as f64;
    f64::midpoint(at(low), at(high))
}
