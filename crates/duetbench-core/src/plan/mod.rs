//! The plan: which benchmarks, how each is run, how long it will take. Printable before anything is measured.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::sample::{BenchmarkId, Role};
use crate::spec::{Action, LayoutChoice, Spec, defaults};

mod budget;
mod cold;
mod definition;
mod design;
mod fleet;
mod mode;
mod profile;
mod purpose;
mod solo;
mod start;

pub use budget::{Claim, Forecast, LINK_PAIR_NS, UnitPrice, shared_out};
pub use cold::{ColdShare, lost_in_turns};
pub use definition::{Part, Redefinition};
pub use design::Design;
pub use fleet::instance_capacity;
pub use mode::Mode;
pub use profile::{FirstWarmUp, Learnt, Profile, SelfCheck, Unsteady};
pub use purpose::Purpose;
pub use solo::{Repetitions, SoloBenchmark, SoloPlan};
pub use start::{Start, Unmatched};

use design::{Relink, Share, design};
use mode::{Circumstances, choose_mode};

/// Ways in which the harness's hook can slice a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// A loop the harness controls (`b.Loop`).
    Loop,
    /// A counting loop that was rewritten to ask for more.
    Rewritten,
    /// The whole function is called again for every slice.
    Recall,
    /// The harness's own parallel loop (`RunParallel`).
    Parallel,
    /// Iterations of a loop that the harness or the program has of its own; how long one is, is settled before.
    Iteration,
    /// A whole process is a slice.
    Process,
}

impl Style {
    /// The word used in the protocol and in machine formats.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Style::Loop => "loop",
            Style::Rewritten => "rewritten",
            Style::Recall => "recall",
            Style::Parallel => "parallel",
            Style::Iteration => "iteration",
            Style::Process => "process",
        }
    }

    /// The style of this word, where there is one.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Style> {
        let all = [Style::Loop, Style::Rewritten, Style::Recall, Style::Parallel, Style::Iteration, Style::Process];
        all.into_iter().find(|s| s.word() == word)
    }

    /// Whether a side of a duet can add single invocations to its slices: none is set up for, and none is the harness's to count.
    #[must_use]
    pub fn refills(self) -> bool {
        matches!(self, Style::Loop | Style::Rewritten)
    }

    /// Whether slices are given by the harness, so that their number is asked for and not agreed upon.
    #[must_use]
    pub fn is_counted(self) -> bool {
        matches!(self, Style::Iteration | Style::Process)
    }
}

/// One benchmark as it was found when a version's benchmarks were listed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Discovered {
    /// The benchmark.
    pub id: BenchmarkId,
    /// The style in which it can be sliced.
    pub style: Style,
    /// Time of its first invocation, nanoseconds.
    pub first_ns: u64,
    /// Threads that it runs on by its own configuration; 1 where the harness has no such thing.
    pub threads: u32,
    /// Its runtime works beside it on threads of its own, as a JVM compiles and collects: it starts slowly, and lays out code anew in every
    /// process.
    pub runtime_threads: bool,
    /// Set when it failed while being listed, in its own words.
    pub failure: Option<String>,
}

/// The machine's limits, as far as planning needs to know them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// Processors this process may use.
    pub cpus: u32,
    /// Physical cores among them.
    pub cores_physical: u32,
    /// Processors that the user wants a benchmark to run on, if that was said.
    pub asked: Option<u32>,
    /// Layouts that the harness gives versions when it links them again; absent where it cannot.
    pub relinks: Option<LayoutChoice>,
}

/// Repetitions and lengths with which one benchmark is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionConfiguration {
    /// Number of fork pairs, and of builds.
    pub design: Design,
    /// Length a slice aims at, nanoseconds.
    pub slice_ns: u64,
    /// Time one side aims to measure in one trial, nanoseconds.
    pub trial_ns: u64,
    /// Slices that warm up at the start of a trial.
    pub warmup_slices: u32,
    /// The purpose of its trials.
    #[serde(default, skip_serializing_if = "Purpose::is_judged")]
    pub purpose: Purpose,
}

impl ExecutionConfiguration {
    /// Whether there can be such a configuration: what is read may come from anybody.
    #[must_use]
    pub fn is_possible(&self) -> bool {
        self.design.is_possible() && self.slice_ns > 0
    }

    /// Slices of a trial that count, where their number is asked for and not agreed upon.
    #[must_use]
    pub fn slices(&self) -> u32 {
        u32::try_from(self.trial_ns / self.slice_ns.max(1)).unwrap_or(u32::MAX).max(1)
    }
}

/// One benchmark of the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedBenchmark {
    /// The benchmark.
    pub id: BenchmarkId,
    /// The style in which it is sliced.
    pub style: Style,
    /// The mode of its trials.
    pub mode: Mode,
    /// Why this mode.
    pub mode_reason: String,
    /// Repetitions and lengths.
    pub configuration: ExecutionConfiguration,
    /// Wall time one trial will probably take, nanoseconds.
    pub trial_predicted_ns: u64,
    /// Time of the first invocation when it was listed, of the slower version, nanoseconds.
    pub first_ns: u64,
    /// Threads that it runs on by its own configuration.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub threads: u32,
    /// Its runtime works beside it on threads of its own; see [`Discovered::runtime_threads`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub runtime_threads: bool,
    /// Results of its first trials.
    pub profile: Option<Profile>,
    /// A part in which the benchmark itself differs between the versions, so that they do not measure the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redefined: Option<Redefinition>,
}

/// The number that an older stored plan does not name, since there was no other.
pub(crate) fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_one(threads: &u32) -> bool {
    *threads == 1
}

/// A benchmark that will not be compared, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Excluded {
    /// Found in one version only.
    OnlyIn(BenchmarkId, Role),
    /// Failed while it was listed.
    Failed(BenchmarkId, Role, String),
    /// Runs the same code in both versions, which was proven.
    Identical {
        /// The benchmark.
        id: BenchmarkId,
        /// Wall time that measuring it would have taken, nanoseconds.
        saved_ns: u64,
    },
    /// Its program differs, and nothing of what it can reach does, which was proven.
    NotAffected {
        /// The benchmark.
        id: BenchmarkId,
        /// Wall time that measuring it would have taken, nanoseconds.
        saved_ns: u64,
    },
}

/// Everything that is going to be measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Source of every random choice.
    pub seed: u64,
    /// Benchmarks that are measured, in name order.
    pub benchmarks: Vec<PlannedBenchmark>,
    /// Benchmarks that are not compared, in name order.
    pub excluded: Vec<Excluded>,
    /// Wall time that measuring and linking may take, nanoseconds: a budget without what first trials took of it; absent: what it
    /// takes.
    pub budget_ns: Option<u64>,
    /// Whether other work disturbed first trials, so that answers take more units.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disturbed: bool,
    /// Rounds of fresh trials that confirm regressions.
    pub confirm_rounds: u32,
    /// Spread of each mode on this machine, where that was looked at.
    pub check: Option<SelfCheck>,
    /// Whether benchmarks with few trials have them spread over the whole run, so that few suite runs hold one benchmark alone;
    /// else everyone takes part in every suite run until it ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spread: bool,
}

/// Start-up, calibration and warm-up of one process, nanoseconds; a first guess that the engine replaces by what it sees.
const FORK_OVERHEAD_NS: u64 = 20_000_000;
/// The same where a runtime works beside the benchmark, which is mostly the start of two JVMs.
const RUNTIME_OVERHEAD_NS: u64 = 1_000_000_000;
/// Forking and reaping a process that is a slice, nanoseconds: no part of what it takes, but of what a trial does.
const PROCESS_OVERHEAD_NS: u64 = 1_000_000;
/// Linking one program again, nanoseconds; as rough.
const LINK_NS: u64 = 300_000_000;

impl Plan {
    /// Joins what was found in both versions and settles how each benchmark is run.
    #[must_use]
    pub fn new(spec: &Spec, found: &Found<'_>, capacity: Capacity) -> Plan {
        let (common, mut excluded) = join(found);
        let proven = |c: &Common| !spec.measure_identical && found.identical.contains(&c.id.package);
        let (identical, rest): (Vec<Common>, Vec<Common>) = common.into_iter().partition(proven);
        let not_affected = |c: &Common| !spec.measure_identical && found.not_affected.contains(&c.id.family());
        let (not_affected, measured): (Vec<Common>, Vec<Common>) = rest.into_iter().partition(not_affected);
        let budget_ns = spec.effort.budget.map(nanos);
        let share_ns = budget_ns.map(|total| total / (measured.len().max(1) as u64));
        let mut siblings: BTreeMap<String, u64> = BTreeMap::new();
        measured.iter().for_each(|c| *siblings.entry(c.id.package.clone()).or_default() += 1);
        let plan = |c: Common| {
            let siblings = siblings.get(&c.id.package).copied().unwrap_or(1);
            c.plan(spec, capacity, share_ns, siblings)
        };
        excluded.extend(
            identical.into_iter().map(plan).map(|b| Excluded::Identical { saved_ns: b.predicted_ns(), id: b.id }),
        );
        excluded.extend(
            not_affected.into_iter().map(plan).map(|b| Excluded::NotAffected { saved_ns: b.predicted_ns(), id: b.id }),
        );
        excluded.sort_by(|a, b| a.id().cmp(b.id()));
        let confirm_rounds = if spec.effort.confirm { defaults::CONFIRM_ROUNDS } else { 0 };
        let benchmarks = measured.into_iter().map(plan).collect();
        Plan {
            seed: spec.seed,
            benchmarks,
            excluded,
            budget_ns,
            disturbed: false,
            confirm_rounds,
            check: None,
            spread: false,
        }
    }

    /// Settles modes and lengths again, now that first trials were seen. What was excluded stays so, and so does the design.
    pub fn learn(&mut self, learnt: Learnt, spec: &Spec, capacity: Capacity) {
        let mut profiles = learnt.profiles.into_iter();
        for planned in &mut self.benchmarks {
            planned.profile = profiles.next().flatten();
            let (choice, style, profile, threads) = (spec.mode, planned.style, planned.profile, planned.threads);
            let runtime_threads = planned.runtime_threads;
            let check = learnt.check.as_ref();
            let (mode, mode_reason) =
                choose_mode(&Circumstances { choice, style, threads, runtime_threads, profile, capacity, check });
            let warmup_slices = warmup_slices(style, planned.first_ns, spec, profile);
            let runtime_threads = planned.runtime_threads;
            let manner = Manner { mode, style, first_ns: planned.first_ns, warmup_slices, runtime_threads };
            let cold_share = profile.and_then(|p| p.cold_share);
            let lengths = Lengths::of(manner).outweighing(cold_share, manner).refilled(profile, manner);
            let warmup_slices = lengths.warmed_up_by(manner);
            (planned.mode, planned.mode_reason) = (mode, mode_reason);
            planned.configuration = ExecutionConfiguration {
                slice_ns: lengths.slice_ns,
                trial_ns: lengths.trial_ns,
                warmup_slices,
                ..planned.configuration
            };
            planned.trial_predicted_ns = lengths.predicted_ns;
        }
        self.check = learnt.check;
    }

    /// Notes which benchmarks are defined differently in the two versions, and which of them are judged all the same: those that
    /// rules gate, or all. Cases of a benchmark have its definition.
    pub fn note_redefined(&mut self, redefined: &BTreeMap<BenchmarkId, Redefinition>, spec: &Spec) {
        for planned in &mut self.benchmarks {
            let gates = spec.rules.redefined(&planned.id) == Some(Action::Gate);
            let found = redefined.get(&planned.id.family()).cloned();
            planned.redefined = found.map(|found| Redefinition { tolerated: spec.same_benchmarks || gates, ..found });
        }
    }

    /// Wall time that measuring will take at most, if it goes as predicted; most benchmarks end much earlier.
    #[must_use]
    pub fn predicted(&self) -> Duration {
        let trials: u64 = self.benchmarks.iter().map(PlannedBenchmark::predicted_ns).sum();
        let all = trials + self.links() * LINK_NS;
        Duration::from_nanos(self.budget_ns.map_or(all, |budget| all.min(budget)))
    }

    /// Programs that will be linked again at most.
    fn links(&self) -> u64 {
        let mut units: BTreeMap<&str, u32> = BTreeMap::new();
        for b in self.benchmarks.iter().filter(|b| b.configuration.design.by_build) {
            let most = units.entry(&b.id.package).or_default();
            *most = b.configuration.design.units.max(*most);
        }
        2 * units.into_values().map(u64::from).sum::<u64>()
    }
}

/// The benchmarks of both versions, filtered, in any order.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    /// The baseline's benchmarks.
    pub baseline: &'a [Discovered],
    /// The candidate's benchmarks.
    pub candidate: &'a [Discovered],
    /// Packages that are proven to run the same code in both.
    pub identical: &'a BTreeSet<String>,
    /// Benchmarks that are proven to reach the same code in both; cases of a benchmark go by its name.
    pub not_affected: &'a BTreeSet<BenchmarkId>,
}

impl PlannedBenchmark {
    /// Whether its times are those of the same benchmark in both versions, as far as that matters.
    #[must_use]
    pub fn tells_of_the_code(&self) -> bool {
        self.redefined.as_ref().is_none_or(|redefined| redefined.tolerated)
    }

    /// Share of its slices that getting warm still takes in this mode: a change of the work reads smaller by it. Absent where it was
    /// not looked at, and in modes in which the versions do not share caches.
    #[must_use]
    pub fn cold_share_left(&self, mode: Mode) -> Option<f64> {
        let cold_share = self.profile?.cold_share.filter(|_| mode == Mode::InterleavedOneCore)?;
        Some(cold_share * defaults::SLICE_NS as f64 / self.configuration.slice_ns.max(1) as f64)
    }

    /// Whether the faster of two versions in a duet goes on until the slower is through, where that takes so long for an invocation.
    #[must_use]
    pub fn is_refilled(&self, invocation_ns: f64) -> bool {
        self.style.refills() && self.configuration.slice_ns as f64 >= defaults::REFILLED_MIN * invocation_ns
    }

    /// Wall time of all its trials, if it goes as predicted and none can be saved, nanoseconds.
    #[must_use]
    pub fn predicted_ns(&self) -> u64 {
        self.trial_predicted_ns.saturating_mul(u64::from(self.configuration.design.forks()))
    }
}

/// A benchmark found in both versions.
struct Common {
    id: BenchmarkId,
    style: Style,
    first_ns: u64,
    threads: u32,
    runtime_threads: bool,
}

fn join(found: &Found<'_>) -> (Vec<Common>, Vec<Excluded>) {
    let sorted = |list: &[Discovered]| {
        list.iter().map(|d| (d.id.clone(), d.clone())).collect::<std::collections::BTreeMap<_, _>>()
    };
    let (baseline, mut candidate) = (sorted(found.baseline), sorted(found.candidate));
    let (mut common, mut excluded) = (Vec::new(), Vec::new());
    for (id, b) in baseline {
        match (b.failure, candidate.remove(&id)) {
            (Some(words), _) => excluded.push(Excluded::Failed(id, Role::Baseline, words)),
            (None, None) => excluded.push(Excluded::OnlyIn(id, Role::Baseline)),
            (None, Some(c)) => match c.failure {
                Some(words) => excluded.push(Excluded::Failed(id, Role::Candidate, words)),
                None => common.push(Common {
                    id,
                    style: slower_style(b.style, c.style),
                    first_ns: b.first_ns.max(c.first_ns),
                    threads: b.threads.max(c.threads),
                    runtime_threads: b.runtime_threads || c.runtime_threads,
                }),
            },
        }
    }
    excluded.extend(candidate.into_iter().map(|(id, c)| match c.failure {
        Some(words) => Excluded::Failed(id, Role::Candidate, words),
        None => Excluded::OnlyIn(id, Role::Candidate),
    }));
    excluded.sort_by(|a, b| a.id().cmp(b.id()));
    (common, excluded)
}

impl Excluded {
    /// The benchmark.
    #[must_use]
    pub fn id(&self) -> &BenchmarkId {
        match self {
            Excluded::OnlyIn(id, _) | Excluded::Failed(id, ..) => id,
            Excluded::Identical { id, .. } | Excluded::NotAffected { id, .. } => id,
        }
    }

    /// Wall time that is saved where it is proven that no change can show, nanoseconds.
    #[must_use]
    pub fn saved_ns(&self) -> Option<u64> {
        match self {
            Excluded::Identical { saved_ns, .. } | Excluded::NotAffected { saved_ns, .. } => Some(*saved_ns),
            Excluded::OnlyIn(..) | Excluded::Failed(..) => None,
        }
    }
}

/// The style that constrains the pair: a parallel side decides, then a side that must be called again.
fn slower_style(a: Style, b: Style) -> Style {
    let rank = |s| match s {
        Style::Loop => 0,
        Style::Rewritten => 1,
        Style::Recall => 2,
        Style::Parallel => 3,
        Style::Iteration => 4,
        Style::Process => 5,
    };
    if rank(a) >= rank(b) { a } else { b }
}

impl Common {
    /// `siblings` is the number of benchmarks in its package.
    fn plan(self, spec: &Spec, capacity: Capacity, share_ns: Option<u64>, siblings: u64) -> PlannedBenchmark {
        let (choice, style, threads, runtime_threads) = (spec.mode, self.style, self.threads, self.runtime_threads);
        let circumstances =
            Circumstances { choice, style, threads, runtime_threads, profile: None, capacity, check: None };
        let (mode, mode_reason) = choose_mode(&circumstances);
        let warmup_slices = warmup_slices(style, self.first_ns, spec, None);
        let manner = Manner { mode, style, first_ns: self.first_ns, warmup_slices, runtime_threads };
        let lengths = Lengths::of(manner);
        let warmup_slices = lengths.warmed_up_by(manner);
        let Lengths { slice_ns, trial_ns, predicted_ns: trial_predicted_ns } = lengths;
        let share = share_ns.map(|share_ns| Share { share_ns, trial_ns: trial_predicted_ns });
        let cost_ns = 2 * LINK_NS / (u64::from(capacity.cpus) * siblings).max(1);
        let beside_ns = if capacity.cpus > 1 { 2 * LINK_NS / siblings.max(1) } else { 0 };
        let relink =
            capacity.relinks.map(|layouts| Relink { layouts, cost_ns, beside_ns, trial_ns: trial_predicted_ns });
        let design = design(spec.effort, share, relink);
        let configuration =
            ExecutionConfiguration { design, slice_ns, trial_ns, warmup_slices, purpose: Purpose::Judged };
        PlannedBenchmark {
            id: self.id,
            style: self.style,
            mode,
            mode_reason,
            configuration,
            trial_predicted_ns,
            first_ns: self.first_ns,
            threads,
            runtime_threads,
            profile: None,
            redefined: None,
        }
    }
}

/// Slices at the start of a trial that warm up: as asked, as its first trial showed, or as is usual.
fn warmup_slices(style: Style, first_ns: u64, spec: &Spec, profile: Option<Profile>) -> u32 {
    match style {
        Style::Iteration => {
            let found = || profile.and_then(|p| p.warmup_slices);
            spec.harness.warmup.or_else(found).unwrap_or_else(|| usual_warm_up(first_ns))
        }
        // Each process is new; only what the system keeps of files warms up, which is for the user to ask for.
        Style::Process => spec.harness.commands.iter().map(|c| c.warmup).max().unwrap_or(0),
        Style::Loop | Style::Rewritten | Style::Recall | Style::Parallel => defaults::WARMUP_SLICES,
    }
}

/// Iterations that warm up where nothing says how many: as long as [`defaults::WARMUP_ITERATIONS`] usual ones take, if they are longer.
fn usual_warm_up(first_ns: u64) -> u32 {
    let usual_ns = u64::from(defaults::WARMUP_ITERATIONS) * defaults::ITERATION_NS;
    let iterations = (usual_ns / first_ns.max(defaults::ITERATION_NS)).max(defaults::ITERATIONS_MIN);
    u32::try_from(iterations).unwrap_or(u32::MAX)
}

/// Fewest slices that warm up where they are longer than usual.
const LONG_WARMUP_MIN: u32 = 2;

/// The manner in which a benchmark is run, as far as its lengths depend on it.
#[derive(Clone, Copy)]
struct Manner {
    mode: Mode,
    style: Style,
    /// Time of the first invocation, nanoseconds.
    first_ns: u64,
    warmup_slices: u32,
    /// Its runtime starts slowly; see [`PlannedBenchmark::runtime_threads`].
    runtime_threads: bool,
}

/// Lengths of slices and trials, nanoseconds.
struct Lengths {
    slice_ns: u64,
    trial_ns: u64,
    predicted_ns: u64,
}

impl Lengths {
    /// Those that are usual.
    fn of(manner: Manner) -> Lengths {
        let Manner { mode, style, first_ns, .. } = manner;
        let (slice_ns, trial_ns) = match (style, mode) {
            (Style::Iteration, _) => {
                let iteration_ns = first_ns.max(defaults::ITERATION_NS);
                (iteration_ns, defaults::TRIAL_ITERATIONS_NS.max(defaults::ITERATIONS_MIN.saturating_mul(iteration_ns)))
            }
            (Style::Process, _) => {
                let process_ns = first_ns.saturating_add(PROCESS_OVERHEAD_NS);
                (process_ns, defaults::TRIAL_PROCESSES_NS.max(process_ns))
            }
            // Several threads take a while to get going, so short slices would measure their start.
            (_, Mode::InterleavedAllCores) => (defaults::SLICE_ALL_CORES_NS, defaults::TRIAL_ALL_CORES_NS),
            (_, Mode::Duet | Mode::InterleavedOneCore | Mode::Sequential) => (defaults::SLICE_NS, defaults::TRIAL_NS),
        };
        let lengths = Lengths { slice_ns, trial_ns, predicted_ns: 0 };
        lengths.with_trial(trial_ns, manner)
    }

    /// The same with slices so long that getting warm takes no more than [`defaults::COLD_MAX`] of them, or [`defaults::COLD_LARGE`]
    /// where they would get too long, and trials that have enough of these. Only versions that take turns on one core use each
    /// other's caches.
    fn outweighing(self, cold_share: Option<f64>, manner: Manner) -> Lengths {
        let shares_caches = manner.mode == Mode::InterleavedOneCore && !manner.style.is_counted();
        let Some(cold_share) = cold_share.filter(|_| shares_caches) else { return self };
        let small = (cold_share / defaults::COLD_MAX).clamp(1.0, defaults::COLD_FACTOR_MAX);
        let large = (cold_share / defaults::COLD_LARGE).min(defaults::COLD_LARGE_FACTOR_MAX);
        let factor = small.max(large);
        let slice_ns = (self.slice_ns as f64 * factor) as u64;
        self.with_slices(slice_ns, manner)
    }

    /// The same with slices of so many invocations that a duet is refilled, unless they would get too long.
    fn refilled(self, profile: Option<Profile>, manner: Manner) -> Lengths {
        let refills = manner.mode == Mode::Duet && manner.style.refills();
        let Some(profile) = profile.filter(|_| refills) else { return self };
        // Beside the other version an invocation takes longer than alone, at most about twice as long.
        let wanted_ns = (2.0 * defaults::REFILLED_MIN * profile.invocation_ns) as u64;
        if wanted_ns <= self.slice_ns || wanted_ns > defaults::REFILLED_SLICE_MAX_NS {
            return self;
        }
        self.with_slices(wanted_ns, manner)
    }

    /// The same with longer slices, and a trial that has enough of them.
    fn with_slices(self, slice_ns: u64, manner: Manner) -> Lengths {
        let trial_ns = self.trial_ns.max(defaults::SLICES_MIN * slice_ns);
        Lengths { slice_ns, ..self }.with_trial(trial_ns, manner)
    }

    /// Slices that warm up: as many as were meant, or fewer of longer ones, which take as long and are two at least, or four where several
    /// threads get going.
    fn warmed_up_by(&self, manner: Manner) -> u32 {
        let slice_ns = if manner.style.is_counted() { Lengths::of(manner).slice_ns } else { defaults::SLICE_NS };
        let usual = slice_ns.saturating_mul(manner.warmup_slices.into());
        let as_long = u32::try_from(usual.div_ceil(self.slice_ns.max(1))).unwrap_or(u32::MAX);
        let least = if manner.mode == Mode::InterleavedAllCores { 2 * LONG_WARMUP_MIN } else { LONG_WARMUP_MIN };
        manner.warmup_slices.min(as_long.max(least))
    }

    /// The same with trials of another length.
    fn with_trial(self, trial_ns: u64, manner: Manner) -> Lengths {
        let Manner { mode, style, first_ns, warmup_slices, runtime_threads } = manner;
        let side_ns = if style.is_counted() {
            let start_ns = match style {
                Style::Process => 0,
                _ if runtime_threads => RUNTIME_OVERHEAD_NS,
                _ => FORK_OVERHEAD_NS,
            };
            start_ns.saturating_add(trial_ns).saturating_add(self.slice_ns.saturating_mul(warmup_slices.into()))
        } else {
            // A benchmark slower than the trial runs one invocation to calibrate and one to measure.
            FORK_OVERHEAD_NS.saturating_add(trial_ns.max(first_ns.saturating_mul(2)))
        };
        let sides = if mode == Mode::Duet { 1 } else { 2 };
        Lengths { trial_ns, predicted_ns: side_ns.saturating_mul(sides), ..self }
    }
}

fn nanos(d: Duration) -> u64 {
    u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)
}
