//! The plan: which benchmarks, how each is run, how long it will take. Printable before anything is measured.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::sample::BenchmarkId;
use crate::spec::{Action, LayoutChoice, Spec, defaults};

mod budget;
mod cold;
mod definition;
mod design;
mod fleet;
mod found;
mod lengths;
mod mode;
mod profile;
mod purpose;
mod settling;
mod solo;
mod start;
mod style;

pub use budget::{Claim, Forecast, UnitPrice, shared_out};
pub use cold::{ColdShare, lost_in_turns};
pub use definition::{Difference, Part, Redefinition};
pub use design::{Design, OVER_EVEN};
pub use fleet::instance_capacity;
pub use found::{Discovered, Excluded, Found};
pub use mode::Mode;
pub use profile::{FirstWarmUp, Learnt, Profile, SelfCheck, Unsteady};
pub use purpose::Purpose;
pub use settling::{SETTLING_NS, SETTLING_SLICES_MIN, is_settling};
pub use solo::{Repetitions, SoloBenchmark, SoloPlan};
pub use start::{Start, Unmatched};
pub use style::Style;

use design::{Relink, Share, design};
use found::{Common, Joined, join};
use lengths::{Lengths, Settled};
use mode::Circumstances;

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
    /// Time that a version works before each of its slices in turns, without recording, to get its caches warm, nanoseconds.
    #[serde(default, skip_serializing_if = "profile::is_nothing")]
    pub warm_ns: u64,
    /// Slices that warm up at the start of a trial.
    pub warmup_slices: u32,
    /// The purpose of its trials.
    #[serde(default, skip_serializing_if = "Purpose::is_judged")]
    pub purpose: Purpose,
}

impl ExecutionConfiguration {
    /// Whether there can be such a configuration: what is read may come from anybody.
    pub fn is_possible(&self) -> bool {
        self.design.is_possible() && self.slice_ns > 0
    }

    /// Slices of a trial that count, where their number is asked for and not agreed upon.
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

/// Linking both halves of a build pair again, nanoseconds: a first guess that the engine replaces by what it sees.
pub const LINK_PAIR_NS: u64 = 600_000_000;

impl Plan {
    /// Joins what was found in both versions and settles how each benchmark is run.
    pub fn new(spec: &Spec, found: &Found<'_>, capacity: Capacity) -> Plan {
        let Joined { common, mut excluded } = join(found);
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
            let of_package =
                |layouts| if found.random.contains(&c.id.package) { LayoutChoice::Random } else { layouts };
            let capacity = Capacity { relinks: capacity.relinks.map(of_package), ..capacity };
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
            let circumstances = Circumstances {
                choice: spec.mode,
                style: planned.style,
                threads: planned.threads,
                runtime_threads: planned.runtime_threads,
                profile: planned.profile,
                capacity,
                check: learnt.check.as_ref(),
            };
            let Settled { mode, mode_reason, lengths, warmup_slices } =
                Settled::of(&circumstances, planned.first_ns, spec);
            (planned.mode, planned.mode_reason) = (mode, mode_reason);
            planned.configuration = ExecutionConfiguration {
                slice_ns: lengths.slice_ns,
                trial_ns: lengths.trial_ns,
                warm_ns: lengths.warm_ns,
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
            let found = redefined.get(&planned.id).or_else(|| redefined.get(&planned.id.family()));
            planned.redefined =
                found.cloned().map(|found| Redefinition { tolerated: spec.same_benchmarks || gates, ..found });
        }
    }

    /// Wall time that measuring will take at most, if it goes as predicted; most benchmarks end much earlier.
    pub fn predicted(&self) -> Duration {
        let trials = self.benchmarks.iter().map(PlannedBenchmark::predicted_ns).fold(0, u64::saturating_add);
        let all = trials.saturating_add(self.pairs().saturating_mul(LINK_PAIR_NS));
        Duration::from_nanos(self.budget_ns.map_or(all, |budget| all.min(budget)))
    }

    /// Build pairs that will be linked again at most.
    fn pairs(&self) -> u64 {
        let mut units: BTreeMap<&str, u32> = BTreeMap::new();
        for b in self.benchmarks.iter().filter(|b| b.configuration.design.by_build) {
            let most = units.entry(&b.id.package).or_default();
            *most = b.configuration.design.units.max(*most);
        }
        units.into_values().map(u64::from).sum()
    }
}

impl PlannedBenchmark {
    /// Whether its times are those of the same benchmark in both versions, as far as that matters.
    pub fn tells_of_the_code(&self) -> bool {
        self.redefined.as_ref().is_none_or(|redefined| redefined.tolerated)
    }

    /// The same with processes that work so long before slices count.
    #[must_use]
    pub fn settled(&self, settling_ns: u64) -> PlannedBenchmark {
        let ExecutionConfiguration { slice_ns, warmup_slices, .. } = self.configuration;
        let warmup_slices = warmup_slices.max(lengths::slices_in(settling_ns, slice_ns));
        let configuration = ExecutionConfiguration { warmup_slices, ..self.configuration };
        PlannedBenchmark { configuration, ..self.clone() }
    }

    /// Share of its slices that getting warm still takes in this mode: a change of the work reads smaller by it. Absent where it was
    /// not looked at, and in modes in which the versions do not share caches.
    pub fn cold_share_left(&self, mode: Mode) -> Option<f64> {
        let cold_share = self.profile?.cold_share.filter(|_| mode == Mode::InterleavedOneCore)?;
        Some(cold_share * defaults::SLICE_NS as f64 / self.configuration.slice_ns.max(1) as f64)
    }

    /// Time that a trial may measure at most, nanoseconds: iterations of a harness that gets compiled itself stay among its first ones.
    pub fn longest_trial_ns(&self) -> u64 {
        if self.style != Style::Iteration || !self.runtime_threads {
            return u64::MAX;
        }
        let ExecutionConfiguration { slice_ns, trial_ns, warmup_slices, .. } = self.configuration;
        lengths::undisturbed_ns(slice_ns, warmup_slices).max(trial_ns)
    }

    /// Whether its versions use each other's caches in slices so short that it may matter, at once or once a duet is given up.
    pub fn may_be_cold(&self) -> bool {
        let in_slices = !self.style.is_counted() && self.style != Style::Parallel;
        let turns = matches!(self.mode, Mode::InterleavedOneCore | Mode::Duet);
        turns && in_slices && self.first_ns <= defaults::COLD_FIRST_NS_MAX
    }

    /// Whether the faster of two versions in a duet goes on until the slower is through, where that takes so long for an invocation.
    pub fn is_refilled(&self, invocation_ns: f64) -> bool {
        self.style.refills() && self.configuration.slice_ns as f64 >= defaults::REFILLED_MIN * invocation_ns
    }

    /// Wall time of all its trials, if it goes as predicted and none can be saved, nanoseconds.
    pub fn predicted_ns(&self) -> u64 {
        self.trial_predicted_ns.saturating_mul(u64::from(self.configuration.design.forks()))
    }
}

impl Common {
    /// `siblings` is the number of benchmarks in its package.
    fn plan(self, spec: &Spec, capacity: Capacity, share_ns: Option<u64>, siblings: u64) -> PlannedBenchmark {
        let (choice, style, threads, runtime_threads) = (spec.mode, self.style, self.threads, self.runtime_threads);
        let circumstances =
            Circumstances { choice, style, threads, runtime_threads, profile: None, capacity, check: None };
        let Settled { mode, mode_reason, lengths, warmup_slices } = Settled::of(&circumstances, self.first_ns, spec);
        let Lengths { slice_ns, trial_ns, warm_ns, predicted_ns: trial_predicted_ns } = lengths;
        let share = share_ns.map(|share_ns| Share { share_ns, trial_ns: trial_predicted_ns });
        let cost_ns = LINK_PAIR_NS / (u64::from(capacity.cpus) * siblings).max(1);
        let beside_ns = if capacity.cpus > 1 { LINK_PAIR_NS / siblings.max(1) } else { 0 };
        let relink =
            capacity.relinks.map(|layouts| Relink { layouts, cost_ns, beside_ns, trial_ns: trial_predicted_ns });
        let design = design(spec.effort, share, relink);
        let configuration =
            ExecutionConfiguration { design, slice_ns, trial_ns, warm_ns, warmup_slices, purpose: Purpose::Judged };
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

fn nanos(d: Duration) -> u64 {
    u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)
}
