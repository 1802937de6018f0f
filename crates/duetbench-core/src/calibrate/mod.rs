//! Calibration: the changes that can be detected in this suite on this machine, from the spread of equal code by source.
//!
//! A calibration is a comparison of a version with itself that is measured to its end. [`Calibration::of`] splits what its fork
//! pairs vary into sources ([`Sources`]), says which change would be seen after how much time ([`Sight`]), and counts how often
//! equal code would have been called changed ([`Alarms`]). [`propose`] turns the same sources into the cheapest design that sees
//! a wanted change, [`propose_all`] does so for a suite that `duet compare` is going to measure. [`Made`] is a calibration with where and
//! when it was made, [`CalibrationNote`] what later reports say of it.

mod alarms;
mod machine;
mod note;
mod proposal;
mod reach;
mod search;
mod sight;
mod sources;
mod spread;
mod suite;
mod units;
mod wanted;

use serde::{Deserialize, Serialize};

pub use alarms::{Alarms, Rate};
pub use machine::{Difference, Machine};
pub use note::{CalibrationNote, Made};
pub use proposal::{Obstacle, Proposal, Target, propose, propose_each};
pub use sight::{BLIND_FROM, Blind, Sight};
pub use sources::{Costs, Shares, Sources};
pub use suite::SuiteSight;
pub use wanted::{Proposed, SuitePlan, SuiteTarget, propose_all};

use self::reach::Reach;

use crate::analysis::{Basis, ForkPair};
use crate::plan::{Design, Mode};
use crate::sample::BenchmarkId;
use crate::spec::Decision;
use crate::stats::Level;

/// Data of one benchmark from the comparison with itself.
#[derive(Debug, Clone)]
pub struct Observed<'a> {
    /// The benchmark.
    pub id: BenchmarkId,
    /// The mode in which it was measured.
    pub mode: Mode,
    /// The number of every fork pair that is judged.
    pub basis: Basis,
    /// Its fork pairs, in the order of measuring, by the clock that is judged.
    pub forks: &'a [ForkPair],
    /// The design that groups them into units.
    pub design: Design,
    /// Cost of repetitions.
    pub costs: Costs,
}

/// Results of a calibration for one suite on one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The rule by which evidence was judged, and the power with which a change counts as visible.
    pub decision: Decision,
    /// Measuring times for which it is said what is seen, seconds for each benchmark, ascending.
    pub budgets_s: Vec<f64>,
    /// One entry per benchmark, in name order.
    pub benchmarks: Vec<Calibrated>,
    /// Rates at which equal code was called changed and planted changes were found.
    pub alarms: Alarms,
}

/// Results of a calibration for one benchmark on one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibrated {
    /// The benchmark.
    pub id: BenchmarkId,
    /// The mode in which it was measured.
    pub mode: Mode,
    /// Spread of its fork pairs by source; absent with too few of them.
    pub sources: Option<Sources>,
    /// Cost of repetitions.
    pub costs: Costs,
    /// The change that is seen after each of [`Calibration::budgets_s`]; absent for a budget that does not pay for an interval.
    pub sights: Vec<Option<Sight>>,
    /// Why nothing useful can be seen with the largest budget, where that is so.
    pub blind: Option<Blind>,
}

impl Calibration {
    /// The benchmarks of which it learnt how much they vary.
    pub fn known(&self) -> impl Iterator<Item = &Calibrated> {
        self.benchmarks.iter().filter(|b| b.sources.is_some())
    }

    /// Whether layout was looked for.
    pub fn has_layout(&self) -> bool {
        self.benchmarks.iter().filter_map(|b| b.sources.as_ref()).any(|sources| sources.layout.is_some())
    }

    /// Calibrates comparisons that are looked at while they are measured, from a comparison of a version with itself.
    ///
    /// Fork pairs of a benchmark that was looked at while it was measured would be biased, so all of them must have been
    /// measured whatever they said. With a decision that is out of its range ([`Decision::check`]) nothing is seen.
    pub fn of(observed: &[Observed<'_>], budgets_s: &[f64], decision: &Decision) -> Calibration {
        let mut budgets_s = budgets_s.to_vec();
        budgets_s.sort_by(f64::total_cmp);
        let level = Level { alpha: decision.alpha, power: decision.power };
        let mut reach = Reach::new(level, true).ok();
        let mut benchmarks: Vec<Calibrated> =
            observed.iter().map(|one| Calibrated::of(one, &budgets_s, reach.as_mut())).collect();
        benchmarks.sort_by(|a, b| a.id.cmp(&b.id));
        Calibration { decision: *decision, budgets_s, benchmarks, alarms: Alarms::of(observed, decision) }
    }
}

impl Calibrated {
    fn of(one: &Observed<'_>, budgets_s: &[f64], reach: Option<&mut Reach>) -> Calibrated {
        let sources = Sources::of(one);
        let mut calibrated = Calibrated {
            id: one.id.clone(),
            mode: one.mode,
            sources,
            costs: one.costs,
            sights: vec![None; budgets_s.len()],
            blind: None,
        };
        if let Some(reach) = reach {
            if let Some(sources) = sources {
                calibrated.sights = sight::sights(&sources, &one.costs, budgets_s, reach);
            }
            if let Some(largest) = calibrated.sights.last() {
                calibrated.blind = Blind::of(sources.as_ref(), largest.as_ref(), reach);
            }
        }
        calibrated
    }
}
