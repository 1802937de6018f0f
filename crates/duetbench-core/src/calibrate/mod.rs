//! What this machine can see in this suite: how much comparisons of equal code vary, and by which source.
//!
//! A calibration is a comparison of a version with itself that is measured to its end. [`Calibration::of`] splits what its fork
//! pairs vary into sources ([`Sources`]), says which change would be seen after how much time ([`Sight`]), and counts how often
//! equal code would have been called changed ([`Alarms`]). [`propose`] turns the same sources into the cheapest design that sees
//! a wanted change.

mod alarms;
mod machine;
mod note;
mod proposal;
mod sight;
mod sources;
mod suite;

use serde::{Deserialize, Serialize};

pub use alarms::{Alarms, Rate};
pub use machine::{Difference, Machine};
pub use note::{CalibrationNote, Made, Seen, TypicalShares};
pub use proposal::{Obstacle, Proposal, Target, propose};
pub use sight::{Blind, Sight};
pub use sources::{Costs, Shares, Sources};
pub use suite::{Proposed, SuitePlan, SuiteTarget, propose_all};

use crate::analysis::{Basis, ForkPair};
use crate::plan::{Design, Mode};
use crate::sample::BenchmarkId;
use crate::spec::Decision;

/// What one benchmark gave in the comparison with itself.
#[derive(Debug, Clone)]
pub struct Observed<'a> {
    /// Which benchmark.
    pub id: BenchmarkId,
    /// How it was measured.
    pub mode: Mode,
    /// The number of every fork pair that is judged.
    pub basis: Basis,
    /// Its fork pairs, in the order of measuring.
    pub forks: &'a [ForkPair],
    /// How they make up units.
    pub design: Design,
    /// What repetitions cost.
    pub costs: Costs,
}

/// What is known of a suite on a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// How evidence was judged, and for which power a change counts as visible.
    pub decision: Decision,
    /// Measuring times for which it is said what is seen, seconds for each benchmark, ascending.
    pub budgets_s: Vec<f64>,
    /// One entry per benchmark, in name order.
    pub benchmarks: Vec<Calibrated>,
    /// How often equal code was called changed.
    pub alarms: Alarms,
}

/// What is known of a benchmark on a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibrated {
    /// Which benchmark.
    pub id: BenchmarkId,
    /// How it was measured.
    pub mode: Mode,
    /// What its fork pairs vary by source; absent with too few of them.
    pub sources: Option<Sources>,
    /// What repetitions cost.
    pub costs: Costs,
    /// What is seen after each of [`Calibration::budgets_s`]; a budget that does not pay for an interval has none.
    pub sights: Vec<Option<Sight>>,
    /// Why nothing useful can be seen, where that is so.
    pub blind: Option<Blind>,
}

impl Calibration {
    /// What a comparison of a version with itself tells.
    ///
    /// Fork pairs of a benchmark that was looked at while it was measured would be biased, so all of them must have been
    /// measured whatever they said.
    #[must_use]
    pub fn of(observed: &[Observed<'_>], budgets_s: &[f64], decision: &Decision) -> Calibration {
        let _ = observed;
        let none = Rate { times: 0, of: 0, low: 0.0, high: 1.0 };
        Calibration {
            decision: *decision,
            budgets_s: budgets_s.to_vec(),
            benchmarks: Vec::new(),
            alarms: Alarms { units: 0, called_changed: none, planted_found: none, half_found: none },
        }
    }
}
