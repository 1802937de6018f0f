//! Seeing a regression again.
//!
//! A regression is found by looking at many benchmarks, some of them several times; what is found so is partly luck. Later rounds
//! of fresh trials look at that one benchmark only, once, and in the direction that is known by then. They need no
//! correction for what was looked at before, and whoever reads the report can see the finding repeated.

use serde::{Deserialize, Serialize};

use super::unit::units;
use super::{Evidence, ForkPair};
use crate::plan::Design;
use crate::spec::defaults;
use crate::stats::{self, Level, StatsError};

/// What one round of fresh trials said.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Its own estimate of the ratio.
    pub ratio: f64,
    /// One-sided p-value of no change in the direction that was found before.
    pub p_value: f64,
    /// Units it rests on.
    pub units: u32,
    /// Whether it saw the change again.
    pub seen: bool,
}

/// What all later rounds said, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Confirmation {
    /// Those that were measured.
    pub rounds: Vec<Round>,
    /// Those that were wanted.
    pub wanted: u32,
}

impl Confirmation {
    /// Every round that was wanted saw the change again.
    #[must_use]
    pub fn confirmed(&self) -> bool {
        self.rounds.len() >= self.wanted as usize && self.rounds.iter().all(|r| r.seen)
    }

    /// The first round that did not see it, if there is one.
    #[must_use]
    pub fn contradiction(&self) -> Option<&Round> {
        self.rounds.iter().find(|r| !r.seen)
    }
}

/// Reads the later rounds of one benchmark; absent when none was measured. A round that was cut short before it had the units
/// it needs may have seen the change again, but that it did not see it says nothing.
pub(super) fn confirmation(
    forks: &[ForkPair],
    evidence: &Evidence,
    design: &Design,
    wanted: u32,
) -> Option<Confirmation> {
    let needed = confirming_units(evidence, design);
    let rounds: Vec<Round> = (1..=wanted)
        .filter_map(|round| {
            let of_round: Vec<ForkPair> = forks.iter().filter(|f| f.round == round).copied().collect();
            let judged = judge_round(&units(&of_round, evidence.basis, design), evidence).ok()?;
            (judged.seen || judged.units >= needed).then_some(judged)
        })
        .collect();
    (!rounds.is_empty()).then_some(Confirmation { rounds, wanted })
}

/// One round, by Student's t in the direction of what was found before.
fn judge_round(values: &[f64], evidence: &Evidence) -> Result<Round, StatsError> {
    let t = stats::trimmed_t(values)?;
    let same_direction = (t.mean > 0.0) == (evidence.log_ratio.mean > 0.0);
    let half = t.p_value()? / 2.0;
    let p_value = if same_direction { half } else { 1.0 - half };
    Ok(Round { ratio: t.mean.exp().min(f64::MAX), p_value, units: t.values, seen: p_value <= defaults::CONFIRM_ALPHA })
}

/// Units that a round needs to see the change with power [`defaults::CONFIRM_POWER`], if the spread is what it was; at least
/// [`defaults::UNITS_MIN`] and no more than the design has. A change that was just found is on average smaller than it was
/// measured, so one standard error is taken off, but at most half of it.
pub(super) fn confirming_units(evidence: &Evidence, design: &Design) -> u32 {
    // One-sided at this error is two-sided at twice of it.
    let level = Level { alpha: 2.0 * defaults::CONFIRM_ALPHA, power: defaults::CONFIRM_POWER };
    let most = design.units.max(defaults::UNITS_MIN);
    let change = evidence.log_ratio.mean.abs();
    let distance = (change - evidence.log_ratio.standard_error).max(change / 2.0).max(f64::MIN_POSITIVE);
    let needed = stats::smallest_sample(evidence.log_ratio.spread(), distance, (level, most)).ok().flatten();
    needed.unwrap_or(most).clamp(defaults::UNITS_MIN, most)
}
