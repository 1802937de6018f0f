//! Processes whose instructions are counted under callgrind, to say whether a change of time is one of work. They give no sample of the run.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use duetbench_core::Role;
use duetbench_core::instructions::{InstructionCounts, PROCESSES, ProcessCount, SideCounts};
use duetbench_core::plan::{Plan, PlannedBenchmark, Style};

use super::profiling::read_regular;
use super::unmeasured::{BuildPairs, Obstacle, Processes};
use crate::adapter::{Adapter, Build};
use crate::callgrind::{self, FILE_BYTES_MAX};
use crate::error::RunError;
use crate::machine_code::Comparison;
use crate::process::{Launch, end_leftovers};
use crate::program::{Patience, Trouble};
use crate::scratch::Scratch;

/// A process makes at least this part of these invocations, so that what only the first ones do is in both kinds.
const FEWER_SHARE: u64 = 10;
/// Go makes one invocation before it counts, so that a process of one makes fewer than it says.
const FEWER_MIN: u64 = 2;
/// Most invocations by which they differ.
const EXTRA_MAX: f64 = 1e9;
/// Times slower than without callgrind that code runs at worst.
const SLOWDOWN: f64 = 50.0;
/// Longest that a process may be expected to take.
const EXPECTED_MAX: Duration = Duration::from_secs(120);
/// Code under callgrind usually is so much less slow.
const USUAL_SHARE: f64 = 4.0;
/// Time that a process takes to start and end under callgrind.
const START: Duration = Duration::from_millis(600);
/// Most processes of one program, its children among them, whose counts are added up.
const CHILDREN_MAX: usize = 256;

/// Arguments of valgrind: instructions alone, because simulated caches depend on where data happen to lie. Neither a file of the project
/// nor a variable adds any, no pipe for debuggers is made, and functions that call themselves are one.
const OPTIONS: [&str; 7] = [
    "--command-line-only=yes", "--tool=callgrind", "--cache-sim=no", "--branch-sim=no", "--dump-line=no",
    "--separate-recs=1", "--vgdb=no",
];

/// Counts instructions of the benchmarks of two builds on this machine.
pub struct Counter<'a> {
    processes: Processes<'a>,
    valgrind: Valgrind,
    files: Scratch,
    pairs: BuildPairs,
    /// The programs of the packages of which a benchmark was counted.
    programs: BTreeMap<String, CountedPair>,
}

/// The programs of a package that are counted.
struct CountedPair {
    /// Halves of a matched build pair, the baseline's first; absent where the builds themselves are counted.
    matched: Option<[PathBuf; 2]>,
    /// Their functions; absent where a program cannot be read.
    functions: Option<Comparison>,
}

/// The program that counts, for benchmarks of one kind.
#[derive(Debug)]
pub struct Valgrind {
    program: PathBuf,
    /// Time that the invocations take without callgrind by which the two kinds of processes differ.
    extra: Duration,
}

/// Finds valgrind for benchmarks of this kind.
///
/// # Errors
/// In words, why their instructions cannot be counted.
pub fn valgrind_for(adapter: &dyn Adapter) -> Result<Valgrind, String> {
    let extra = adapter.counts()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|dir| dir.join("valgrind")).find(|file| file.is_file());
    let program =
        found.ok_or("instructions are counted by valgrind, which is not on the `PATH` (`apt-get install valgrind`)")?;
    Ok(Valgrind { program, extra })
}

impl<'a> Counter<'a> {
    /// A counter for two builds, baseline first, with this valgrind. A process that takes `timeout` longer than expected counts as hung.
    ///
    /// # Errors
    /// When no private directory can be made.
    pub fn new(
        adapter: &'a dyn Adapter,
        builds: [Build; 2],
        valgrind: Valgrind,
        timeout: Duration,
        interrupted: Arc<AtomicBool>,
    ) -> Result<Counter<'a>, RunError> {
        let processes = Processes::new(adapter, builds, timeout, interrupted);
        let pairs = BuildPairs::new()?;
        Ok(Counter { processes, valgrind, files: Scratch::in_memory()?, pairs, programs: BTreeMap::new() })
    }

    /// Wall time that counting a benchmark probably takes, by its first invocation; none where that would take too long.
    pub fn takes(&self, planned: &PlannedBenchmark) -> Duration {
        self.made(planned, planned.first_ns as f64).usual() * 2 * PROCESSES
    }

    /// The processes in which a benchmark is counted that takes so long per operation.
    fn made(&self, planned: &PlannedBenchmark, slower_ns: f64) -> Made {
        let whole = self.processes.program(planned, Role::Baseline).is_some();
        let invocations = if whole { [0, 1] } else { invocations(self.valgrind.extra, slower_ns) };
        Made { invocations, whole, slower_ns }
    }

    /// Counts the instructions of both sides of a benchmark that takes so long per operation in the slower version, in nanoseconds: of processes with
    /// fewer and of processes with more invocations, or of whole programs.
    ///
    /// Collecting only within the function that is measured (`--toggle-collect`) is exact for a loop, but no better where code allocates
    /// (docs/studies/counts.md), and the function of a sub-benchmark is not known.
    ///
    /// # Errors
    /// When a process fails or hangs, would take too long, or its file cannot be used; on an interrupt.
    pub fn count(
        &mut self,
        plan: &Plan,
        planned: &PlannedBenchmark,
        slower_ns: f64,
    ) -> Result<InstructionCounts, Obstacle> {
        if planned.style == Style::Iteration {
            let why = "a loop of its own runs only beside the other version's: without `--lockstep` the whole program is counted";
            return Err(Obstacle::Failed(why.into()));
        }
        let made = self.made(planned, slower_ns);
        let Made { invocations, whole, .. } = made;
        let Some(expected) = made.expected() else {
            return Err(Obstacle::Failed(format!(
                "an operation of {:.1} s would take minutes under callgrind, which is up to {SLOWDOWN:.0} times slower",
                slower_ns / 1e9
            )));
        };
        if !whole {
            self.provide(plan, planned)?;
        }
        let mut counted: [[Vec<ProcessCount>; 2]; 2] = Default::default();
        for _ in 0..PROCESSES {
            for role in Role::BOTH {
                for kind in made.kinds() {
                    let count = self.process(planned, role, *kind, expected)?;
                    let kind = usize::from(*kind == invocations[1]);
                    counted[role.index()][kind].push(count);
                }
            }
        }
        let sides = counted.each_ref().map(|[fewer, more]| SideCounts { fewer, more });
        let mut counts = InstructionCounts::of(sides, invocations)
            .ok_or_else(|| Obstacle::Failed("more invocations did not execute more instructions".into()))?;
        if !whole {
            let functions = counted.iter().flatten().flatten().flat_map(|process| process.functions.keys());
            let programs = self.programs.get(&planned.id.package).and_then(|pair| pair.functions.as_ref());
            counts.code = programs.and_then(|both| both.executed(&functions.map(String::as_str).collect()));
        }
        Ok(counts)
    }

    /// Has the programs of a benchmark's package at hand. Those of a matched build pair have the same bytes where no code changed; in the builds
    /// themselves everything behind a change has moved.
    fn provide(&mut self, plan: &Plan, planned: &PlannedBenchmark) -> Result<(), Obstacle> {
        let package = planned.id.package.as_str();
        if self.programs.contains_key(package) {
            return Ok(());
        }
        if self.processes.matches(package) {
            let former = self.programs.iter().filter(|(_, pair)| pair.matched.is_some());
            let packages: Vec<&str> = former.map(|(package, _)| package.as_str()).chain([package]).collect();
            self.pairs.provide(&self.processes, plan, &packages, 1)?;
        }
        // Linking may have shown that the halves are not alike.
        let is_matched = self.processes.matches(package);
        let matched = is_matched.then(|| Role::BOTH.map(|role| self.pairs.program(role, package, 0)));
        let [baseline, candidate] = match &matched {
            Some(programs) => programs.clone(),
            None => {
                let [baseline, candidate] = Role::BOTH.map(|role| self.processes.counted(planned, role, FEWER_MIN));
                [baseline?.program, candidate?.program]
            }
        };
        let functions = Comparison::of([&baseline, &candidate]);
        self.programs.insert(package.to_owned(), CountedPair { matched, functions });
        Ok(())
    }

    /// The counts of one process, which makes so many invocations.
    fn process(
        &self,
        planned: &PlannedBenchmark,
        role: Role,
        invocations: u64,
        expected: Duration,
    ) -> Result<ProcessCount, Obstacle> {
        if let Some(mut program) = self.processes.program(planned, role) {
            // Whatever a program starts is a part of it.
            program.launch = self.under(
                &program.launch,
                &self.files.path().join("%p").with_extension(COUNTS),
                "--trace-children=yes",
            );
            let patience =
                Patience { limit: self.processes.timeout() + expected, interrupted: self.processes.interrupted() };
            let ran = program.run(patience);
            // A process that goes on would be counted with the next process.
            end_leftovers(&planned.id.name);
            let counts = self.added_up();
            return match ran {
                Ok(_) => counts,
                Err(Trouble::Failed { reason, .. }) => Err(Obstacle::Failed(reason)),
                Err(Trouble::Fatal(error)) => Err(error.into()),
            };
        }
        let mut launch = self.processes.counted(planned, role, invocations)?;
        if let Some([baseline, candidate]) =
            self.programs.get(&planned.id.package).and_then(|pair| pair.matched.as_ref())
        {
            if role == Role::Baseline { baseline } else { candidate }.clone_into(&mut launch.program);
        }
        let file = self.files.path().join("counts").with_extension(COUNTS);
        let launch = self.under(&launch, &file, "--trace-children=no");
        self.processes.to_end(&planned.id.name, &launch, expected)?;
        taken(&file)
    }

    /// The same process under callgrind.
    fn under(&self, launch: &Launch, file: &Path, children: &str) -> Launch {
        let out = OsString::from_iter(["--callgrind-out-file=".as_ref(), file.as_os_str()]);
        let options = OPTIONS.iter().map(OsString::from).chain([children.into(), out]);
        let own = [launch.program.clone().into_os_string()].into_iter().chain(launch.args.iter().cloned());
        // Valgrind's own process is not hooked, so somebody else has to see to it that it dies with us.
        Launch {
            program: self.valgrind.program.clone(),
            args: options.chain(own).collect(),
            hooked: false,
            writes: vec![self.files.path().to_owned()],
            ..launch.clone()
        }
    }

    /// The counts of a program and of what it started, each in a file of its own; takes the files away.
    fn added_up(&self) -> Result<ProcessCount, Obstacle> {
        let dir = self.files.path();
        let entries = fs::read_dir(dir).map_err(|e| RunError::file("read", dir, e))?;
        let is_count = |path: &PathBuf| path.extension().is_some_and(|extension| extension == COUNTS);
        let files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_count).collect();
        let mut sum = ProcessCount::default();
        let counts: Vec<Result<ProcessCount, Obstacle>> = files.iter().map(|file| taken(file)).collect();
        if counts.is_empty() || counts.len() > CHILDREN_MAX {
            let why = format!("it left the counts of {} processes; at most {CHILDREN_MAX} are added up", counts.len());
            return Err(Obstacle::Failed(why));
        }
        for count in counts {
            for (name, own) in count?.functions {
                let all = sum.functions.entry(name).or_default();
                *all = all.saturating_add(own);
            }
        }
        Ok(sum)
    }
}

/// Extension of files of counts: others keep the folder ours.
const COUNTS: &str = "out";

/// The processes in which a benchmark is counted.
struct Made {
    /// Invocations of both kinds; of a whole program there is the second kind alone.
    invocations: [u64; 2],
    /// Programs are counted whole.
    whole: bool,
    /// Time of an invocation without callgrind.
    slower_ns: f64,
}

impl Made {
    fn kinds(&self) -> &[u64] {
        &self.invocations[usize::from(self.whole)..]
    }

    /// Time that so many invocations take under callgrind at worst.
    fn at_worst(&self, invocations: u64) -> Duration {
        Duration::from_secs_f64(self.slower_ns / 1e9 * invocations as f64 * SLOWDOWN)
    }

    /// Longest that a process takes; absent if nobody should wait for that.
    fn expected(&self) -> Option<Duration> {
        let longest = self.at_worst(self.invocations[1]);
        (longest <= EXPECTED_MAX).then_some(START + longest)
    }

    /// Time that one process of each kind usually takes; none where nobody waits for them.
    fn usual(&self) -> Duration {
        let kinds = if self.expected().is_some() { self.kinds() } else { &[] };
        kinds.iter().map(|kind| START + self.at_worst(*kind).div_f64(USUAL_SHARE)).sum()
    }
}

/// Reads a file of counts, and takes it away.
fn taken(file: &Path) -> Result<ProcessCount, Obstacle> {
    let bytes = read_regular(file, FILE_BYTES_MAX, "read the counts");
    let _ = fs::remove_file(file);
    callgrind::parse(&bytes?).map_err(|e| Obstacle::Failed(e.to_string()))
}

/// Fewer and more invocations of an operation that takes so long; those beyond the fewer take the extra time.
fn invocations(extra: Duration, slower_ns: f64) -> [u64; 2] {
    let extra = (extra.as_secs_f64() * 1e9 / slower_ns.max(0.1)).clamp(1.0, EXTRA_MAX) as u64;
    let fewer = (extra / FEWER_SHARE).max(FEWER_MIN);
    [fewer, fewer + extra]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extra_invocations_take_their_time_and_are_at_least_one() {
        let invocations = |slower_ns| invocations(Duration::from_millis(30), slower_ns);
        assert_eq!(invocations(1000.0), [3000, 33_000]);
        assert_eq!(invocations(10e6), [2, 5]);
        assert_eq!(invocations(9e9), [2, 3]);
        assert_eq!(invocations(0.0), [30_000_000, 330_000_000]);
    }

    #[test]
    fn what_a_program_takes_to_count_follows_from_how_long_it_runs() {
        let usual = |slower_ns| Made { invocations: [0, 1], whole: true, slower_ns }.usual();
        assert_eq!(usual(1e6), START + Duration::from_micros(12_500));
        assert_eq!(usual(2e9), START + Duration::from_secs(25));
        assert_eq!(usual(3e9), Duration::ZERO, "it is not counted");
        let both = Made { invocations: [3, 33], whole: false, slower_ns: 1e6 };
        assert_eq!(both.usual(), START * 2 + Duration::from_micros(450_000));
    }
}
