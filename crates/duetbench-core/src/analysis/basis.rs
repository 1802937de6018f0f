//! Which of a fork's two numbers is judged.

use serde::{Deserialize, Serialize};

use super::{Counted, ForkPair};
use crate::plan::Mode;
use crate::spec::Decision;
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
    #[must_use]
    pub fn of(self, fork: &ForkPair) -> f64 {
        match self {
            Basis::TypicalSlice => fork.log_ratio,
            Basis::AllSlices => fork.log_ratio_complete,
        }
    }

    /// The word used in machine formats.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Basis::TypicalSlice => "typical_slice",
            Basis::AllSlices => "all_slices",
        }
    }
}

/// A basis, and what made it necessary where it is not the typical slice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// What is judged.
    pub basis: Basis,
    /// By how much all slices differ from the typical one (log ratio), where that decided.
    pub slow_slices: Option<f64>,
}

/// Chooses what to judge. The typical slice is far more precise beside neighbours; all slices are judged where the typical one
/// could hide something:
///
/// - in sequential mode, whose slices have no partner and which is the reference for the others;
/// - when the two sides do not allocate the same bytes per invocation, because then their collectors do not work alike;
/// - when the two numbers differ over forks, significantly and by more than half the threshold: something real happens in few
///   slices. (A test of that difference; neighbours hit both sides alike and cause none.)
#[must_use]
pub fn choose_basis(forks: &[ForkPair], bytes: Option<&Counted>, mode: Mode, decision: &Decision) -> Choice {
    if mode == Mode::Sequential || bytes.is_some_and(|b| b.changed) {
        return Choice { basis: Basis::AllSlices, slow_slices: None };
    }
    let differences: Vec<f64> = forks.iter().map(|f| f.log_ratio_complete - f.log_ratio).collect();
    let slow_slices = stats::trimmed_t(&differences).ok().and_then(|t| {
        let (low, high) = t.interval(decision.alpha).ok()?;
        let significant = low > 0.0 || high < 0.0;
        (significant && t.mean.abs() > decision.threshold.ln_1p() / 2.0).then_some(t.mean)
    });
    let basis = if slow_slices.is_some() { Basis::AllSlices } else { Basis::TypicalSlice };
    Choice { basis, slow_slices }
}
