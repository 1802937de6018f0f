//! The plan: which benchmarks, how each is run, how long it will take. Printable before anything is measured.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::sample::{BenchmarkId, Role};
use crate::spec::{Effort, ModeChoice, Spec, defaults};
use crate::stats;

/// How the two sides of a trial are run on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Both at once, each on a core of its own, meeting before every slice.
    Duet,
    /// One at a time, slices alternating, both on the same core.
    InterleavedOneCore,
    /// One at a time, slices alternating, each free to use every core.
    InterleavedAllCores,
    /// Whole processes, one after the other.
    Sequential,
}

impl Mode {
    /// The word used in machine formats.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Mode::Duet => "duet",
            Mode::InterleavedOneCore => "interleaved_one_core",
            Mode::InterleavedAllCores => "interleaved_all_cores",
            Mode::Sequential => "sequential",
        }
    }

    /// The words used for people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Mode::Duet => "duet",
            Mode::InterleavedOneCore => "interleaved on one core",
            Mode::InterleavedAllCores => "interleaved on all cores",
            Mode::Sequential => "sequential",
        }
    }
}

/// How the harness's hook can slice a benchmark.
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
        }
    }

    /// The style of this word, where there is one.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Style> {
        [Style::Loop, Style::Rewritten, Style::Recall, Style::Parallel].into_iter().find(|s| s.word() == word)
    }
}

/// What listing one version's benchmarks told about one of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Discovered {
    /// Which benchmark.
    pub id: BenchmarkId,
    /// How it can be sliced.
    pub style: Style,
    /// Time of its first invocation, nanoseconds.
    pub first_ns: u64,
    /// Set when it failed while being listed, in its own words.
    pub failure: Option<String>,
}

/// What the machine allows, as far as planning needs to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// Processors this process may use.
    pub cpus: u32,
    /// Physical cores among them.
    pub cores_physical: u32,
    /// Processors that the user wants a benchmark to run on, if that was said.
    pub asked: Option<u32>,
    /// Whether the harness can link a version again in another order.
    pub relinks: bool,
}

/// How the fork pairs of one benchmark make up units of inference, and whether these are looked at while measuring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Design {
    /// Units after which the benchmark ends in any case.
    pub units: u32,
    /// Fork pairs in each.
    pub forks_per_unit: u32,
    /// The first units, as many as this, have one fork pair more.
    pub doubled: u32,
    /// Whether each unit has a build pair of its own; else all are forks of one build pair.
    pub by_build: bool,
    /// Whether measuring ends as soon as the answer is known.
    pub sequential: bool,
}

impl Design {
    /// Fork pairs after which the benchmark ends in any case.
    #[must_use]
    pub fn forks(&self) -> u32 {
        self.forks_of(self.units)
    }

    /// Fork pairs of the first units.
    #[must_use]
    pub fn forks_of(&self, units: u32) -> u32 {
        units.saturating_mul(self.forks_per_unit).saturating_add(units.min(self.doubled))
    }

    /// The unit that a suite run belongs to.
    #[must_use]
    pub fn unit(&self, suite_run: u32) -> u32 {
        let (each, in_doubled) = (self.forks_per_unit.max(1), self.forks_of(self.doubled));
        if suite_run < in_doubled { suite_run / (each + 1) } else { self.doubled + (suite_run - in_doubled) / each }
    }
}

/// How one benchmark is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionConfiguration {
    /// How many fork pairs, of how many builds.
    pub design: Design,
    /// Length a slice aims at, nanoseconds.
    pub slice_ns: u64,
    /// Time one side aims to measure in one trial, nanoseconds.
    pub trial_ns: u64,
    /// Slices that warm up at the start of a trial.
    pub warmup_slices: u32,
}

/// One benchmark of the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedBenchmark {
    /// Which benchmark.
    pub id: BenchmarkId,
    /// How it is sliced.
    pub style: Style,
    /// How the two sides are run.
    pub mode: Mode,
    /// Why this mode.
    pub mode_reason: String,
    /// Repetitions and lengths.
    pub configuration: ExecutionConfiguration,
    /// Wall time one trial will probably take, nanoseconds.
    pub trial_predicted_ns: u64,
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
        /// Which benchmark.
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
    /// What is measured, in name order.
    pub benchmarks: Vec<PlannedBenchmark>,
    /// What is not, in name order.
    pub excluded: Vec<Excluded>,
    /// Wall time that measuring and linking may take, nanoseconds; absent: what it takes.
    pub budget_ns: Option<u64>,
    /// Rounds of fresh trials that confirm regressions.
    pub confirm_rounds: u32,
}

/// Start-up, calibration and warm-up of one process, nanoseconds; a first guess that the engine replaces by what it sees.
const FORK_OVERHEAD_NS: u64 = 20_000_000;
/// Linking one program again, nanoseconds; as rough.
const LINK_NS: u64 = 600_000_000;

impl Plan {
    /// Joins what was found in both versions and settles how each benchmark is run.
    #[must_use]
    pub fn new(spec: &Spec, found: &Found<'_>, capacity: Capacity) -> Plan {
        let (common, mut excluded) = join(found);
        let (identical, measured): (Vec<Common>, Vec<Common>) =
            common.into_iter().partition(|c| !spec.measure_identical && found.identical.contains(&c.id.package));
        let budget_ns = spec.effort.budget.map(nanos);
        let share_ns = budget_ns.map(|total| total / (measured.len().max(1) as u64));
        let mut siblings: BTreeMap<String, u64> = BTreeMap::new();
        measured.iter().for_each(|c| *siblings.entry(c.id.package.clone()).or_default() += 1);
        let plan = |c: Common| {
            let siblings = siblings.get(&c.id.package).copied().unwrap_or(1);
            c.plan(spec, capacity, (share_ns, siblings))
        };
        excluded.extend(
            identical.into_iter().map(plan).map(|b| Excluded::Identical { saved_ns: b.predicted_ns(), id: b.id }),
        );
        excluded.sort_by(|a, b| a.id().cmp(b.id()));
        let confirm_rounds = if spec.effort.confirm { defaults::CONFIRM_ROUNDS } else { 0 };
        let benchmarks = measured.into_iter().map(plan).collect();
        Plan { seed: spec.seed, benchmarks, excluded, budget_ns, confirm_rounds }
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
    /// Of the baseline.
    pub baseline: &'a [Discovered],
    /// Of the candidate.
    pub candidate: &'a [Discovered],
    /// Packages that are proven to run the same code in both.
    pub identical: &'a BTreeSet<String>,
}

impl PlannedBenchmark {
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
    /// Which benchmark it is.
    #[must_use]
    pub fn id(&self) -> &BenchmarkId {
        match self {
            Excluded::OnlyIn(id, _) | Excluded::Failed(id, ..) | Excluded::Identical { id, .. } => id,
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
    };
    if rank(a) >= rank(b) { a } else { b }
}

impl Common {
    /// `siblings` is the number of benchmarks in its package.
    fn plan(self, spec: &Spec, capacity: Capacity, (share_ns, siblings): (Option<u64>, u64)) -> PlannedBenchmark {
        let (mode, mode_reason) = choose_mode(spec.mode, self.style, capacity);
        // Several threads take a while to get going, so short slices would measure their start.
        let all_cores = mode == Mode::InterleavedAllCores;
        let (slice_ns, trial_ns) = if all_cores {
            (defaults::SLICE_ALL_CORES_NS, defaults::TRIAL_ALL_CORES_NS)
        } else {
            (defaults::SLICE_NS, defaults::TRIAL_NS)
        };
        // A benchmark slower than the trial runs one invocation to calibrate and one to measure.
        let side_ns = FORK_OVERHEAD_NS + trial_ns.max(2 * self.first_ns);
        let trial_predicted_ns = if mode == Mode::Duet { side_ns } else { 2 * side_ns };
        let affordable = share_ns.map(|share| 2 * share / trial_predicted_ns.max(1));
        let cost_ns = 2 * LINK_NS / (u64::from(capacity.cpus) * siblings).max(1);
        let relink = capacity.relinks.then_some(Relink { cost_ns, trial_ns: trial_predicted_ns });
        let design = design(spec.effort, affordable, relink);
        let configuration =
            ExecutionConfiguration { design, slice_ns, trial_ns, warmup_slices: defaults::WARMUP_SLICES };
        PlannedBenchmark { id: self.id, style: self.style, mode, mode_reason, configuration, trial_predicted_ns }
    }
}

/// How fork pairs are spread over builds. `affordable` is the number of fork pairs for which an even share of the budget would
/// do twice: benchmarks that end early leave their time to the others.
fn design(effort: Effort, affordable: Option<u64>, relink: Option<Relink>) -> Design {
    let affordable = affordable
        .map(|forks| u32::try_from(forks).unwrap_or(u32::MAX).clamp(defaults::UNITS_MIN, defaults::UNITS_MAX));
    let forks = effort.forks.or(affordable);
    let sequential = !effort.fixed;
    let Some(relink) = relink.filter(|_| effort.builds != Some(1)) else {
        let units = forks.unwrap_or(defaults::UNITS);
        return Design { units, forks_per_unit: 1, doubled: 0, by_build: false, sequential };
    };
    let forks_per_build = relink.forks_per_build();
    let units = match (effort.builds, forks) {
        (Some(builds), forks) => builds.min(forks.unwrap_or(u32::MAX)),
        // So few fork pairs say more with a build pair each.
        (None, Some(forks)) if forks < defaults::BUILDS => forks,
        (None, Some(forks)) => (forks - defaults::DOUBLED_UNITS) / forks_per_build,
        (None, None) => defaults::BUILDS,
    };
    let forks_per_unit = forks.map_or(forks_per_build, |forks| forks / units.max(1)).max(1);
    let spare = forks.map_or(defaults::DOUBLED_UNITS, |forks| forks.saturating_sub(units * forks_per_unit));
    Design { units, forks_per_unit, doubled: spare.min(defaults::DOUBLED_UNITS).min(units), by_build: true, sequential }
}

/// What it costs to link a benchmark's package again, beside measuring it.
#[derive(Debug, Clone, Copy)]
struct Relink {
    /// Of both halves of a build pair, for each benchmark of the package, nanoseconds.
    cost_ns: u64,
    /// Of one fork pair, nanoseconds.
    trial_ns: u64,
}

impl Relink {
    /// Most fork pairs that are worth having of one build pair.
    const FORKS_MAX: u32 = 4;

    /// Fork pairs of every build pair that make the most of the time, by what is usual for layout and the rest.
    fn forks_per_build(self) -> u32 {
        let costs = (self.cost_ns as f64, self.trial_ns.max(1) as f64);
        stats::repetitions((1.0, defaults::WITHIN_TO_LAYOUT), costs).map_or(1, |n| n.min(Self::FORKS_MAX))
    }
}

/// The mode for one benchmark and the reason in words.
///
/// One core is the default even for benchmarks that run in parallel: on all cores they differ much more
/// from process to process. What one core cannot show is contention, and the reason says so.
fn choose_mode(choice: ModeChoice, style: Style, capacity: Capacity) -> (Mode, String) {
    let parallel = style == Style::Parallel;
    let several = capacity.asked.is_some_and(|asked| asked > 1) && capacity.cpus > 1;
    match choice {
        ModeChoice::Sequential => (Mode::Sequential, "asked for".into()),
        ModeChoice::Duet if capacity.cores_physical < 2 => {
            (Mode::InterleavedOneCore, "duet needs two physical cores, this machine offers one".into())
        }
        ModeChoice::Duet if several => (
            Mode::InterleavedAllCores,
            "more than one processor was asked for, which is more than a half of a duet has".into(),
        ),
        ModeChoice::Duet if parallel => {
            (Mode::Duet, "asked for; each side runs in parallel on its one core, where contention does not show".into())
        }
        ModeChoice::Duet => (Mode::Duet, "asked for".into()),
        ModeChoice::Auto | ModeChoice::Interleaved if several => {
            (Mode::InterleavedAllCores, "more than one processor was asked for".into())
        }
        ModeChoice::Auto | ModeChoice::Interleaved if parallel => (
            Mode::InterleavedOneCore,
            "they run in parallel, but contention does not show; `-- -cpu N` uses N cores".into(),
        ),
        ModeChoice::Interleaved => (Mode::InterleavedOneCore, "asked for".into()),
        ModeChoice::Auto => {
            (Mode::InterleavedOneCore, "narrowest interval per second for code that keeps one core busy".into())
        }
    }
}

fn nanos(d: Duration) -> u64 {
    u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)
}
