//! Ratios with their intervals, and what fresh trials said of a regression, for programs.

use duetbench_core::analysis::{self, Basis, Confirmation, ConfirmationStanding, Ranged};
use serde::Serialize;

/// A ratio with its interval.
#[derive(Serialize)]
pub(super) struct RangedEntry {
    ratio: f64,
    ratio_low: f64,
    ratio_high: f64,
}

/// The number that was not judged.
#[derive(Serialize)]
pub(super) struct BesideEntry {
    basis: &'static str,
    #[serde(flatten)]
    ranged: RangedEntry,
}

/// The conclusion from fresh trials, and their rounds.
#[derive(Serialize)]
pub(super) struct ConfirmationEntry {
    standing: &'static str,
    confirmed: bool,
    fresh: RangedEntry,
    p_value: f64,
    rounds_wanted: u32,
    rounds: Vec<Round>,
}

#[derive(Serialize)]
struct Round {
    ratio: f64,
    p_value: f64,
    units: u32,
}

/// The word for what fresh trials come to in machine formats.
fn standing(standing: ConfirmationStanding) -> &'static str {
    match standing {
        ConfirmationStanding::Confirmed => "confirmed",
        ConfirmationStanding::Withdrawn => "withdrawn",
        ConfirmationStanding::Open => "open",
    }
}

impl RangedEntry {
    pub(super) fn of(ranged: Ranged) -> RangedEntry {
        let Ranged { ratio, interval } = ranged;
        RangedEntry { ratio, ratio_low: interval.low, ratio_high: interval.high }
    }
}

impl BesideEntry {
    pub(super) fn of(basis: Basis, ranged: Ranged) -> BesideEntry {
        BesideEntry { basis: basis.word(), ranged: RangedEntry::of(ranged) }
    }
}

impl ConfirmationEntry {
    pub(super) fn of(confirmation: &Confirmation) -> ConfirmationEntry {
        let round = |r: &analysis::Round| Round { ratio: r.ratio, p_value: r.p_value, units: r.units };
        ConfirmationEntry {
            standing: standing(confirmation.standing),
            confirmed: confirmation.confirmed(),
            fresh: RangedEntry::of(confirmation.fresh),
            p_value: confirmation.p_value,
            rounds_wanted: confirmation.wanted,
            rounds: confirmation.rounds.iter().map(round).collect(),
        }
    }
}
