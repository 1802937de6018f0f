//! Ratios with their intervals, and what fresh trials said of a regression, for programs.

use duetbench_core::analysis::{Confirmation, Ranged};
use serde_json::{Value, json};

/// A ratio with its interval.
pub(super) fn ranged(Ranged { ratio, interval, .. }: Ranged) -> Value {
    json!({ "ratio": ratio, "ratio_low": interval.low, "ratio_high": interval.high })
}

/// The number that was not judged.
pub(super) fn beside(Ranged { basis, ratio, interval }: Ranged) -> Value {
    json!({ "basis": basis.word(), "ratio": ratio, "ratio_low": interval.low, "ratio_high": interval.high })
}

/// The conclusion from fresh trials, and their rounds.
pub(super) fn confirmation(confirmation: &Confirmation) -> Value {
    json!({
        "standing": confirmation.standing,
        "confirmed": confirmation.confirmed(),
        "fresh": ranged(confirmation.fresh),
        "p_value": confirmation.p_value,
        "rounds_wanted": confirmation.wanted,
        "rounds": confirmation.rounds,
    })
}
