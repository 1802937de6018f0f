//! A report's note on the calibration of its suite.

use duetbench_core::calibrate::{CalibrationNote, Difference, Rate, SuiteSight};
use serde::Serialize;

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
#[derive(Serialize)]
pub(in crate::render) struct Note<'a> {
    run: &'a str,
    made: &'a str,
    changed: Vec<Changed<'a>>,
    seen: Option<SeenEntry>,
    called_changed: RateEntry,
    benchmarks: u32,
    blind: u32,
}

/// A fact that is not as it was, for programs.
#[derive(Serialize)]
pub(in crate::render) struct Changed<'a> {
    fact: &'a str,
    then: Option<&'a str>,
    now: Option<&'a str>,
}

/// The smallest changes that a suite detects, for programs.
#[derive(Serialize)]
pub(super) struct SeenEntry {
    budget_s: f64,
    median: f64,
    least: f64,
    most: f64,
    benchmarks: u32,
}

/// A rate with its interval, for programs.
#[derive(Serialize)]
pub(super) struct RateEntry {
    times: u32,
    of: u32,
    low: f64,
    high: f64,
}

impl<'a> Note<'a> {
    pub(in crate::render) fn of(note: &'a CalibrationNote) -> Note<'a> {
        Note {
            run: &note.run,
            made: &note.made,
            changed: Changed::all(&note.changed),
            seen: note.seen.as_ref().map(SeenEntry::of),
            called_changed: RateEntry::of(&note.called_changed),
            benchmarks: note.benchmarks,
            blind: note.blind,
        }
    }
}

impl<'a> Changed<'a> {
    pub(in crate::render) fn all(changed: &'a [Difference]) -> Vec<Changed<'a>> {
        let one = |d: &'a Difference| Changed { fact: &d.fact, then: d.then.as_deref(), now: d.now.as_deref() };
        changed.iter().map(one).collect()
    }
}

impl SeenEntry {
    pub(super) fn of(seen: &SuiteSight) -> SeenEntry {
        let SuiteSight { budget_s, median, least, most, benchmarks } = *seen;
        SeenEntry { budget_s, median, least, most, benchmarks }
    }
}

impl RateEntry {
    pub(super) fn of(rate: &Rate) -> RateEntry {
        let Rate { times, of, low, high } = *rate;
        RateEntry { times, of, low, high }
    }
}
