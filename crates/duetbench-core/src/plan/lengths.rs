//! The manner in which a benchmark is run, and how long its slices and trials are.

use super::mode::{Circumstances, choose_mode};
use super::{Mode, Profile, Style};
use crate::spec::{Spec, defaults};

/// Start-up, calibration and warm-up of one process, nanoseconds; a first guess that the engine replaces by what it sees.
pub(super) const FORK_OVERHEAD_NS: u64 = 20_000_000;
/// The same where a runtime works beside the benchmark, which is mostly the start of two JVMs.
const RUNTIME_OVERHEAD_NS: u64 = 1_000_000_000;
/// Forking and reaping a process that is a slice, nanoseconds: no part of what it takes, but of what a trial does.
const PROCESS_OVERHEAD_NS: u64 = 1_000_000;
/// Fewest slices that warm up where they are longer than usual.
const LONG_WARMUP_MIN: u32 = 2;

/// A manner to run a benchmark, with all that follows from it.
pub(super) struct Settled {
    pub(super) mode: Mode,
    /// Why this mode.
    pub(super) mode_reason: String,
    pub(super) lengths: Lengths,
    /// Slices that warm up at the start of a trial.
    pub(super) warmup_slices: u32,
}

impl Settled {
    /// The manner for a benchmark whose first invocation takes so long, by what its first trials showed.
    pub(super) fn of(circumstances: &Circumstances<'_>, first_ns: u64, spec: &Spec) -> Settled {
        let Circumstances { style, profile, runtime_threads, .. } = *circumstances;
        let (mode, mode_reason) = choose_mode(circumstances);
        let warmup_slices = warmup_slices(style, first_ns, spec, profile);
        let settling_ns = settling_ns(style, profile);
        let manner = Manner { mode, style, first_ns, warmup_slices, settling_ns, runtime_threads };
        let lengths = Lengths::of(manner).outweighing(profile, manner).refilled(profile, manner);
        Settled { mode, mode_reason, warmup_slices: lengths.warmed_up_by(manner), lengths }
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
        Style::Process => {
            let whole = spec.harness.commands.iter().filter(|command| !command.lockstep);
            whole.map(|command| command.warmup).max().unwrap_or(0)
        }
        Style::Loop | Style::Rewritten | Style::Recall | Style::Parallel => defaults::WARMUP_SLICES,
    }
}

/// Time that processes work before slices count, where more is needed than is usual, nanoseconds. Iterations have a warm-up of their own.
pub(super) fn settling_ns(style: Style, profile: Option<Profile>) -> u64 {
    profile.filter(|_| !style.is_counted()).map_or(0, |profile| profile.settling_ns)
}

/// Slices of this length that take so long together.
pub(super) fn slices_in(ns: u64, slice_ns: u64) -> u32 {
    u32::try_from(ns.div_ceil(slice_ns.max(1))).unwrap_or(u32::MAX)
}

/// Iterations that warm up where nothing says how many: as long as [`defaults::WARMUP_ITERATIONS`] usual ones take, if they are longer.
fn usual_warm_up(first_ns: u64) -> u32 {
    let usual_ns = u64::from(defaults::WARMUP_ITERATIONS) * defaults::ITERATION_NS;
    let iterations = (usual_ns / first_ns.max(defaults::ITERATION_NS)).max(defaults::ITERATIONS_MIN);
    u32::try_from(iterations).unwrap_or(u32::MAX)
}

/// Time of the iterations that are left of a harness's first ones after those that warm up, nanoseconds.
pub(super) fn undisturbed_ns(iteration_ns: u64, warmup_slices: u32) -> u64 {
    let left = defaults::UNDISTURBED_ITERATIONS.saturating_sub(warmup_slices);
    iteration_ns.saturating_mul(left.into())
}

/// The manner in which a benchmark is run, as far as its lengths depend on it.
#[derive(Clone, Copy)]
pub(super) struct Manner {
    pub(super) mode: Mode,
    pub(super) style: Style,
    /// Time of the first invocation, nanoseconds.
    pub(super) first_ns: u64,
    pub(super) warmup_slices: u32,
    /// Time that these take at least, nanoseconds, where processes are known to need it.
    pub(super) settling_ns: u64,
    /// Its runtime starts slowly; see [`PlannedBenchmark::runtime_threads`](super::PlannedBenchmark::runtime_threads).
    pub(super) runtime_threads: bool,
}

impl Manner {
    /// Time that a trial's iterations are measured, of one side: half as long as its start and warm-up take, since iterations of one
    /// process mostly differ by more than processes do, but not beyond the first ones, after which a harness gets compiled.
    fn iterations_ns(self) -> u64 {
        let iteration_ns = self.iteration_ns();
        let least = defaults::TRIAL_ITERATIONS_NS.max(defaults::ITERATIONS_MIN.saturating_mul(iteration_ns));
        let started_ns = self.start_ns().saturating_add(iteration_ns.saturating_mul(self.warmup_slices.into()));
        (started_ns / 2).min(undisturbed_ns(iteration_ns, self.warmup_slices)).max(least)
    }

    /// Length of an iteration.
    fn iteration_ns(self) -> u64 {
        self.first_ns.max(defaults::ITERATION_NS)
    }

    /// Time that it takes to start one side.
    fn start_ns(self) -> u64 {
        match self.style {
            Style::Process => 0,
            Style::Iteration if self.runtime_threads => RUNTIME_OVERHEAD_NS,
            _ => FORK_OVERHEAD_NS + self.settling_ns,
        }
    }
}

/// Lengths of slices and trials, nanoseconds.
pub(super) struct Lengths {
    pub(super) slice_ns: u64,
    pub(super) trial_ns: u64,
    /// Before each slice, not recorded.
    pub(super) warm_ns: u64,
    /// Wall time that a trial will probably take.
    pub(super) predicted_ns: u64,
}

impl Lengths {
    /// Those that are usual.
    pub(super) fn of(manner: Manner) -> Lengths {
        let Manner { mode, style, first_ns, .. } = manner;
        let (slice_ns, trial_ns) = match (style, mode) {
            (Style::Iteration, _) => (manner.iteration_ns(), manner.iterations_ns()),
            (Style::Process, _) => {
                let process_ns = first_ns.saturating_add(PROCESS_OVERHEAD_NS);
                (process_ns, defaults::TRIAL_PROCESSES_NS.max(process_ns))
            }
            // Several threads take a while to get going, so short slices would measure their start.
            (_, Mode::InterleavedAllCores) => (defaults::SLICE_ALL_CORES_NS, defaults::TRIAL_ALL_CORES_NS),
            (_, Mode::Duet | Mode::InterleavedOneCore | Mode::Sequential) => (defaults::SLICE_NS, defaults::TRIAL_NS),
        };
        let lengths = Lengths { slice_ns, trial_ns, warm_ns: 0, predicted_ns: 0 };
        lengths.with_trial(trial_ns, manner)
    }

    /// The same with slices so long that getting warm takes no more than [`defaults::COLD_MAX`] of them, or [`defaults::COLD_LARGE`]
    /// where they would get too long, and trials that have enough of these. Slices after a part that warms are as long as those that
    /// were too short without it. Only versions that take turns on one core use each other's caches.
    fn outweighing(self, profile: Option<Profile>, manner: Manner) -> Lengths {
        let shares_caches = manner.mode == Mode::InterleavedOneCore && !manner.style.is_counted();
        let Some(profile) = profile.filter(|_| shares_caches) else { return self };
        let Some(cold_share) = profile.cold_share else { return self };
        let least = if profile.warm_ns > 0 { defaults::COLD_FACTOR_MAX } else { 1.0 };
        let small = (cold_share / defaults::COLD_MAX).clamp(least, defaults::COLD_FACTOR_MAX);
        let large = (cold_share / defaults::COLD_LARGE).min(defaults::COLD_LARGE_FACTOR_MAX);
        let factor = small.max(large);
        let slice_ns = (self.slice_ns as f64 * factor) as u64;
        Lengths { warm_ns: profile.warm_ns, ..self }.with_slices(slice_ns, manner)
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
        let trial_ns = self.trial_ns.max(defaults::SLICES_MIN * (self.warm_ns + slice_ns));
        Lengths { slice_ns, ..self }.with_trial(trial_ns, manner)
    }

    /// Slices that warm up: as many as were meant, or fewer of longer ones, which take as long and are two at least, or four where several
    /// threads get going; more where processes take longer to settle.
    fn warmed_up_by(&self, manner: Manner) -> u32 {
        let slice_ns = if manner.style.is_counted() { Lengths::of(manner).slice_ns } else { defaults::SLICE_NS };
        let usual = slice_ns.saturating_mul(manner.warmup_slices.into());
        let as_long = slices_in(usual, self.warm_ns + self.slice_ns);
        // Hooks make fewer of slices that turn out longer, as those with a part that warms do.
        let settling = slices_in(manner.settling_ns, self.slice_ns);
        let least = if manner.mode == Mode::InterleavedAllCores { 2 * LONG_WARMUP_MIN } else { LONG_WARMUP_MIN };
        manner.warmup_slices.min(as_long.max(least)).max(settling)
    }

    /// The same with trials of another length.
    pub(super) fn with_trial(self, trial_ns: u64, manner: Manner) -> Lengths {
        let Manner { mode, style, first_ns, warmup_slices, .. } = manner;
        let measured_ns = if style.is_counted() {
            trial_ns.saturating_add(self.slice_ns.saturating_mul(warmup_slices.into()))
        } else {
            // A benchmark slower than the trial runs one invocation to calibrate and one to measure.
            trial_ns.max(first_ns.saturating_mul(2))
        };
        let side_ns = manner.start_ns().saturating_add(measured_ns);
        let sides = if mode == Mode::Duet { 1 } else { 2 };
        Lengths { trial_ns, predicted_ns: side_ns.saturating_mul(sides), ..self }
    }
}
