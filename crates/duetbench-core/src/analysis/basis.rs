//! The number of a fork that is judged, the one beside it, and the clock that they are read from.

use serde::{Deserialize, Serialize};

use super::{Counted, ForkPair};
use crate::plan::Mode;
use crate::spec::{Decision, defaults};
use crate::stats::{self, TrimmedT};

/// The number of a fork that enters the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// [`ForkPair::log_ratio`].
    TypicalSlice,
    /// [`ForkPair::log_ratio_complete`].
    AllSlices,
    /// [`ForkPair::log_ratio_in_full`].
    SlicesInFull,
}

words!(Basis: TypicalSlice "typical_slice", AllSlices "all_slices", SlicesInFull "slices_in_full");

impl Basis {
    /// The number of this fork that enters the test.
    pub fn of(self, fork: &ForkPair) -> f64 {
        match self {
            Basis::TypicalSlice => fork.log_ratio,
            Basis::AllSlices => fork.log_ratio_complete,
            Basis::SlicesInFull => fork.log_ratio_in_full.unwrap_or(fork.log_ratio_complete),
        }
    }
}

/// The clock that times are read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// Time as it passes.
    #[default]
    Wall,
    /// Time that the process had a processor.
    Cpu,
}

words!(Clock: Wall "wall", Cpu "cpu");

impl Clock {
    /// The fork pair with the numbers of this clock; as it is where it has none of it.
    pub fn read(self, fork: &ForkPair) -> ForkPair {
        match (self, fork.cpu) {
            // In full, times are those that pass, where nothing was clipped too.
            (Clock::Cpu, Some(cpu)) => ForkPair {
                log_ratio: cpu.typical,
                log_ratio_complete: cpu.complete,
                log_ratio_in_full: Some(Basis::SlicesInFull.of(fork)),
                ..*fork
            },
            _ => *fork,
        }
    }
}

/// Two numbers and a clock, and the reason where it is not the typical slice that is judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The number that is judged.
    pub basis: Basis,
    /// The number that must lie within the threshold too where there is no change.
    pub beside: Basis,
    /// Whether that one will be judged if it goes on differing as it seems to.
    pub beside_may_be_judged: bool,
    /// The clock that both are read from.
    pub clock: Clock,
    /// By how much all slices differ from the typical one (log ratio), where that decided.
    pub slow_slices: Option<f64>,
}

impl Choice {
    /// This number with the one that is usual beside it.
    fn of(basis: Basis, clock: Clock) -> Choice {
        let beside = match basis {
            Basis::TypicalSlice => Basis::AllSlices,
            Basis::AllSlices | Basis::SlicesInFull => Basis::TypicalSlice,
        };
        Choice { basis, beside, beside_may_be_judged: false, clock, slow_slices: None }
    }
}

impl From<Basis> for Choice {
    fn from(basis: Basis) -> Choice {
        Choice::of(basis, Clock::Wall)
    }
}

/// Chooses the clock and the number that are judged.
///
/// The typical slice is far more precise beside neighbours. All slices are judged where the typical one could hide something:
///
/// - in sequential mode, whose slices have no partner and which is the reference for the others;
/// - when the two sides do not allocate the same bytes per invocation, because then their collectors do not work alike;
/// - when the two numbers differ over forks, significantly and by more than half the threshold: something real happens in few
///   slices. (A test of that difference; neighbours hit both sides alike and cause none.)
///
/// That makes them what a change is judged by. They count in full, however long, and by wall time, where that differs likewise from
/// what is left of them when they are clipped, or from CPU time where that is judged: one side waits. Where that may be, they are the
/// number beside the judged one, if they are farther from no change than the usual one. No benchmark is said not to have changed by one number alone.
pub fn choose_basis(forks: &[ForkPair], bytes: Option<&Counted>, decision: &Decision) -> Choice {
    let differs = |forks: &[ForkPair], one: Basis, other: Basis, alpha: f64| {
        let differences: Vec<f64> = forks.iter().map(|fork| one.of(fork) - other.of(fork)).collect();
        let t = stats::trimmed_t(&differences).ok()?;
        matters(&t, alpha, decision).then_some(t.mean)
    };
    let clock = choose_clock(forks, decision);
    let by_clock: Vec<ForkPair> = forks.iter().map(|fork| clock.read(fork)).collect();
    let waits = |alpha: f64| differs(&by_clock, Basis::SlicesInFull, Basis::AllSlices, alpha).is_some();
    // Beside neighbours who take the processor away a wait is not shown surely enough.
    let all = if clock == Clock::Wall && waits(decision.alpha) { Basis::SlicesInFull } else { Basis::AllSlices };
    let is_unpaired = forks.iter().any(|f| f.mode == Mode::Sequential);
    let choice = if is_unpaired || bytes.is_some_and(|b| b.changed) {
        Choice::of(all, clock)
    } else if let Some(more) = differs(&by_clock, all, Basis::TypicalSlice, decision.alpha) {
        Choice { slow_slices: Some(more), ..Choice::of(all, clock) }
    } else {
        let may_differ = differs(&by_clock, all, Basis::TypicalSlice, defaults::MAY_DIFFER_ALPHA).is_some();
        Choice { beside_may_be_judged: may_differ, ..Choice::of(Basis::TypicalSlice, clock) }
    };
    let change = |basis: Basis| mean_of(&by_clock, basis).map_or(0.0, f64::abs);
    let may_wait = choice.basis != Basis::SlicesInFull && waits(defaults::MAY_DIFFER_ALPHA);
    if may_wait && change(Basis::SlicesInFull) > change(choice.beside) {
        return Choice { beside: Basis::SlicesInFull, beside_may_be_judged: clock == Clock::Wall, ..choice };
    }
    choice
}

/// The trimmed mean over fork pairs of one of their numbers.
fn mean_of(forks: &[ForkPair], basis: Basis) -> Option<f64> {
    let log_ratios: Vec<f64> = forks.iter().map(|fork| basis.of(fork)).collect();
    stats::trimmed_t(&log_ratios).ok().map(|t| t.mean)
}

/// Whether two numbers of fork pairs, of whose log ratios these are the differences, are shown at this error to differ, and do by more
/// than half the threshold.
pub(super) fn matters(differences: &TrimmedT, alpha: f64, decision: &Decision) -> bool {
    let shown = differences.interval(alpha).is_ok_and(|(low, high)| low > 0.0 || high < 0.0);
    shown && differences.mean.abs() > decision.threshold.ln_1p() / 2.0
}

/// CPU time, where the code keeps its processor busy and the machine takes it away; else wall time.
///
/// Code that waits does so in nearly every slice, while a neighbour interrupts some of them. So code is busy whose CPU time fills
/// the wall time of at least [`defaults::BUSY_SLICES_MIN`] of its slices, and the machine is disturbed if over all of them a
/// share of more than [`defaults::LOST_SHARE_MAX`] is missing on both sides: what one alone is short of is a change of its own, which
/// wall time tells, also where it is short of more than the other.
/// With both sides on one core there is nothing else that CPU time would hide; elsewhere a side may wait for a thread of its own.
fn choose_clock(forks: &[ForkPair], decision: &Decision) -> Clock {
    let tells = |f: &ForkPair| f.mode == Mode::InterleavedOneCore && f.cpu.is_some() && f.busy.is_some();
    if forks.is_empty() || !forks.iter().all(tells) {
        return Clock::Wall;
    }
    let median =
        |of: &dyn Fn(&ForkPair) -> Option<f64>| stats::median(&forks.iter().filter_map(of).collect::<Vec<_>>());
    let busy = median(&|f| f.busy).is_ok_and(|share| share >= defaults::BUSY_SLICES_MIN);
    let disturbed = median(&ForkPair::lost_share).is_ok_and(|share| share > defaults::LOST_SHARE_MAX);
    let lost_more: Vec<f64> = forks.iter().filter_map(ForkPair::lost_more).collect();
    let waits_alone = stats::trimmed_t(&lost_more).is_ok_and(|t| matters(&t, defaults::MAY_DIFFER_ALPHA, decision));
    if busy && disturbed && !waits_alone { Clock::Cpu } else { Clock::Wall }
}
