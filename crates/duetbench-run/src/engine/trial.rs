//! One page, the processes that share it, and what they leave behind.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use duetbench_core::sample::{Cycle, Memory, does_nothing};
use duetbench_core::{Role, Sample, Trial};

use super::TrialFailure;
use crate::error::RunError;
use crate::page::{Page, Record, SideStatus};
use crate::process::{Child, Launch, WaitEnd, failure_words, hangs, wait_all, words_of_death};

/// Records of both sides, or why the trial counts for nothing.
pub(super) type Gathered = Result<Vec<SideRecords>, TrialFailure>;

/// The processes of one page.
pub(super) struct TrialRun {
    /// Sides to start, with how.
    pub(super) launches: Vec<(usize, Launch)>,
    /// Role of side 0 and 1.
    pub(super) roles: [Role; 2],
    /// Longest time that they may take.
    pub(super) limit: Duration,
}

/// Records of one side, with the cost of its collector.
pub(super) struct SideRecords {
    role: Role,
    records: Vec<Record>,
    /// Invocations of its slices.
    pub(super) slice_invocations: u64,
    /// The cost of its collector, if the side could tell.
    cycle: Option<Cycle>,
    /// CPU time of slices that count without its collector's beside the benchmark, as a share of their wall time; where that was at work.
    own_share: Option<f64>,
}

impl TrialRun {
    /// Runs them to their end with a page that is ready for this trial. The error is for what makes going on pointless; a benchmark's failure is a value.
    pub(super) fn gather(&self, page: &Page, interrupted: &AtomicBool) -> Result<Gathered, RunError> {
        let mut children = Vec::with_capacity(self.launches.len());
        for (side, launch) in &self.launches {
            let mut launch = launch.clone();
            launch.env.push(("DUET_PAGE".into(), page.path().into()));
            launch.env.push(("DUET_SIDE".into(), side.to_string().into()));
            children.push(launch.spawn()?);
        }
        let mut first_dead = None;
        let end = wait_all(&mut children, Instant::now() + self.limit, interrupted, |index| {
            first_dead.get_or_insert(index);
            page.mark_gone(self.launches[index].0);
        });
        page.stop();
        children.iter_mut().for_each(Child::kill);
        match end {
            WaitEnd::Interrupted => Err(RunError::Interrupted),
            // One that died is the cause, whether or not its peer goes on alone.
            WaitEnd::TimedOut => {
                let died = first_dead.and_then(|index| self.died(index, &children));
                Ok(Err(died.unwrap_or_else(|| self.hung(page, first_dead))))
            }
            WaitEnd::Ended => Ok(self.read(page, &children, first_dead)),
        }
    }

    /// The sides that were started, in the order of their processes.
    fn sides(&self) -> Vec<usize> {
        self.launches.iter().map(|(side, _)| *side).collect()
    }

    /// The failure of a trial that did not end: the side that is still running is the one that hangs, and with both
    /// running the one that has not even begun, or else the one that the other waits for.
    fn hung(&self, page: &Page, first_dead: Option<usize>) -> TrialFailure {
        let sides = self.sides();
        let running = |index: &usize| first_dead != Some(*index);
        let silent = |index: &usize| !page.status(sides[*index]).arrived;
        let late = || page.late().and_then(|late| sides.iter().position(|side| *side == late));
        let candidates: Vec<usize> = (0..sides.len()).filter(running).collect();
        let culprit = match candidates[..] {
            [only] => Some(only),
            _ => candidates.iter().copied().find(silent).or_else(late),
        };
        let unknown = if culprit.is_none() { " (which side is not known)" } else { "" };
        let reason = hangs(self.limit) + unknown;
        TrialFailure { role: culprit.map(|index| self.roles[sides[index]]), reason, discarded: false }
    }

    /// The failure of a process that ended badly.
    fn died(&self, index: usize, children: &[Child]) -> Option<TrialFailure> {
        let words = children[index].status().and_then(failure_words)?;
        let reason = words_of_death(&words, &children[index].output_tail());
        Some(TrialFailure { role: Some(self.roles[self.launches[index].0]), reason, discarded: false })
    }

    fn read(&self, page: &Page, children: &[Child], first_dead: Option<usize>) -> Gathered {
        let sides = self.sides();
        // The side that failed first is the cause; its peer only left because of it.
        let mut order: Vec<usize> = (0..sides.len()).collect();
        order.sort_by_key(|index| (page.status(sides[*index]).left_early, first_dead != Some(*index)));
        if let Some(failure) = order.iter().find_map(|&index| self.died(index, children)) {
            return Err(failure);
        }
        let by_cause = order.iter().map(|&index| self.side_records(page, sides[index]));
        let mut records = by_cause.collect::<Result<Vec<SideRecords>, TrialFailure>>()?;
        records.sort_by_key(|side| side.role != self.roles[0]);
        Ok(records)
    }

    /// The failure of a trial that this side left, which is that of its peer if nobody made the peer leave.
    fn left(&self, page: &Page, side: usize) -> TrialFailure {
        let peer = self.sides().into_iter().find(|other| *other != side && !page.status(*other).left_early);
        let role = Some(self.roles[peer.unwrap_or(side)]);
        TrialFailure { role, reason: "it left the measurement before its end".into(), discarded: false }
    }

    fn side_records(&self, page: &Page, side: usize) -> Result<SideRecords, TrialFailure> {
        let role = self.roles[side];
        let failure = |reason: &str| TrialFailure { role: Some(role), reason: reason.to_owned(), discarded: false };
        let status = page.status(side);
        let records = page.records(side);
        if !status.arrived {
            return Err(failure(
                "it ended without reaching its measured loop (has it another name where it may use fewer processors?)",
            ));
        }
        if status.left_early {
            return Err(self.left(page, side));
        }
        let is_nonsense = |r: &Record| r.invocations == 0 || r.invocations.max(r.wall_ns).max(r.cpu_ns) > COUNT_MAX;
        if records.iter().any(is_nonsense) || !records.is_sorted_by(|a, b| a.slice < b.slice) {
            return Err(failure("its records on the shared page make no sense"));
        }
        if records.iter().any(|r| !r.warm_up && does_nothing(r.wall_ns, r.invocations)) {
            return Err(failure(
                "an invocation took less than 0.001 ns: it does nothing, or tells a count or a time of its own (`b.N`, `iter_custom`)",
            ));
        }
        if records.iter().any(|r| !r.warm_up && r.wall_ns == 0) {
            return Err(failure("a slice took no time: the benchmark tells a time of its own that is too coarse"));
        }
        // Where a collection was under way, a slice goes on.
        let slice_invocations = records.iter().filter(|r| !r.warm_up).map(|r| r.invocations).min();
        let slice_invocations = slice_invocations.ok_or_else(|| {
            failure(match records.len() {
                0 => "it ended before its first slice was complete",
                _ => "it ended while it warmed up: it skipped itself, or a loop of its own has to run as often as `duet_wanted()` says (`--warmup` takes less)",
            })
        })?;
        let cycle = cycle_of(&status, &records);
        let counted = || records.iter().filter(|r| !r.warm_up && r.has_cpu);
        let [cpu_ns, wall_ns] = [counted().map(|r| r.cpu_ns).sum::<u64>(), counted().map(|r| r.wall_ns).sum()];
        let own_ns = cpu_ns.saturating_sub(status.background_ns) as f64;
        let own_share = (status.background_ns > 0 && wall_ns > 0).then(|| own_ns / wall_ns as f64);
        Ok(SideRecords { role, records, slice_invocations, cycle, own_share })
    }
}

/// The cost of a collection to a side, from what it said and how many ended in the slices that count.
fn cycle_of(status: &SideStatus, records: &[Record]) -> Option<Cycle> {
    let ended = |r: &Record| r.counts_cycles.then_some(r.gcs);
    let before = records.iter().rev().find(|r| r.warm_up).map_or(Some(0), ended);
    let counted = records.last().and_then(ended).zip(before).map_or(0, |(last, before)| last.saturating_sub(before));
    (status.gc_cost_ns > 0 && status.gc_period > 0).then(|| Cycle {
        cost_ns: status.gc_cost_ns,
        period_bytes: status.gc_period,
        background_ns: (counted > 0).then(|| status.background_ns / u64::from(counted)),
    })
}

/// Largest count or time (ns, 13 days) of a record that can be: all of a trial together fit 64 bits.
const COUNT_MAX: u64 = 1 << 50;

/// Counts of a block, until the record at its end.
#[derive(Default)]
struct BlockCount {
    block: Option<u32>,
    invocations: u64,
    /// Collections that had ended by the end of the block before.
    cycles_before: u32,
}

impl BlockCount {
    fn add(&mut self, r: &Record) {
        if self.block.replace(r.block) != Some(r.block) {
            self.invocations = 0;
        }
        self.invocations += r.invocations;
    }

    /// The memory of the block that ends with this record.
    fn memory(&mut self, r: &Record, cycle: Option<Cycle>) -> Memory {
        let collections = if r.counts_cycles { r.gcs.saturating_sub(self.cycles_before) } else { r.gcs };
        self.cycles_before = r.gcs;
        Memory {
            allocations: r.has_allocs.then_some(r.allocs),
            bytes: r.bytes,
            collections,
            invocations: self.invocations,
            cycle,
        }
    }
}

/// A side's records as samples for a first look, which asks how many cores its own work keeps busy: without its collector beside it.
pub(super) fn samples_of_own_work<'a>(side: &'a SideRecords, trial: &'a Trial) -> impl Iterator<Item = Sample> + 'a {
    // In which slices it was at work is not known, so that each has what they have together.
    let own_ns = move |sample: &Sample| Some((side.own_share? * sample.wall_ns as f64) as u64);
    samples_of(side, trial)
        .map(move |sample| Sample { cpu_ns: sample.cpu_ns.map(|cpu_ns| own_ns(&sample).unwrap_or(cpu_ns)), ..sample })
}

/// A side's records as samples, with their place in the experiment.
pub(super) fn samples_of<'a>(side: &'a SideRecords, trial: &'a Trial) -> impl Iterator<Item = Sample> + 'a {
    let mut count = BlockCount::default();
    let last = side.records.last().map(|r| r.slice);
    side.records.iter().map(move |r| {
        count.add(r);
        Sample {
            at: trial.coordinates(side.role, r.slice),
            block: r.block,
            invocations: r.invocations,
            wall_ns: r.wall_ns,
            cpu_ns: r.has_cpu.then_some(r.cpu_ns),
            start_ns: r.start_ns,
            memory: r.has_memory.then(|| count.memory(r, side.cycle.filter(|_| last == Some(r.slice)))),
            cycles: r.counts_cycles.then_some(r.gcs),
            warm_up: r.warm_up,
        }
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may")]

    use std::path::{Path, PathBuf};
    use std::process::Command;

    use super::*;
    use crate::page::{NO_CORE, PageHeader, PageMode};

    /// The protocol's program with a loop, in C: its arguments are iterations and microseconds of each.
    fn compiled(dir: &Path) -> PathBuf {
        let (hook, program) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("../../hooks/c"), dir.join("loop"));
        let mut compiler = Command::new("gcc");
        compiler.arg("-I").arg(&hook).arg(hook.join("test/loop.c")).arg("-o").arg(&program);
        assert!(compiler.status().unwrap().success());
        program
    }

    fn looping(program: &Path, iterations_and_micros: [u32; 2]) -> Launch {
        Launch { args: iterations_and_micros.map(|n| n.to_string().into()).into(), ..Launch::of(program, "/") }
    }

    /// A page for twenty slices a side.
    fn header(mode: PageMode) -> PageHeader {
        PageHeader {
            mode,
            seed: 7,
            slice_ns: 0,
            trial_ns: 0,
            warmup_slices: 0,
            capacity: 100,
            block_slices: 1,
            stretch: 0,
            gc_ns: 0,
            warm_ns: 0,
            k_hint: 0,
            cores: [NO_CORE; 2],
            swap: false,
            slices: 20,
        }
    }

    /// Checks which side is blamed for the failure of a trial of two programs with so many iterations of so many microseconds each.
    fn check_blamed(sides: [[u32; 2]; 2], limit_s: u64, culprit: usize) {
        let dir = tempfile::tempdir().unwrap();
        let program = compiled(dir.path());
        let roles = [Role::Candidate, Role::Baseline];
        for mode in [PageMode::Duet, PageMode::Interleaved] {
            let page = Page::create(&dir.path().join("page"), &header(mode)).unwrap();
            let launches = sides.iter().map(|looping| self::looping(&program, *looping)).enumerate().collect();
            let run = TrialRun { launches, roles, limit: Duration::from_secs(limit_s) };
            let failure = run.gather(&page, &AtomicBool::new(false)).unwrap().err().unwrap();
            assert_eq!(failure.role, Some(roles[culprit]), "{mode:?} {sides:?}: {}", failure.reason);
        }
    }

    #[test]
    fn the_side_that_hangs_is_named_though_both_have_begun() {
        let (hangs, goes_on) = ([20, 60_000_000], [20, 300]);
        check_blamed([hangs, goes_on], 3, 0);
        check_blamed([goes_on, hangs], 3, 1);
    }

    #[test]
    fn the_side_that_ended_first_is_blamed_though_both_ended_well() {
        check_blamed([[8, 300], [22, 300]], 60, 0);
        check_blamed([[22, 300], [8, 300]], 60, 1);
    }
}
