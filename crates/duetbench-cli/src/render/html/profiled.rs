//! Where the time of one benchmark went, for the page: its CPU profiles as bars by function.

use std::collections::BTreeMap;

use duetbench_core::hotspot::{Frame, FunctionGain, Gain, Origin, ProfileDifference, ProfileOutcome};
use duetbench_core::{BenchmarkId, Report};
use serde_json::{Value, json};

use crate::render::format::{TimeScale, one_line, six_digits};
use crate::render::profile;

/// The two profiles of a benchmark against each other; absent where it was not profiled.
pub(super) fn profiled(id: &BenchmarkId, report: &Report) -> Option<Value> {
    let ProfileOutcome::Explained { difference, files } = &report.profile(id)?.outcome else { return None };
    let functions = |gained: &[FunctionGain]| profile::shown(gained).map(function).collect::<Vec<_>>();
    let frames = report.stacks.iter().find(|stacks| stacks.id == *id).map(|stacks| &stacks.frames);
    let unread = frames.and_then(|frames| frames.as_ref().err());
    let unread = unread.map(|why| format!("no call stacks: {}", one_line(why)));
    Some(json!({
        "words": words(difference).into_iter().chain(unread).collect::<Vec<_>>(),
        "flat": functions(&difference.flat),
        "cumulative": functions(&difference.cumulative),
        "stacks": frames.and_then(|frames| stacks(frames.as_ref().ok()?)),
        "command": profile::command(report, &files.each_ref().map(|file| portable(file))),
    }))
}

fn words(difference: &ProfileDifference) -> Vec<String> {
    let nothing = difference.flat.is_empty() && difference.cumulative.is_empty();
    let nothing = nothing.then(|| profile::NOTHING_GAINED.to_owned());
    std::iter::once(profile::sides(difference)).chain(nothing).collect()
}

/// A function before and after.
fn function(found: &FunctionGain) -> Value {
    let Gain { baseline_ns, candidate_ns, gain_ns, .. } = found.gain;
    json!({
        "name": one_line(&found.function),
        // The program's own have none.
        "origin": (found.origin != Origin::Program).then_some(found.origin),
        "baseline_ns": baseline_ns,
        "candidate_ns": candidate_ns,
        "gain": format!("+{}s", TimeScale::of(&[gain_ns]).write(gain_ns)),
        "share": found.share,
    })
}

/// Call stacks of a picture, with short rows instead of names, as there may be hundreds of frames: depth, function, beginning and width
/// as fractions, baseline and candidate in nanoseconds, trend; each behind its caller. Absent where it has no frame.
fn stacks(frames: &[Frame]) -> Option<Value> {
    let mut functions = Vec::new();
    let mut places = BTreeMap::new();
    let row = |frame: &Frame| {
        let function = *places.entry(frame.function.clone()).or_insert_with(|| {
            functions.push(one_line(&frame.function));
            functions.len() - 1
        });
        let [left, width] = [frame.left, frame.width].map(six_digits);
        (frame.depth, function, left, width, six_digits(frame.baseline_ns), six_digits(frame.candidate_ns), frame.trend)
    };
    let frames: Vec<_> = frames.iter().map(row).collect();
    (!frames.is_empty()).then(|| json!({ "functions": functions, "frames": frames }))
}

/// The path of a profile as it is inside the folder of the store: where that was on the machine that measured says nothing elsewhere.
fn portable(file: &str) -> String {
    // A folder of profiles, a run's, and the file in it.
    let inside = || {
        let (at, _) = file.rmatch_indices('/').nth(2)?;
        let (folder, _) = file[at + 1..].split_once('/')?;
        (folder == "profiles" || folder.ends_with(".profiles")).then_some(&file[at + 1..])
    };
    let kept = if file.starts_with('/') { inside() } else { None };
    kept.unwrap_or(file).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_do_not_tell_where_it_was_measured() {
        let check = |file, want| assert_eq!(portable(file), want);
        check("/home/runner/work/x/.duet/profiles/r1/a.baseline.pb.gz", "profiles/r1/a.baseline.pb.gz");
        check("/srv/profiles/of/.duet/profiles/r1/a.pb.gz", "profiles/r1/a.pb.gz");
        check("/srv/ci/main.db.profiles/r1/a.pb.gz", "main.db.profiles/r1/a.pb.gz");
        check(".duet/profiles/r1/a.pb.gz", ".duet/profiles/r1/a.pb.gz");
        check("/elsewhere/a.pb.gz", "/elsewhere/a.pb.gz");
    }
}
