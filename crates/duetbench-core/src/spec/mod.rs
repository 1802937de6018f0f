//! The user's request, validated; knows nothing of this machine.

use std::time::Duration;

use regex::Regex;
use regex_automata::Input;
use regex_automata::hybrid::dfa::DFA;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::Role;
use crate::plan::Repetitions;
use crate::sample::BenchmarkId;

mod fleet;
mod harness;
mod policy;
mod thresholds;

pub use fleet::{Arch, EngineName, FleetSpec};
pub use harness::{CommandSpec, ExitCodes, HarnessSpec, JmhSpec, JvmSide, StandardOutput};
pub use policy::{Action, Metric, Policy, Rule, RuleError};
pub use thresholds::{Thresholds, Wanted};

/// The one place of all defaults; help texts and documents are derived from it.
pub mod defaults {
    /// Smallest change worth a verdict.
    pub const THRESHOLD: f64 = 0.03;
    /// Two-sided error of calling a benchmark changed that is not.
    pub const ALPHA: f64 = 0.01;
    /// Share of false alarms accepted among the changes reported for a whole suite (Benjamini-Hochberg).
    pub const FALSE_DISCOVERY_RATE: f64 = 0.05;
    /// Errors must exceed this.
    pub const ERROR_MIN: f64 = 1e-9;
    /// Power at which a minimal detectable change is stated.
    pub const POWER: f64 = 0.8;
    /// Fork pairs of a single build pair after which a benchmark ends undecided.
    pub const UNITS: u32 = 20;
    /// Build pairs after which a benchmark ends undecided: they differ more than forks do.
    pub const BUILDS: u32 = 32;
    /// Fewest units from which an interval is computed at all.
    pub const UNITS_MIN: u32 = 3;
    /// Most fork pairs, and most build pairs, that can be asked for.
    pub const FORKS_MAX: u32 = 1_000_000;
    /// Most units that a budget is turned into.
    pub const UNITS_MAX: u32 = 200;
    /// Build pairs that get one fork pair more than the others: the fewest that tell layout from the rest.
    pub const DOUBLED_UNITS: u32 = 4;
    /// Most fork pairs of a build pair that are made where nobody says how many.
    pub const FORKS_PER_BUILD_MAX: u32 = 4;
    /// The same where both halves of a build pair are laid out alike.
    pub const FORKS_PER_MATCHED_BUILD_MAX: u32 = 8;
    /// Fewest build pairs that are planned for where several fork pairs of each are made.
    pub const BUILDS_MIN: u32 = 12;
    /// Variance between fork pairs of one build pair as a multiple of that between build pairs, before any was measured
    /// (`docs/studies/layout.md`).
    pub const WITHIN_TO_LAYOUT: f64 = 0.84;
    /// The same where both halves are laid out alike (`docs/studies/layout-matched.md`).
    pub const WITHIN_TO_MATCHED_LAYOUT: f64 = 12.0;
    /// Standard deviation of the log ratio between build pairs of the same source, where it was not measured: the root mean
    /// square over the benchmarks of three Go modules (`docs/studies/layout.md`).
    pub const LAYOUT_SD: f64 = 0.037;
    /// The largest that studies found for a single benchmark (`docs/studies/layout.md`).
    pub const LAYOUT_SD_MAX: f64 = 0.113;
    /// Error of the interval as a multiple of that of calling equal code changed: to miss the size of a change costs less than
    /// to report one that is not there. By default it is the 90 % interval of two one-sided tests at 5 %
    /// (docs/studies/verdict-rules.md).
    pub const INTERVAL_TO_ALPHA: f64 = 10.0;
    /// Largest error of the interval, unless `alpha` itself is larger.
    pub const INTERVAL_ALPHA_MAX: f64 = 0.2;
    /// Exponent of the spending function of the interval's error (docs/studies/verdict-rules.md).
    pub const INTERVAL_SPENDING: f64 = 1.0;
    /// Chance that the rest of its design tells on which side of the threshold a change lies, below which measuring ends with the
    /// change that is shown.
    pub const PROSPECT_MIN: f64 = 0.1;
    /// Chance that the rest of its design gives any answer, below which measuring ends without one.
    pub const ANSWER_PROSPECT_MIN: f64 = 0.05;
    /// Share of the slices from which on code is said to keep its processor busy.
    pub const BUSY_SLICES_MIN: f64 = 0.5;
    /// Share of the wall time of busy code from which on the machine is said to take the processor away.
    pub const LOST_SHARE_MAX: f64 = 0.02;
    /// Two-sided error at which two numbers of a benchmark may differ, as if one side waits in few slices: of those that are interrupted alike
    /// one in ten at most.
    pub const MAY_DIFFER_ALPHA: f64 = 0.1;
    /// Share of a ratio that an interval reaches to either side at least: no instrument of ours is more exact.
    pub const ACCURACY: f64 = 0.0003;
    /// p-value from which down a regression is not measured again.
    pub const BEYOND_DOUBT: f64 = 1e-4;
    /// Rounds of fresh trials that a regression is measured again in.
    pub const CONFIRM_ROUNDS: u32 = 2;
    /// Error at which all these rounds together must see the regression again, one-sided: what two rounds at 5 % come to.
    pub const CONFIRM_ALPHA: f64 = 0.0025;
    /// Two-sided error of the interval by which they exclude a change that matters.
    pub const WITHDRAW_ALPHA: f64 = 0.05;
    /// Power with which they confirm a regression as large as it was measured.
    pub const CONFIRM_POWER: f64 = 0.95;
    /// Length a slice aims at, nanoseconds.
    pub const SLICE_NS: u64 = 200_000;
    /// Time one side measures in one trial, nanoseconds.
    pub const TRIAL_NS: u64 = 20_000_000;
    /// Length a slice aims at where several threads take part, nanoseconds.
    pub const SLICE_ALL_CORES_NS: u64 = 5_000_000;
    /// Time one side measures in one trial where several threads take part, nanoseconds.
    pub const TRIAL_ALL_CORES_NS: u64 = 60_000_000;
    /// Length of an iteration where the harness has a loop of its own, nanoseconds: shorter ones are mostly the harness's own work.
    pub const ITERATION_NS: u64 = 10_000_000;
    /// Time one side measures in one trial of such iterations at least, nanoseconds.
    pub const TRIAL_ITERATIONS_NS: u64 = 300_000_000;
    /// Iterations, warm-up among them, before which a harness's own work is not compiled yet: a JVM does so from some 180 on.
    pub const UNDISTURBED_ITERATIONS: u32 = 160;
    /// Fewest iterations of such a trial.
    pub const ITERATIONS_MIN: u64 = 5;
    /// Iterations that warm up where neither the user nor a first trial says how many are needed.
    pub const WARMUP_ITERATIONS: u32 = 100;
    /// Time one side spends in one trial of whole processes, nanoseconds.
    pub const TRIAL_PROCESSES_NS: u64 = 200_000_000;
    /// Failed trials after which a benchmark is given up, whatever others gave.
    pub const FAILURES_MAX: u32 = 5;
    /// Slices at the start of a trial that warm up and are not judged.
    pub const WARMUP_SLICES: u32 = 16;
    /// Benchmarks whose first invocation takes longer are not asked what getting caches warm takes: no part worth mentioning.
    pub const COLD_FIRST_NS_MAX: u64 = 50 * SLICE_NS;
    /// Most that getting caches warm may take of a slice, as a share: a quarter of [`THRESHOLD`], since a change of the work is
    /// shrunk by it.
    pub const COLD_MAX: f64 = THRESHOLD / 4.0;
    /// Slices are lengthened against it by this factor at most.
    pub const COLD_FACTOR_MAX: f64 = 50.0;
    /// Share of a slice that getting warm may take of slices that were lengthened so: a tenth of a change is lost to it.
    pub const COLD_LARGE: f64 = 0.1;
    /// Slices are lengthened against that by this factor at most.
    pub const COLD_LARGE_FACTOR_MAX: f64 = 250.0;
    /// Time that a version works before a slice without recording, as a multiple of what getting warm takes: a set that is gone through at
    /// random is warm but for a fiftieth (e^-4) after it has been gone through four times.
    pub const WARM_TIMES: f64 = 4.0;
    /// Longest such part, nanoseconds.
    pub const WARM_NS_MAX: u64 = 40_000_000;
    /// Fewest slices of a trial whose slices were lengthened.
    pub const SLICES_MIN: u64 = 16;
    /// Invocations of a slice from which on the faster side of a duet goes on until the slower one is through.
    pub const REFILLED_MIN: f64 = 8.0;
    /// Slices are lengthened to have so many up to this length, nanoseconds.
    pub const REFILLED_SLICE_MAX_NS: u64 = 10_000_000;
    /// Slices between two pauses.
    pub const BLOCK_SLICES: u32 = 16;
    /// Longest measured time of one side that a trial is made to span whole cycles of the collector, nanoseconds.
    pub const GC_NS: u64 = 2_000_000_000;
    /// Bytes allocated while a collection marks, as a share of those between two collections: fewest and most, by Go's pacer (its
    /// trigger lies between 0.7 and 0.95 of the way to the goal; Knyszek, GC Pacer Redesign, 2021).
    pub const MARKED_SHARE: [f64; 2] = [0.05, 0.3];
    /// Share of the processors that Go's collector takes while it marks.
    pub const MARKING_SHARE: f64 = 0.25;
    /// A slice counts at most as this many times its side's median slice where all slices are summed, unless its CPU time is more.
    pub const CLIP: f64 = 3.0;
    /// CPU time as a share of wall time below which a benchmark is said not to be CPU bound.
    pub const CPU_SHARE_MIN: f64 = 0.9;
    /// CPU time as a share of a slice's wall time from which on the slice is said to have been busy throughout.
    pub const BUSY_SHARE: f64 = 0.95;
    /// Smallest difference between two counts per invocation that is looked at.
    pub const COUNT_RESOLUTION: f64 = 0.01;
    /// Smallest difference between bytes per invocation that is looked at, as a share of the larger side.
    pub const BYTES_RESOLUTION: f64 = 0.001;
    /// Most units of inference that are named as sufficient to settle a benchmark.
    pub const FORKS_SUFFICIENT_MAX: u32 = 10_000;
    /// Fewest fork pairs that a plan file is turned into: with fewer no look is planned, and an interval says nothing.
    pub const PLANNED_UNITS_MIN: u32 = 4;
    /// Units that a budget is first shared out for: with as many most benchmarks that do not vary much are settled.
    pub const GOAL_UNITS: u32 = 8;
    /// Units that a budget has room for where it is said to be enough for a benchmark: noisy ones pass their first goal in vain.
    pub const ENOUGH_UNITS: u32 = 2 * GOAL_UNITS;
    /// The same beside other work.
    pub const ENOUGH_DISTURBED: u32 = 2 * ENOUGH_UNITS;
    /// Longest time one side measures in one trial that follows a plan file, nanoseconds: what a page has room for in slices of
    /// [`SLICE_NS`].
    pub const TRIAL_PLANNED_MAX_NS: u64 = 400_000_000;
    /// Passes over the suite in a run of one version.
    pub const SOLO_SUITE_RUNS: u32 = 3;
    /// Fresh processes of each benchmark in each of them.
    pub const SOLO_FORKS: u32 = 1;
    /// Iterations of each process.
    pub const SOLO_ITERATIONS: u32 = 5;
    /// Iterations before these that warm up: none, as calibrating runs a benchmark for about an iteration anyhow.
    pub const SOLO_WARMUP: u32 = 0;
    /// Length of an iteration, nanoseconds.
    pub const SOLO_ITERATION_NS: u64 = 1_000_000_000;
    /// Most passes over the suite.
    pub const SOLO_SUITE_RUNS_MAX: u32 = 10_000;
    /// Most processes of a benchmark in one of them.
    pub const SOLO_FORKS_MAX: u32 = 10_000;
    /// Most iterations of a process, those that warm up included: what a page has room for.
    pub const SOLO_ITERATIONS_MAX: u32 = 2048;
    /// Longest iteration, nanoseconds.
    pub const SOLO_ITERATION_MAX_NS: u64 = 3_600_000_000_000;
    /// Memory of a fleet's instance, megabytes: one whole processor on AWS Lambda, and some of a second.
    pub const FLEET_MEMORY_MB: u32 = 2048;
    /// Calls in flight at once.
    pub const FLEET_PARALLEL: u32 = 150;
    /// Most that a run on a fleet may cost, US dollars.
    pub const FLEET_COST_MAX_USD: f64 = 2.0;
    /// Longest that measuring on a fleet may take.
    pub const FLEET_TIME_MAX: std::time::Duration = std::time::Duration::from_secs(30 * 60);
    /// Fork pairs that one call measures: the fewest that tell the spread within an instance from that between instances.
    pub const FLEET_FORKS_PER_CALL: u32 = 2;
    /// Build pairs in a package, as far as they fit.
    pub const FLEET_BUILDS: u32 = 12;
    /// Calls of a benchmark after which it ends undecided.
    pub const FLEET_CALLS: u32 = 20;
    /// Measuring times for which a calibration says what is seen, seconds for each benchmark.
    pub const SEEN_AFTER_S: [f64; 3] = [10.0, 30.0, 60.0];
    /// Packages that are searched for benchmarks.
    pub const PACKAGES: &str = "./...";
}

/// Mode of the two sides of a trial, as asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModeChoice {
    /// Decided per benchmark.
    Auto,
    /// Both at once, a core each.
    Duet,
    /// One at a time, slices alternating.
    Interleaved,
    /// Whole processes one after the other.
    Sequential,
}

/// Layouts of the two halves of a build pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayoutChoice {
    /// Alike, where that can be: what both versions have lies at the same address in both.
    Matched,
    /// Each in an order of its own. What is missing in a stored request means this: there was nothing else.
    #[default]
    Random,
}

impl LayoutChoice {
    /// Whether this is what a request without it asks for.
    fn is_random(&self) -> bool {
        *self == LayoutChoice::Random
    }
}

/// Selection of the benchmarks that take part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Selection {
    /// Keeps benchmarks whose name matches.
    pub bench: Option<String>,
    /// Drops benchmarks whose name matches.
    pub exclude: Option<String>,
    /// Package patterns in the harness's own syntax.
    pub packages: Vec<String>,
}

/// Limits on measuring.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    /// At most this many fork pairs for every benchmark.
    pub forks: Option<u32>,
    /// At most this much wall time of measuring and linking in all.
    pub budget: Option<Duration>,
    /// Builds of each version that differ in nothing but where the linker put things; absent: as many as are needed.
    pub builds: Option<u32>,
    /// Measures all fork pairs even of benchmarks whose answer is known before.
    pub fixed: bool,
    /// Measures regressions again before they are reported as confirmed.
    pub confirm: bool,
}

/// Rule by which evidence becomes a verdict. Fractions, not percent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Smallest change worth a verdict.
    pub threshold: f64,
    /// Two-sided error of calling a benchmark changed that is not.
    pub alpha: f64,
    /// Accepted share of false alarms among all changes reported.
    pub false_discovery_rate: f64,
    /// Power for which the minimal detectable change is stated.
    pub power: f64,
    /// The threshold was typed, or set as a variable, so that it holds for all times, whatever rules say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub typed: bool,
}

impl Default for Decision {
    fn default() -> Self {
        Decision {
            threshold: defaults::THRESHOLD,
            alpha: defaults::ALPHA,
            false_discovery_rate: defaults::FALSE_DISCOVERY_RATE,
            power: defaults::POWER,
            typed: false,
        }
    }
}

impl Decision {
    /// Two-sided error of the interval that says how large a change is.
    pub fn interval_alpha(&self) -> f64 {
        (defaults::INTERVAL_TO_ALPHA * self.alpha).min(defaults::INTERVAL_ALPHA_MAX).max(self.alpha)
    }

    /// Checks that every number lies where its formula holds.
    ///
    /// # Errors
    /// Names the first number that is out of range.
    pub fn check(self) -> Result<Decision, SpecError> {
        let inside = |name, value: f64, low: f64, high: f64| {
            let (given, low_percent, high_percent) = (percent(value), percent(low), percent(high));
            let outside = SpecError::ShareOutOfRange { name, value: given, low: low_percent, high: high_percent };
            if value > low && value < high { Ok(()) } else { Err(outside) }
        };
        inside("threshold", self.threshold, 0.0, 10.0)?;
        // Errors that are smaller have no quantiles.
        inside("alpha", self.alpha, defaults::ERROR_MIN, 0.5)?;
        inside("fdr", self.false_discovery_rate, defaults::ERROR_MIN, 0.5)?;
        inside("power", self.power, 0.0, 1.0)?;
        Ok(self)
    }
}

/// A share in percent as people write it, without the last digits of binary fractions.
fn percent(share: f64) -> f64 {
    (1e11 * share).round() / 1e9
}

/// Everything that was asked, with all defaults filled in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// The benchmarks.
    pub selection: Selection,
    /// Limits on measuring.
    pub effort: Effort,
    /// The rule of the verdicts.
    pub decision: Decision,
    /// The mode of the two sides.
    pub mode: ModeChoice,
    /// Layouts of the two halves of a build pair.
    #[serde(default, skip_serializing_if = "LayoutChoice::is_random")]
    pub layouts: LayoutChoice,
    /// Measures packages too whose code is proven to be the same in both versions.
    pub measure_identical: bool,
    /// Leaves benchmarks out that are proven to reach the same code in both versions, where that can be told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reach: bool,
    /// Judges benchmarks that themselves differ between the versions like any other.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same_benchmarks: bool,
    /// The version whose benchmarks are measured on the code of both; absent: each has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmarks_from: Option<Role>,
    /// Source of every random choice of the run.
    pub seed: u64,
    /// Arguments for the harness, as typed after `--`.
    pub harness_args: Vec<String>,
    /// The harness, with settings that only it understands.
    #[serde(default, skip_serializing_if = "HarnessSpec::is_usual")]
    pub harness: HarnessSpec,
    /// The repository's rules for some of its benchmarks, where they differ from the rest.
    #[serde(default, skip_serializing_if = "Policy::is_empty")]
    pub rules: Policy,
    /// Where it is measured, if not here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetSpec>,
}

impl Spec {
    /// The thresholds by which it is judged.
    pub fn thresholds(&self) -> Thresholds<'_> {
        Thresholds::new(&self.decision, &self.rules)
    }
}

/// Everything that was asked of a run of one version, with all defaults filled in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SoloSpec {
    /// The benchmarks.
    pub selection: Selection,
    /// Repetitions of each benchmark of which no plan file says otherwise.
    pub repetitions: Repetitions,
    /// Source of every random choice of the run.
    pub seed: u64,
    /// Arguments for the harness, as typed after `--`.
    pub harness_args: Vec<String>,
    /// The harness, with settings that only it understands.
    #[serde(default, skip_serializing_if = "HarnessSpec::is_usual")]
    pub harness: HarnessSpec,
}

/// Why a request cannot be honoured.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SpecError {
    /// A number lies outside the range in which its formula holds.
    #[error("`{name}` is {value}, but must lie above {low} and below {high}")]
    OutOfRange {
        /// Name of the option.
        name: &'static str,
        /// The given value.
        value: f64,
        /// Exclusive lower bound.
        low: f64,
        /// Exclusive upper bound.
        high: f64,
    },
    /// A percentage lies outside of that range.
    #[error("`{name}` is {value}%, but must lie above {low}% and below {high}%")]
    ShareOutOfRange {
        /// Name of the option.
        name: &'static str,
        /// The given value, percent.
        value: f64,
        /// Exclusive lower bound, percent.
        low: f64,
        /// Exclusive upper bound, percent.
        high: f64,
    },
    /// A regular expression does not parse.
    #[error("`{option}` is not a regular expression: {source}")]
    Pattern {
        /// Name of the option.
        option: &'static str,
        /// The parser's error.
        source: Box<regex::Error>,
    },
}

/// The compiled form of [`Selection`].
#[derive(Debug, Clone)]
pub struct Filter {
    bench: Option<Regex>,
    exclude: Option<Regex>,
}

impl Selection {
    /// Whether all benchmarks of the usual packages are meant.
    pub fn is_everything(&self) -> bool {
        self.packages == [defaults::PACKAGES] && self.bench.is_none() && self.exclude.is_none()
    }

    /// Compiles the patterns.
    ///
    /// # Errors
    /// Names the option whose pattern does not parse.
    pub fn filter(&self) -> Result<Filter, SpecError> {
        Ok(Filter {
            bench: compile("--bench", self.bench.as_deref())?,
            exclude: compile("--exclude", self.exclude.as_deref())?,
        })
    }
}

impl Filter {
    /// Whether a benchmark of this name takes part.
    pub fn keeps(&self, name: &str) -> bool {
        self.keeps_any(&[name])
    }

    /// The same where its harness calls it by its package too: a pattern that matches either name means it.
    pub fn keeps_qualified(&self, id: &BenchmarkId) -> bool {
        self.keeps_any(&[&id.name, &id.to_string()])
    }

    fn keeps_any(&self, names: &[&str]) -> bool {
        let is_meant = |r: &Regex| names.iter().any(|name| r.is_match(name));
        self.bench.as_ref().is_none_or(is_meant) && !self.exclude.as_ref().is_some_and(is_meant)
    }

    /// Whether a benchmark of this name may take part, or any whose name goes on after it and a slash: what is below a benchmark
    /// is known only once it has run.
    pub fn may_keep_below(&self, name: &str) -> bool {
        let wanted = |r: &Regex| r.is_match(name) || below(r, name) != Below::Nothing;
        let unwanted = |r: &Regex| r.is_match(name) && below(r, name) == Below::Everything;
        self.bench.as_ref().is_none_or(wanted) && !self.exclude.as_ref().is_some_and(unwanted)
    }

    /// Whether every benchmark takes part.
    pub fn keeps_all(&self) -> bool {
        self.bench.is_none() && self.exclude.is_none()
    }
}

/// The names that begin with a benchmark's own and a slash, and match a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Below {
    Nothing,
    /// Some, or it is not known.
    Something,
    Everything,
}

/// Walks through the pattern's automaton with the beginning that these names have in common.
fn below(pattern: &Regex, name: &str) -> Below {
    walked(pattern.as_str(), name).unwrap_or(Below::Something)
}

/// As [`below`]; absent for a pattern that has no such automaton.
fn walked(pattern: &str, name: &str) -> Option<Below> {
    let automaton = DFA::new(pattern).ok()?;
    let mut cache = automaton.create_cache();
    let mut state = automaton.start_state_forward(&mut cache, &Input::new("")).ok()?;
    for byte in name.bytes().chain([b'/']) {
        state = automaton.next_state(&mut cache, state, byte).ok()?;
        if state.is_match() {
            return Some(Below::Everything);
        }
        if state.is_dead() {
            return Some(Below::Nothing);
        }
        if state.is_quit() {
            return None;
        }
    }
    Some(Below::Something)
}

fn compile(option: &'static str, pattern: Option<&str>) -> Result<Option<Regex>, SpecError> {
    pattern.map(Regex::new).transpose().map_err(|source| SpecError::Pattern { option, source: Box::new(source) })
}
