//! The plan: which benchmarks, how each is run, how long it will take. Printable before anything is measured.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::sample::{BenchmarkId, Role};
use crate::spec::{Effort, ModeChoice, Spec, defaults};

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
}

/// How one benchmark is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionConfiguration {
    /// Fork pairs (with a budget: at most).
    pub forks: u32,
    /// Fork pairs that are made even if the benchmark's share of the budget is used up.
    pub forks_min: u32,
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
    /// Share of the budget, nanoseconds; absent without a budget.
    pub share_ns: Option<u64>,
}

/// A benchmark that will not be compared, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Excluded {
    /// Found in one version only.
    OnlyIn(BenchmarkId, Role),
    /// Failed while it was listed.
    Failed(BenchmarkId, Role, String),
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
}

/// Start-up, calibration and warm-up of one process, nanoseconds; a first guess that the engine replaces by what it sees.
const FORK_OVERHEAD_NS: u64 = 20_000_000;

impl Plan {
    /// Joins what was found in both versions and settles how each benchmark is run.
    #[must_use]
    pub fn new(spec: &Spec, found: &Found<'_>, capacity: Capacity) -> Plan {
        let (common, excluded) = join(found);
        let share_ns = match spec.effort {
            Effort::Budget(total) => Some(nanos(total) / (common.len().max(1) as u64)),
            Effort::Forks(_) => None,
        };
        let benchmarks = common.into_iter().map(|c| c.plan(spec, share_ns, capacity)).collect();
        Plan { seed: spec.seed, benchmarks, excluded }
    }

    /// Wall time that measuring will probably take.
    #[must_use]
    pub fn predicted(&self) -> Duration {
        Duration::from_nanos(self.benchmarks.iter().map(PlannedBenchmark::predicted_ns).sum())
    }
}

/// The benchmarks of both versions, filtered, in any order.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    /// Of the baseline.
    pub baseline: &'a [Discovered],
    /// Of the candidate.
    pub candidate: &'a [Discovered],
}

impl PlannedBenchmark {
    /// Wall time this benchmark will probably take, nanoseconds.
    #[must_use]
    pub fn predicted_ns(&self) -> u64 {
        let all = self.trial_predicted_ns * u64::from(self.configuration.forks);
        let floor = self.trial_predicted_ns * u64::from(self.configuration.forks_min);
        self.share_ns.map_or(all, |share| all.min(share.max(floor)))
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
            Excluded::OnlyIn(id, _) | Excluded::Failed(id, ..) => id,
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
    fn plan(self, spec: &Spec, share_ns: Option<u64>, capacity: Capacity) -> PlannedBenchmark {
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
        let (forks, forks_min) = match (spec.effort, share_ns) {
            (Effort::Forks(n), _) => (n, n),
            // The prediction is rough, so the cap leaves room; the share of time is what ends the benchmark.
            (Effort::Budget(_), share) => {
                let fitting = 4 * share.unwrap_or(0) / trial_predicted_ns.max(1);
                (
                    u32::try_from(fitting).unwrap_or(u32::MAX).clamp(defaults::FORKS_MIN, defaults::FORKS_MAX),
                    defaults::FORKS_MIN,
                )
            }
        };
        let configuration =
            ExecutionConfiguration { forks, forks_min, slice_ns, trial_ns, warmup_slices: defaults::WARMUP_SLICES };
        PlannedBenchmark {
            id: self.id,
            style: self.style,
            mode,
            mode_reason,
            configuration,
            trial_predicted_ns,
            share_ns,
        }
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
