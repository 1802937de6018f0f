//! A report's note on the calibration of its suite.

use duetbench_core::calibrate::CalibrationNote;
use serde_json::{Value, json};

use super::words::{alarms, changes, origin_of, sees, time};
use crate::render::format::{many, share};

/// The note in a line: what is seen here, or that it is not known any more.
pub(in crate::render) fn line(note: &CalibrationNote) -> String {
    let origin = origin_of(&note.run, &note.made);
    let seen = note.seen.as_ref().map(|seen| (time(seen.budget_s), seen));
    if !note.changed.is_empty() {
        let then =
            seen.map_or_else(String::new, |(time, seen)| format!(", which saw {} in {time},", share(seen.median)));
        let changes = changes(&note.changed);
        return format!("the machine has changed ({changes}): {origin}{then} may not hold, `duet calibrate` again");
    }
    let what = match seen {
        Some((time, seen)) => format!("with {time} per benchmark {} is seen here", sees(seen)),
        None => "in so little time nothing is seen here".to_owned(),
    };
    let blind = (note.blind > 0).then(|| {
        let benchmarks = many(note.benchmarks as usize, "benchmark", "benchmarks");
        format!("{} of {benchmarks} cannot see anything useful", note.blind)
    });
    let parts = [Some(what), alarms(&note.called_changed), blind, Some(format!("by {origin}"))];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// The note for programs.
pub(in crate::render) fn json(note: &CalibrationNote) -> Value {
    json!({
        "run": note.run,
        "made": note.made,
        "changed": note.changed,
        "seen": note.seen,
        "called_changed": note.called_changed,
        "benchmarks": note.benchmarks,
        "blind": note.blind,
    })
}
