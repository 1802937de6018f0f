//! Words and numbers that several forms have.

use duetbench_cli::render::format::{change, share};
use duetbench_core::detect::Change;
use duetbench_core::stats::Interval;

use crate::papers::elastibench::{Compared, Finding, Relation};

/// Words for an interval that holds 0: nothing was found, which is not the same as *no change*.
const NONE_FOUND: &str = "none found";

/// A share with as many digits as the paper has.
fn percent(fraction: f64) -> String {
    format!("{:.2}%", 100.0 * fraction)
}

/// The same of a share that there may not be.
pub(super) fn known_percent(fraction: Option<f64>) -> String {
    fraction.map_or_else(|| "?".to_owned(), percent)
}

/// The size of a difference, in percent; small ones with two digits that say something.
pub(super) fn size(difference: f64) -> String {
    if difference < 0.001 { share(difference) } else { percent(difference) }
}

/// A relative difference in percent, with its sign.
pub(super) fn difference(difference: f64) -> String {
    change(1.0 + difference)
}

pub(super) fn interval(interval: &Interval) -> String {
    format!("[{}, {}]", difference(interval.low), difference(interval.high))
}

/// A finding of the paper's procedure, in words.
pub(super) fn found(finding: &Finding) -> &'static str {
    finding.change().map_or(NONE_FOUND, Change::word)
}

/// The relation of two findings, for people.
pub(super) fn relation(relation: Relation) -> &'static str {
    match relation {
        Relation::Agree => "agree",
        Relation::Opposite => "disagree",
        Relation::PossibleChange => "possible change",
    }
}

/// The experiment whose median lies in the other's interval.
pub(super) fn covered(compared: &Compared, [first, second]: [&str; 2]) -> String {
    let Compared { first: a, second: b } = compared;
    match (b.covers(a), a.covers(b)) {
        (true, true) => "both".into(),
        (true, false) => first.to_owned(),
        (false, true) => second.to_owned(),
        (false, false) => "neither".into(),
    }
}
