//! The number of a fork that is judged, and the clock that it is read from.

use serde::{Deserialize, Serialize};

use super::{Counted, ForkPair};
use crate::plan::Mode;
use crate::spec::{Decision, defaults};
use crate::stats;

/// The number of a fork that enters the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// [`ForkPair::log_ratio`].
    TypicalSlice,
    /// [`ForkPair::log_ratio_complete`].
    AllSlices,
}

impl Basis {
    /// The number of this fork that enters the test.
    pub fn of(self, fork: &ForkPair) -> f64 {
        match self {
            Basis::TypicalSlice => fork.log_ratio,
            Basis::AllSlices => fork.log_ratio_complete,
        }
    }

    /// The number that does not.
    pub fn other(self) -> Basis {
        match self {
            Basis::TypicalSlice => Basis::AllSlices,
            Basis::AllSlices => Basis::TypicalSlice,
        }
    }

    /// The word used in machine formats.
    pub fn word(self) -> &'static str {
        match self {
            Basis::TypicalSlice => "typical_slice",
            Basis::AllSlices => "all_slices",
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

impl Clock {
    /// The fork pair with the numbers of this clock; as it is where it has none of it.
    pub fn read(self, fork: &ForkPair) -> ForkPair {
        match (self, fork.cpu) {
            (Clock::Cpu, Some(cpu)) => ForkPair { log_ratio: cpu.typical, log_ratio_complete: cpu.complete, ..*fork },
            _ => *fork,
        }
    }

    /// The word used in machine formats.
    pub fn word(self) -> &'static str {
        match self {
            Clock::Wall => "wall",
            Clock::Cpu => "cpu",
        }
    }
}

/// A basis and a clock, and the reason where it is not the typical slice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The number that is judged.
    pub basis: Basis,
    /// The clock that it is read from.
    pub clock: Clock,
    /// By how much all slices differ from the typical one (log ratio), where that decided.
    pub slow_slices: Option<f64>,
}

impl From<Basis> for Choice {
    fn from(basis: Basis) -> Choice {
        Choice { basis, clock: Clock::Wall, slow_slices: None }
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
/// That makes them what a change is judged by. No benchmark is said not to have changed by one of the two numbers alone.
pub fn choose_basis(forks: &[ForkPair], bytes: Option<&Counted>, decision: &Decision) -> Choice {
    let clock = choose_clock(forks);
    let is_unpaired = forks.iter().any(|f| f.mode == Mode::Sequential);
    if is_unpaired || bytes.is_some_and(|b| b.changed) {
        return Choice { basis: Basis::AllSlices, clock, slow_slices: None };
    }
    let of_slow_slices = |f: &ForkPair| f.log_ratio_complete - f.log_ratio;
    let differences: Vec<f64> = forks.iter().map(|f| of_slow_slices(&clock.read(f))).collect();
    let slow_slices = stats::trimmed_t(&differences).ok().and_then(|t| {
        let (low, high) = t.interval(decision.alpha).ok()?;
        let significant = low > 0.0 || high < 0.0;
        (significant && t.mean.abs() > decision.threshold.ln_1p() / 2.0).then_some(t.mean)
    });
    let basis = if slow_slices.is_some() { Basis::AllSlices } else { Basis::TypicalSlice };
    Choice { basis, clock, slow_slices }
}

/// CPU time, where the code keeps its processor busy and the machine takes it away; else wall time.
///
/// Code that waits does so in nearly every slice, while a neighbour interrupts some of them. So code is busy whose CPU time fills
/// the wall time of at least [`defaults::BUSY_SLICES_MIN`] of its slices, and the machine is disturbed if over all of them a
/// share of more than [`defaults::LOST_SHARE_MAX`] is missing on both sides: what one alone is short of is a change of its own.
/// With both sides on one core there is nothing else that CPU time would hide; elsewhere a side may wait for a thread of its own.
fn choose_clock(forks: &[ForkPair]) -> Clock {
    let tells = |f: &ForkPair| f.mode == Mode::InterleavedOneCore && f.cpu.is_some() && f.busy.is_some();
    if forks.is_empty() || !forks.iter().all(tells) {
        return Clock::Wall;
    }
    let median =
        |of: &dyn Fn(&ForkPair) -> Option<f64>| stats::median(&forks.iter().filter_map(of).collect::<Vec<_>>());
    let busy = median(&|f| f.busy).is_ok_and(|share| share >= defaults::BUSY_SLICES_MIN);
    let disturbed = median(&ForkPair::lost_share).is_ok_and(|share| share > defaults::LOST_SHARE_MAX);
    if busy && disturbed { Clock::Cpu } else { Clock::Wall }
}
