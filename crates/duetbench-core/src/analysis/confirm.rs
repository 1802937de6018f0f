//! Seeing a regression again.
//!
//! A regression is found by looking at many benchmarks, some of them several times; some of what is found so is luck, and its size
//! is on average too large. Where it is not beyond doubt, later rounds of fresh trials look at that one benchmark. They are judged
//! together, in the direction that is known by then: they **confirm** it where they show a change by themselves, **withdraw** it
//! where they exclude one that matters, and else leave it what it was. Their own estimate of the size is not biased by having
//! been selected.

use serde::{Deserialize, Serialize};

use super::estimate::Ranged;
use super::unit::units;
use super::{Basis, Choice, Evidence, ForkPair, finite_exp, with_hidden};
use crate::plan::Design;
use crate::spec::{Decision, defaults};
use crate::stats::{self, Level, StatsError, TrimmedT};

/// The result of one round of fresh trials by itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Its own estimate of the ratio.
    pub ratio: f64,
    /// One-sided p-value of no change in the direction that was found before.
    pub p_value: f64,
    /// Units it rests on.
    pub units: u32,
}

/// The conclusion from all fresh trials together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// They show the change by themselves.
    Confirmed,
    /// They exclude a change that matters.
    Withdrawn,
    /// Neither.
    Open,
}

/// All later rounds, in order, and what they say together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Confirmation {
    /// Those that were measured.
    pub rounds: Vec<Round>,
    /// Those that were wanted at most.
    pub wanted: u32,
    /// The ratio by fresh trials alone, with its interval at the confidence of the decision.
    pub fresh: Ranged,
    /// The same of the number that is not judged.
    pub beside: Ranged,
    /// One-sided p-value of no change by fresh trials alone, in the direction that was found before.
    pub p_value: f64,
    /// The conclusion.
    pub standing: Standing,
}

impl Confirmation {
    /// Whether fresh trials show the change by themselves.
    pub fn confirmed(&self) -> bool {
        self.standing == Standing::Confirmed
    }
}

/// The terms on which later rounds are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Confirming<'a> {
    /// The way in which fork pairs make up units.
    pub(super) design: &'a Design,
    /// The decision that the benchmark is judged by.
    pub(super) decision: &'a Decision,
    /// Rounds that were wanted at most.
    pub(super) rounds: u32,
}

/// Reads the later rounds of one benchmark; absent when none was measured that says anything.
pub(super) fn confirmation(forks: &[ForkPair], evidence: &Evidence, asked: Confirming<'_>) -> Option<Confirmation> {
    let Confirming { design, decision, rounds: wanted } = asked;
    let Choice { basis, beside, clock, .. } = evidence.choice;
    let of_round = |round: u32, basis: Basis| {
        let meant = forks.iter().filter(|f| f.round == round).map(|fork| clock.read(fork));
        units(&meant.collect::<Vec<ForkPair>>(), basis, design)
    };
    let by_round: Vec<Vec<f64>> = (1..=wanted).map(|round| of_round(round, basis)).collect();
    let rounds = by_round.iter().filter_map(|values| round(&stats::trimmed_t(values).ok()?, evidence).ok()).collect();
    let together = stats::trimmed_t(&by_round.concat()).ok().filter(|t| t.values >= defaults::UNITS_MIN)?;
    let fresh = evidence.ranged_at(basis, &together, decision.interval_alpha()).ok()?;
    let others: Vec<f64> = (1..=wanted).flat_map(|round| of_round(round, beside)).collect();
    let beside = evidence.ranged_at(beside, &stats::trimmed_t(&others).ok()?, decision.interval_alpha()).ok()?;
    let p_value = p_value(&together, evidence).ok()?;
    // Asked first: a change may be seen again and be too small to matter.
    let excluding = evidence.ranged_at(basis, &together, defaults::WITHDRAW_ALPHA).ok()?.interval;
    let standing = if !excluding.reaches_above(decision.threshold) {
        Standing::Withdrawn
    } else if p_value <= defaults::CONFIRM_ALPHA {
        Standing::Confirmed
    } else {
        Standing::Open
    };
    Some(Confirmation { rounds, wanted, fresh, beside, p_value, standing })
}

fn round(t: &TrimmedT, evidence: &Evidence) -> Result<Round, StatsError> {
    let ratio = with_hidden(finite_exp(t.mean), evidence.hidden.shown);
    Ok(Round { ratio, p_value: p_value(t, evidence)?, units: t.values })
}

/// One-sided p-value in the direction of the first round, by Student's t.
fn p_value(t: &TrimmedT, evidence: &Evidence) -> Result<f64, StatsError> {
    let same_direction = (t.mean > 0.0) == (evidence.log_ratio.mean > 0.0);
    let half = t.p_value()? / 2.0;
    Ok(if same_direction { half } else { 1.0 - half })
}

/// Whether a regression is beyond doubt, so that nothing is gained by seeing it again.
pub(super) fn is_beyond_doubt(evidence: &Evidence) -> bool {
    evidence.p_value <= defaults::BEYOND_DOUBT
}

/// Units of each round, so that all of them together show the change with power [`defaults::CONFIRM_POWER`] if the spread is what
/// it was, and that of fewer fork pairs as much larger as if nothing else varied; at least [`defaults::UNITS_MIN`], and in all
/// rounds no more than the design has. A change that was just found is on average smaller than it was measured, so one standard
/// error is taken off, but at most half of it.
pub(super) fn confirming_units(evidence: &Evidence, design: &Design) -> u32 {
    let most = design.units.max(defaults::UNITS_MIN);
    // One-sided at this error is two-sided at twice of it.
    let level = Level { alpha: 2.0 * defaults::CONFIRM_ALPHA, power: defaults::CONFIRM_POWER };
    let change = evidence.log_ratio.mean.abs();
    let likely = (change - evidence.log_ratio.standard_error).max(change / 2.0).max(f64::MIN_POSITIVE);
    let lighter = f64::from(design.forks_per_unit) / f64::from(design.of_round(1).forks_per_unit);
    let spread = evidence.log_ratio.spread() * lighter.sqrt();
    let needed = stats::smallest_sample(spread, likely, level, most).ok().flatten();
    needed.unwrap_or(most).div_ceil(defaults::CONFIRM_ROUNDS).clamp(defaults::UNITS_MIN, most)
}
